package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A full disk of the database is reported as ENOSPC, with the error of the database.
func TestFull(t *testing.T) {
	said := &pgconn.PgError{Code: diskFull, Message: "could not extend file"}
	err := full(fmt.Errorf("writing: %w", said))
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, said) || state(err) != diskFull || !strings.Contains(err.Error(), "free disk space") {
		t.Errorf("got %v", err)
	}
	for _, other := range []error{nil, errors.New("x"), &pgconn.PgError{Code: deadlockDetected}} {
		if got := full(other); got != other {
			t.Errorf("%v became %v", other, got)
		}
	}
}

// A rejected login is reported at once, without retries.
func TestOpenDenied(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, url := range []string{
		strings.Replace(shared.URL(), "/postgres?", "/none?", 1),
		strings.Replace(shared.URL(), "nomen@", "stranger@", 1),
	} {
		for _, readOnly := range []bool{false, true} {
			_, err := Open(ctx, Options{URL: url + "&wait=10m", ReadOnly: readOnly})
			if !denied(err) || ctx.Err() != nil {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
}
