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

func state(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// A lostError reports that a connection was lost, or could not be made in time.
type lostError struct{ err error }

func (e *lostError) Error() string {
	if failed, ok := e.err.(*pgconn.ConnectError); ok {
		return connectText(failed)
	}
	return e.err.Error()
}

func (e *lostError) Unwrap() error { return e.err }

// connectText describes a failed connection on one line. pgconn may try with and without TLS;
// connectText omits repeated reasons.
func connectText(e *pgconn.ConnectError) string {
	var reasons []string
	for line := range strings.Lines(errors.Unwrap(e).Error()) {
		if line = strings.Replace(strings.TrimSpace(line), "dial error: ", "", 1); !slices.Contains(reasons, line) {
			reasons = append(reasons, line)
		}
	}
	return fmt.Sprintf("cannot connect to database %q as user %q: %s", e.Config.Database, e.Config.User, strings.Join(reasons, "; "))
}

// gone reports whether err means that the server is unavailable, so that another server should be
// tried.
func gone(err error) bool {
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		return true
	}
	code := state(err)
	// Codes with the prefix 57P0 mean that the server was shut down, has crashed, or has not
	// started yet.
	return code == tooManyConnections || strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P0")
}

// denied reports whether err means that the server has rejected the login (class 28): the database
// or the user does not exist, or the password is wrong.
func denied(err error) bool {
	code := state(err)
	return code == undefinedDatabase || strings.HasPrefix(code, "28")
}

// Errors for which a call does not wait for a server any longer.
var (
	errServerLost = errors.New("the connection to the database server was lost")
	errHangs      = errors.New("the database server timed out")
)

func away(err error) bool {
	return transient(err) || errors.Is(err, errBusy) || errors.Is(err, errStale) || errors.Is(err, errServerLost)
}

// retryAfter is the time after which clients should try again while the database is unavailable.
const retryAfter = time.Second

func awayError(err error) error {
	return &store.AwayError{Cause: causeOf(err), After: retryAfter, Err: err}
}

// causeOf returns the reason why the database is unavailable, in one line that may be shown to any
// client.
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

// again reports whether err means that the transaction conflicted with another transaction, so that
// it should be retried.
func again(err error) bool {
	switch state(err) {
	case serializationFailure, deadlockDetected, uniqueViolation:
		return true
	}
	return false
}

// A FullError reports that the disk of the database is full. Nothing was written. Apply can succeed
// again when the disk has free space. A FullError unwraps to [syscall.ENOSPC].
type FullError struct{ err error }

func (e *FullError) Error() string {
	return "pgstore: the disk of the database is full, nothing was written: free disk space; no restart is needed: " + e.err.Error()
}

// Unwrap returns ENOSPC and the error of the database.
func (e *FullError) Unwrap() []error { return []error{syscall.ENOSPC, e.err} }

func full(err error) error {
	if state(err) == diskFull {
		return &FullError{err}
	}
	return err
}

// ended returns err, or the cause of the end of ctx if err is an error and ctx has ended.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
