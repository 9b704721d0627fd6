package pgstore

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// A failed connection is described on one line, without repeating the reason for each attempt.
func TestConnectText(t *testing.T) {
	_, err := pgx.Connect(t.Context(), "postgres://anna:secret@127.0.0.1:1/names")
	want := `cannot connect to database "names" as user "anna": 127.0.0.1:1 (127.0.0.1): dial tcp 127.0.0.1:1: connect: connection refused`
	if got := (&lostError{err}).Error(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
