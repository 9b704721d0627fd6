package pgstore

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

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
