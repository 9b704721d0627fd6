//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestModes checks that a private file is private, and that a file that replaces another file gets
// the mode of that file only if Keep is set.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	for _, tt := range []struct {
		disk      Disk
		was, want fs.FileMode // was 0: no file
	}{
		{Disk{Mode: Private}, 0, 0o600},
		{Disk{Mode: Private}, 0o644, 0o600},
		{Disk{Mode: Private, Keep: true}, 0, 0o600},
		{Disk{Mode: Private, Keep: true}, 0o640, 0o640},
		{Disk{Mode: Private, Keep: true}, 0o644, 0o644},
		{Disk{Mode: Private, Disposable: true}, 0, 0o600},
	} {
		_ = os.Remove(file)
		if tt.was != 0 {
			if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Chmod(file, tt.was)); err != nil {
				t.Fatal(err)
			}
		}
		if err := Replace(tt.disk, file, twoParts); err != nil {
			t.Fatal(err)
		}
		if got := mode(t, file); got != tt.want {
			t.Errorf("%+v in place of mode %04o: mode %04o, want %04o", tt.disk, tt.was, got, tt.want)
		}
		if text, err := os.ReadFile(file); string(text) != "new" || err != nil {
			t.Errorf("%+v: %q, %v", tt.disk, text, err)
		}
	}
	if list, err := os.ReadDir(dir); len(list) != 1 || err != nil {
		t.Errorf("there are %v, %v; want one file", list, err)
	}
}

func TestTighten(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ was, want, told fs.FileMode }{
		{0o755, 0o700, 0o755},
		{0o705, 0o700, 0o705},
		{0o750, 0o750, 0}, // someone has given the group access on purpose
		{0o700, 0o700, 0},
	} {
		if err := os.Chmod(dir, tt.was); err != nil {
			t.Fatal(err)
		}
		told, err := Tighten(dir)
		if got := mode(t, dir); got != tt.want || told != tt.told || err != nil {
			t.Errorf("Tighten of mode %04o: %04o, and returns %04o, %v; want %04o and %04o", tt.was, got, told, err, tt.want, tt.told)
		}
	}
	if _, err := Tighten(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Tighten of nothing: %v", err)
	}
}
