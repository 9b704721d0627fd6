//go:build unix

package pebblestore

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestBackupShared checks that a backup is private. If a group can read the earlier backup, the
// group can also read the new one. All other users cannot, even if they could read the earlier
// backup.
func TestBackupShared(t *testing.T) {
	base := t.TempDir()
	to := filepath.Join(base, "backup")
	s, err := Open(Options{Dir: filepath.Join(base, "store")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, tt := range []struct{ was, dir, file fs.FileMode }{
		{0, 0o700, 0o600}, // no earlier directory
		{0o700, 0o700, 0o600},
		{0o750, 0o750, 0o640},
		{0o770, 0o770, 0o640},
		{0o755, 0o700, 0o600}, // as earlier programs made it
	} {
		write(t, s, i)
		if tt.was != 0 {
			if err := os.Chmod(to, tt.was); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Backup(t.Context(), to, nil); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(to)
		if err != nil || info.Mode().Perm() != tt.dir {
			t.Errorf("in place of mode %04o: the directory has %v, %v; want %04o", tt.was, info.Mode(), err, tt.dir)
		}
		for _, file := range files(t, to) {
			if info, err := os.Stat(filepath.Join(to, file)); err != nil || info.Mode().Perm() != tt.file {
				t.Errorf("in place of mode %04o: %s has %v, %v; want %04o", tt.was, file, info.Mode(), err, tt.file)
			}
		}
	}
}
