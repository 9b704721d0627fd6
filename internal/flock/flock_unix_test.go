//go:build linux || darwin

package flock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	open := func() *os.File {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if err := Try(first); err != nil {
		t.Fatal(err)
	}
	if err := Try(second); !errors.Is(err, ErrLocked) {
		t.Errorf("a file that is locked: %v", err)
	}
	first.Close()
	if err := Try(second); err != nil {
		t.Errorf("a file whose lock has ended: %v", err)
	}
}
