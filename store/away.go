package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/nomen-project/nomen/internal/retryafter"
)

// An AwayError reports that a store is unavailable, for example because the disk is full or the
// database cannot be reached. Nothing was written. The same call can succeed later, without a
// restart of the server.
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

// An UnknownError reports that the connection to the database broke during the commit of an Apply,
// so that the store cannot tell whether it succeeded. Either all changes were written or none. A
// caller that set Expected can safely call Apply again with the same changes.
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

// RetryAfter returns e.After as the value of a Retry-After header field (RFC 9110, section 10.2.3).
// The value is in whole seconds, and at least 1. If e.After is 0, the value is 5.
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

// A Watched store can report its condition.
type Watched interface {
	// Condition returns the condition that the store observed last. It returns at once, without
	// access to the disk or the database. It is safe for concurrent use.
	Condition() Condition
}

// ConditionOf returns the condition of r, or the zero Condition if r is not [Watched].
func ConditionOf(r Reader) Condition {
	if w, ok := r.(Watched); ok {
		return w.Condition()
	}
	return Condition{}
}
