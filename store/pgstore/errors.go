package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nomen-project/nomen/store"
)

// SQLSTATEs that this package distinguishes (PostgreSQL, Appendix A).
const (
	uniqueViolation      = "23505"
	duplicateObject      = "42710"
	duplicateTable       = "42P07"
	readOnlyTransaction  = "25006"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	tooManyConnections   = "53300"
	undefinedTable       = "42P01"
	undefinedDatabase    = "3D000"
	diskFull             = "53100"
	sessionEnded         = "57P01" // by an administrator, or because the server shuts down
)

// state returns the SQLSTATE of an error sent by a server, "" for other errors.
func state(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// A lostError means that the connection was lost, or could not be made in time.
type lostError struct{ err error }

func (e *lostError) Error() string {
	if failed, ok := e.err.(*pgconn.ConnectError); ok {
		return connectText(failed)
	}
	return e.err.Error()
}

func (e *lostError) Unwrap() error { return e.err }

// connectText describes a failed connection on one line. It gives each reason once: pgconn
// tries with and without TLS.
func connectText(e *pgconn.ConnectError) string {
	var reasons []string
	for line := range strings.Lines(errors.Unwrap(e).Error()) {
		if line = strings.Replace(strings.TrimSpace(line), "dial error: ", "", 1); !slices.Contains(reasons, line) {
			reasons = append(reasons, line)
		}
	}
	return fmt.Sprintf("cannot connect to database %q as user %q: %s", e.Config.Database, e.Config.User, strings.Join(reasons, "; "))
}

// gone reports whether err means that the server cannot be reached or is not available at
// present, so that another one should be tried.
func gone(err error) bool {
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		return true
	}
	code := state(err)
	// Shut down, crashed, not yet started.
	return code == tooManyConnections || strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P0")
}

// denied reports whether err means that the server rejects the login: the database or user
// does not exist, or the password is wrong (class 28).
func denied(err error) bool {
	code := state(err)
	return code == undefinedDatabase || strings.HasPrefix(code, "28")
}

// Reasons for giving up a server during a call.
var (
	errServerLost = errors.New("the connection to the database server was lost")
	errHangs      = errors.New("the database server timed out")
)

// away reports whether err means that the database is unavailable, so that the same call
// may succeed later.
func away(err error) bool {
	return transient(err) || errors.Is(err, errBusy) || errors.Is(err, errStale) || errors.Is(err, errServerLost)
}

// retryAfter is when to retry after the database was unavailable. The watch notices sooner
// that it is back.
const retryAfter = time.Second

// awayError returns the *store.AwayError for an error for which away reports true.
func awayError(err error) error {
	return &store.AwayError{Cause: causeOf(err), After: retryAfter, Err: err}
}

// causeOf returns a line for any client that says why the database is unavailable.
func causeOf(err error) string {
	code := state(err)
	switch {
	case errors.Is(err, errBusy):
		return "the database is too slow for the load"
	case errors.Is(err, errStale):
		return "the replicas of the database lag behind"
	case errors.Is(err, errHangs), errors.Is(err, context.DeadlineExceeded):
		return "the database does not answer"
	case denied(err):
		return "the database rejects the login of this server"
	case code == tooManyConnections:
		return "the database accepts no more connections"
	case strings.HasPrefix(code, "57P0"):
		return "the database is starting or shutting down"
	case gone(err):
		return "the database cannot be reached"
	}
	return "no database server accepts changes"
}

// again reports whether err means that the same transaction may succeed if it is retried,
// because it conflicted with another one.
func again(err error) bool {
	switch state(err) {
	case serializationFailure, deadlockDetected, uniqueViolation:
		return true
	}
	return false
}

// A FullError is returned by Apply when the disk of the database is full. Nothing was
// written; later calls succeed when there is space again. It unwraps to [syscall.ENOSPC].
type FullError struct{ err error }

func (e *FullError) Error() string {
	return "pgstore: the disk of the database is full, nothing was written: free disk space; no restart is needed: " + e.err.Error()
}

// Unwrap returns ENOSPC and the error of the database.
func (e *FullError) Unwrap() []error { return []error{syscall.ENOSPC, e.err} }

// full returns a *FullError if err means that the disk is full, otherwise err.
func full(err error) error {
	if state(err) == diskFull {
		return &FullError{err}
	}
	return err
}

// ended returns the cause if ctx has ended, otherwise err.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
