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

// SQLSTATE codes that this package distinguishes (PostgreSQL, Appendix A).
const (
	uniqueViolation      = "23505"
	duplicateObject      = "42710"
	duplicateTable       = "42P07"
	readOnlyTransaction  = "25006"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	tooManyConnections   = "53300"
	undefinedTable       = "42P01"
	foreignKeyViolation  = "23503"
	undefinedDatabase    = "3D000"
	diskFull             = "53100"
	sessionEnded         = "57P01" // ended by an administrator, or because the server shuts down
)

// state returns the SQLSTATE code of an error that a server has sent, or "" for other errors.
func state(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// A lostError says that a connection was lost, or could not be made in time.
type lostError struct{ err error }

func (e *lostError) Error() string {
	if failed, ok := e.err.(*pgconn.ConnectError); ok {
		return connectText(failed)
	}
	return e.err.Error()
}

func (e *lostError) Unwrap() error { return e.err }

// connectText describes a failed connection on one line. It states each reason only once, because
// pgconn tries with and without TLS.
func connectText(e *pgconn.ConnectError) string {
	var reasons []string
	for line := range strings.Lines(errors.Unwrap(e).Error()) {
		if line = strings.Replace(strings.TrimSpace(line), "dial error: ", "", 1); !slices.Contains(reasons, line) {
			reasons = append(reasons, line)
		}
	}
	return fmt.Sprintf("cannot connect to database %q as user %q: %s", e.Config.Database, e.Config.User, strings.Join(reasons, "; "))
}

// gone reports whether err means that the server cannot be reached or is not available at present.
// If so, another server should be tried.
func gone(err error) bool {
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		return true
	}
	code := state(err)
	// The server was shut down, has crashed, or has not yet started.
	return code == tooManyConnections || strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P0")
}

// denied reports whether err means that the server rejects the login (class 28). The database or
// user does not exist, or the password is wrong.
func denied(err error) bool {
	code := state(err)
	return code == undefinedDatabase || strings.HasPrefix(code, "28")
}

// Reasons for a call to give up on a server.
var (
	errServerLost = errors.New("the connection to the database server was lost")
	errHangs      = errors.New("the database server timed out")
)

// away reports whether err means that the database is unavailable. A later call with the same
// arguments can then succeed.
func away(err error) bool {
	return transient(err) || errors.Is(err, errBusy) || errors.Is(err, errStale) || errors.Is(err, errServerLost)
}

// retryAfter is the time after which clients should try again if the database was unavailable. The
// store itself may notice earlier that the database is back.
const retryAfter = time.Second

// awayError returns the [*store.AwayError] for an error for which away returns true.
func awayError(err error) error {
	return &store.AwayError{Cause: causeOf(err), After: retryAfter, Err: err}
}

// causeOf says why the database is unavailable, in a line that any client may see.
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

// again reports whether err means that the transaction has conflicted with another one. The
// transaction can succeed if the caller retries it.
func again(err error) bool {
	switch state(err) {
	case serializationFailure, deadlockDetected, uniqueViolation:
		return true
	}
	return false
}

// A FullError is returned by Apply if the disk of the database is full. Nothing was written. When
// there is space again, calls succeed. A FullError unwraps to [syscall.ENOSPC].
type FullError struct{ err error }

func (e *FullError) Error() string {
	return "pgstore: the disk of the database is full, nothing was written: free disk space; no restart is needed: " + e.err.Error()
}

// Unwrap returns ENOSPC and the error of the database.
func (e *FullError) Unwrap() []error { return []error{syscall.ENOSPC, e.err} }

// full returns a [*FullError] if err means that the disk is full; otherwise err.
func full(err error) error {
	if state(err) == diskFull {
		return &FullError{err}
	}
	return err
}

// ended returns the cause if ctx has ended; otherwise err.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
