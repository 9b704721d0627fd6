package pebblestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A linked backup shares tables with the backup before it, and does not change that backup.
func TestBackupLinked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	s := backedUpStore(t, vfs.Default, filepath.Join(dir, "store"), first)
	before, err := ReadManifest(first)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, 5)
	if err := s.BackupLinked(t.Context(), second, first, nil); err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, name := range files(t, first) {
		a, err := os.Stat(filepath.Join(first, name))
		b, err2 := os.Stat(filepath.Join(second, name))
		if err == nil && err2 == nil && isTable(name) && os.SameFile(a, b) {
			shared++
		}
	}
	if shared == 0 {
		t.Error("the backups share no table")
	}
	after, err := ReadManifest(second)
	if err != nil || after.Head.Size != before.Head.Size+1 || after.Size() < 1 {
		t.Errorf("the second backup has the manifest %+v, %v; the first has %d changes", after, err, before.Head.Size)
	}
	for _, backup := range []string{first, second} {
		if _, faults, _, err := tryRestore(t, vfs.Default, backup); err != nil || faults != nil {
			t.Errorf("%s: %v %v", backup, faults, err)
		}
	}
	if err := s.BackupLinked(t.Context(), first, second, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a backup over another: %v", err)
	}
	if again, err := ReadManifest(first); err != nil || again.Head != before.Head {
		t.Errorf("the first backup became %+v, %v", again, err)
	}
	if got, want := files(t, dir), []string{"first", "second", "store"}; !slices.Equal(got, want) {
		t.Errorf("beside the backups: %q", got)
	}
}

// A backup can be checked in its own directory: nothing is written, and damage is found.
func TestRestoreInPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backup := filepath.Join(dir, "backup")
	backedUpStore(t, vfs.Default, filepath.Join(dir, "store"), backup)
	before := files(t, backup)
	used := int64(0)
	check := func() (faults []string, err error) {
		_, err = Restore(t.Context(), RestoreOptions{
			From: backup, Verify: true, Damage: func(d Damage) { faults = append(faults, d.File+": "+d.Problem) },
			Use: func(s *Store) error {
				var err error
				used, _, err = s.Count(t.Context())
				return err
			},
		})
		return faults, err
	}
	if faults, err := check(); err != nil || faults != nil || used != 4 {
		t.Errorf("a good backup: %v %v, %d records", faults, err, used)
	}
	if got := files(t, backup); !slices.Equal(got, before) {
		t.Errorf("files %q, before %q", got, before)
	}
	if _, faults, _, err := tryRestore(t, vfs.Default, backup); err != nil || faults != nil {
		t.Errorf("after the check: %v %v", faults, err)
	}
	for _, name := range before {
		if isTable(name) {
			b, err := os.ReadFile(filepath.Join(backup, name))
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(filepath.Join(backup, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	used = -1
	if faults, err := check(); !errors.As(err, new(*DamagedError)) || len(faults) != 1 || !strings.Contains(faults[0], "SHA-256") || used != -1 {
		t.Errorf("a damaged backup: %q %v, used %d", faults, err, used)
	}
}
