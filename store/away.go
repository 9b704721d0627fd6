package store

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// An AwayError is returned by a call that cannot be carried out now because what
// the store keeps its names on is away: a disk that takes no writes, a database
// that cannot be reached. Nothing was written. The same call can succeed later,
// without anything being restarted.
type AwayError struct {
	Cause string        // one line that may be shown to anybody, such as "the database cannot be reached"
	After time.Duration // when to try again; 0 if that is not known
	Err   error         // for the log; nil if there is no more to say
}

func (e *AwayError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("store: %s: %v", e.Cause, e.Err)
	}
	return "store: " + e.Cause
}

func (e *AwayError) Unwrap() error { return e.Err }

// An UnknownError is returned by Apply when the connection to the database was lost in
// the moment of the commit, and no server could be asked since what became of it: the
// changes are there as a whole or not at all. Who expected revisions can simply try
// again.
type UnknownError struct{ Err error } // nil if it is not told

func (e *UnknownError) Error() string {
	const text = "store: the connection to the database was lost at the commit: it is not known whether the changes were written"
	if e.Err == nil {
		return text
	}
	return text + ": " + e.Err.Error()
}

func (e *UnknownError) Unwrap() error { return e.Err }

// IsAway reports whether err is, or wraps, an [*AwayError].
func IsAway(err error) bool {
	var away *AwayError
	return errors.As(err, &away)
}

// RetryAfter returns the value of a Retry-After field (RFC 9110, section 10.2.3):
// After in whole seconds, at least one; five if it is not known.
func (e *AwayError) RetryAfter() string {
	if e.After <= 0 {
		return "5"
	}
	return strconv.Itoa(int(math.Ceil(e.After.Seconds())))
}

// A Condition says what a store can do at present.
type Condition struct {
	NoReads  bool      // what is read may fail with an [*AwayError], or be stale
	NoWrites bool      // every change fails with an [*AwayError]
	Full     bool      // there is no room for changes
	Cause    string    // one line that may be shown to anybody; "" when all is well
	Since    time.Time // when this condition began; zero if all is well
}

// A Watched store knows its condition.
type Watched interface {
	// Condition returns what the store knows already. It asks neither a disk nor a
	// database, waits for nothing, and is safe for concurrent use.
	Condition() Condition
}

// ConditionOf returns the condition of r: that all is well if r is not [Watched].
func ConditionOf(r Reader) Condition {
	if w, ok := r.(Watched); ok {
		return w.Condition()
	}
	return Condition{}
}
