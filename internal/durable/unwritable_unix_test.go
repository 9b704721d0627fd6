//go:build unix

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	user := CurrentUser()
	for _, c := range []struct {
		err  error
		want string // "" if the error stays as it is
	}{
		{&fs.PathError{Op: "mkdir", Path: dir + "/a/b.new", Err: syscall.EACCES}, "cannot write to " + dir + " as user " + user + ": the directory belongs to user " + user + " and has mode 0750; make it writable for this user, for example with 'chown " + user + " " + dir + "'"},
		{fmt.Errorf("backup: %w", syscall.EROFS), "cannot write to " + dir + " as user " + user + ": its file system is read-only; if systemd runs the server with ProtectSystem=strict, add ReadWritePaths=" + dir + " to its unit"},
		{syscall.ENOSPC, ""},
		{nil, ""},
	} {
		got := Unwritable(filepath.Join(dir, "a", "b"), c.err)
		var bad *UnwritableError
		switch {
		case c.want == "" && !errors.Is(got, c.err), c.want != "" && (!errors.As(got, &bad) || !errors.Is(got, c.err)):
			t.Errorf("%v: %v", c.err, got)
		case c.want != "" && !strings.HasPrefix(got.Error(), c.want):
			t.Errorf("%v:\n%v, want\n%v", c.err, got, c.want)
		}
	}
}

// TestMasked checks that masked recognises a directory that systemd hides: it belongs to root and
// has no permissions.
func TestMasked(t *testing.T) {
	err := &UnwritableError{Dir: "/root", User: "nomen", Owner: "root", Err: syscall.EACCES}
	if got := err.Error(); strings.Contains(got, "chown") || !strings.Contains(got, "ProtectHome or InaccessiblePaths of its unit hides this directory") {
		t.Error(got)
	}
	for _, other := range []UnwritableError{{Owner: "anna"}, {Owner: "root", Mode: 0o700}} {
		if got := other.Error(); !strings.Contains(got, "chown") {
			t.Error(got)
		}
	}
}
