package pgstore

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nomen-project/nomen/store"
)

// The SQLSTATEs that this package tells apart (PostgreSQL, Appendix A).
const (
	uniqueViolation      = "23505"
	duplicateObject      = "42710"
	readOnlyTransaction  = "25006"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	tooManyConnections   = "53300"
	undefinedTable       = "42P01"
	undefinedDatabase    = "3D000"
	diskFull             = "53100"
)

// state returns the SQLSTATE of an error that a server has sent, "" of others.
func state(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// A lostError is one after which the connection was gone, or for which there was
// none in the time that there was.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }

func (e *lostError) Unwrap() error { return e.err }

// gone reports whether err says that the server cannot be reached, or cannot do
// anything for now, so that another one may be asked.
func gone(err error) bool {
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		return true
	}
	code := state(err)
	// Shut down, crashed, not yet started.
	return code == tooManyConnections || strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P0")
}

// denied reports whether err says that a server lets nobody in who comes like this:
// there is no such database or user, or the password is another (class 28).
func denied(err error) bool {
	code := state(err)
	return code == undefinedDatabase || strings.HasPrefix(code, "28")
}

// Why a server was given up in the middle of something.
var (
	errServerLost = errors.New("the database server was lost on the way")
	errHangs      = errors.New("the database server does not answer in time")
)

// away reports whether err says that the database is away, so that the same may
// succeed later.
func away(err error) bool {
	return transient(err) || errors.Is(err, errBusy) || errors.Is(err, errStale) || errors.Is(err, errServerLost)
}

// retryAfter is when to try again what the database was away for: the breaker needs
// less to see that it is back.
const retryAfter = time.Second

// awayError returns the *store.AwayError of an error for which away holds.
func awayError(err error) error {
	return &store.AwayError{Cause: causeOf(err), After: retryAfter, Err: err}
}

// causeOf says in a line for everybody why the database is away.
func causeOf(err error) string {
	code := state(err)
	switch {
	case errors.Is(err, errBusy):
		return "the database is too slow for all that is asked"
	case errors.Is(err, errStale):
		return "the replicas of the database are behind"
	case errors.Is(err, errHangs), errors.Is(err, context.DeadlineExceeded):
		return "the database does not answer"
	case denied(err):
		return "the database does not let this server in"
	case code == tooManyConnections:
		return "the database takes no more connections"
	case strings.HasPrefix(code, "57P0"):
		return "the database is starting or shutting down"
	case gone(err):
		return "the database cannot be reached"
	}
	return "no database server takes changes"
}

// again reports whether err says that the same transaction may succeed when it
// is begun anew, because another one stood in its way.
func again(err error) bool {
	switch state(err) {
	case serializationFailure, deadlockDetected, uniqueViolation:
		return true
	}
	return false
}

// A FullError is returned by Apply when the database has no room left on its disk.
// Nothing was written; the store goes on by itself when there is room again. It is
// [syscall.ENOSPC].
type FullError struct{ err error }

func (e *FullError) Error() string {
	return "pgstore: the disk of the database is full: nothing was written; make room, and it goes on by itself: " + e.err.Error()
}

// Unwrap returns ENOSPC and what the database has said.
func (e *FullError) Unwrap() []error { return []error{syscall.ENOSPC, e.err} }

// full returns a *FullError in place of err if that is what it means.
func full(err error) error {
	if state(err) == diskFull {
		return &FullError{err}
	}
	return err
}

// ended returns the reason when ctx has ended, else err.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
