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

// A database without room says so as a full disk does, and what it said is there.
func TestFull(t *testing.T) {
	said := &pgconn.PgError{Code: diskFull, Message: "could not extend file"}
	err := full(fmt.Errorf("writing: %w", said))
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, said) || state(err) != diskFull || !strings.Contains(err.Error(), "make room") {
		t.Errorf("got %v", err)
	}
	for _, other := range []error{nil, errors.New("x"), &pgconn.PgError{Code: deadlockDetected}} {
		if got := full(other); got != other {
			t.Errorf("%v became %v", other, got)
		}
	}
}

// Who is not let in is told so, and not after a time in which that might change.
func TestOpenDenied(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, url := range []string{
		strings.Replace(shared.URL(), "/postgres?", "/none?", 1),
		strings.Replace(shared.URL(), "nomen@", "nobody@", 1),
	} {
		for _, readOnly := range []bool{false, true} {
			_, err := Open(ctx, Options{URL: url + "&wait=10m", ReadOnly: readOnly})
			if !denied(err) || ctx.Err() != nil {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
}
