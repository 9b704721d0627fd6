//go:build unix

package durable

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Files that root creates in the directory of a user are given to the user, and no other files are.
func TestKeepOwner(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		if err := KeepOwner(dir, dir); err != nil {
			t.Error(err)
		}
		return // only root can change owners
	}
	const nobody = 65534
	outside := filepath.Join(t.TempDir(), "outside")
	data := filepath.Join(dir, "data")
	path := func(name string) string { return filepath.Join(data, name) }
	err := errors.Join(os.MkdirAll(path("store"), 0o700), os.WriteFile(path("store/a"), nil, 0o600), os.WriteFile(path("b"), nil, 0o600),
		os.WriteFile(outside, nil, 0o600), os.Symlink(outside, path("link")), os.Link(outside, path("hard")),
		os.WriteFile(path("other"), nil, 0o600), os.Chown(path("other"), 1, 1), os.Symlink(filepath.Dir(outside), path("dir")))
	if err != nil {
		t.Fatal(err)
	}
	check := func(want map[string]int) {
		t.Helper()
		for name, id := range want {
			info, err := os.Stat(path(name))
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := owner(info); got != id {
				t.Errorf("%s belongs to %d, want %d", name, got, id)
			}
		}
	}
	if err := KeepOwner(data, data); err != nil {
		t.Error(err)
	}
	check(map[string]int{".": 0, "store": 0, "store/a": 0, "b": 0})
	if err := os.Chown(data, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := KeepOwner(data, data); err != nil {
		t.Error(err)
	}
	check(map[string]int{"store": nobody, "store/a": nobody, "b": nobody, "link": 0, "hard": 0, "other": 1, "dir": 0})
}
