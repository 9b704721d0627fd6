package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/internal/retryafter"
)

// An AwayError is returned if the storage of a store is not available. Examples are a disk that
// cannot be written, and a database that cannot be reached. Nothing was written. A later call with
// the same arguments can succeed without a restart of the server.
type AwayError struct {
	Cause string        // one line that any client may see, such as "the database cannot be reached"
	After time.Duration // when to try again; 0 if unknown
	Err   error         // details for the log; may be nil
	Clock bool          // the clock is the cause, not the storage
}

func (e *AwayError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("store: %s: %v", e.Cause, e.Err)
	}
	return "store: " + e.Cause
}

func (e *AwayError) Unwrap() error { return e.Err }

// An UnknownError is returned by Apply if the connection to the database was lost during the
// commit. No database server could then say whether the commit succeeded. Either all changes were
// written or none. A caller that set Expected can call Apply again with the same changes.
type UnknownError struct{ Err error } // may be nil

func (e *UnknownError) Error() string {
	const text = "store: the connection to the database was lost during the commit: the changes may or may not have been written"
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

// RetryAfter returns the value of a Retry-After field (RFC 9110, section 10.2.3). This is the time
// After in whole seconds, at least 1. If After is 0, RetryAfter returns 5.
func (e *AwayError) RetryAfter() string {
	if e.After <= 0 {
		return "5"
	}
	return retryafter.Format(e.After)
}

// A Condition says which operations of a store are available.
type Condition struct {
	NoReads  bool      // reads may fail with an [*AwayError], or return stale data
	NoWrites bool      // every change fails with an [*AwayError]
	Full     bool      // there is no space for changes
	Cause    string    // one line that any client may see; "" if nothing is wrong
	Since    time.Time // when this condition began; zero if nothing is wrong
}

// A Watched store reports its condition.
type Watched interface {
	// Condition returns the condition that the store last observed. It accesses neither disk nor
	// database, and does not block. It is safe for concurrent use.
	Condition() Condition
}

// ConditionOf returns the condition of r. If r is not [Watched], it returns the zero Condition.
func ConditionOf(r Reader) Condition {
	if w, ok := r.(Watched); ok {
		return w.Condition()
	}
	return Condition{}
}
