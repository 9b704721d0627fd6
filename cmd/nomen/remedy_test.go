package main

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// What the command appends to errors of libraries, and their exit statuses.
func TestRemedies(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		add    string
	}{
		{&store.VersionError{Found: 1, Known: 3}, exitFailure, "; run 'nomen rekey'"},
		{&store.VersionError{Found: 1, Known: 3, How: store.ConvertByCopy}, exitFailure, "; with the program that made the database, run 'nomen migrate"},
		{&store.VersionError{Found: 4, Known: 3}, exitFailure, ""},
		{&store.StateError{Clock: true}, exitNo, "; --clock-ok"},
		{&store.StateError{}, exitNo, ""},
		{&store.AwayError{Clock: true}, exitFailure, "; --clock-ok"},
		{&store.AwayError{}, exitFailure, ""},
		{&client.RouteError{}, exitFailure, "; --via HOST:PORT"},
		{fmt.Errorf("x: %w", syscall.ENOSPC), exitFailure, "; free some space"},
		{&name.Error{}, exitNo, ""},
		{fmt.Errorf("x: %w", store.ErrNotFound), exitNo, ""},
		{usagef("x: %w", fs.ErrNotExist), exitUsage, ""},
		{fmt.Errorf("other"), exitFailure, ""},
		{nil, exitYes, ""},
	} {
		if got := remedyFor(tt.err); exitStatus(tt.err) != tt.status || !strings.HasPrefix(got, tt.add) || tt.add == "" && got != "" {
			t.Errorf("%v: status %d, remedy %q", tt.err, exitStatus(tt.err), got)
		}
	}
}
