package pebblestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/store"
)

func secretOf(t *testing.T, s *Store, key, want string) {
	t.Helper()
	got, err := s.Secret(t.Context(), key)
	if want == "" && err == store.ErrNotFound {
		return
	}
	if err != nil || string(got) != want {
		t.Errorf("secret %s: %q, %v, want %q", key, got, err, want)
	}
}

// TestSecretsOnDisk checks that secrets survive a restart, that only their owner can read them,
// that a backup does not contain them, and that a store opened read-only returns secrets but
// accepts none.
func TestSecretsOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	backup := filepath.Join(t.TempDir(), "backup")
	open := func(o Options) *Store {
		t.Helper()
		o.CacheSize = 1 << 20
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(Options{Dir: dir})
	for key, value := range map[string]string{"kept": "the-private-key", "removed": "the-old-key"} {
		if err := s.PutSecret(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.PutSecret(t.Context(), "removed", nil), s.Backup(t.Context(), backup, nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, secretsDir, "kept"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file of a secret: %v, %v, want mode 0600", info.Mode(), err)
	}
	for place, want := range map[string]string{dir: "secrets/kept", backup: ""} {
		if got := holding(t, place, "the-private-key", "the-old-key"); got != want {
			t.Errorf("files of %s with a secret: %q, want %q", place, got, want)
		}
	}
	s = open(Options{Dir: dir, ReadOnly: true})
	secretOf(t, s, "kept", "the-private-key")
	secretOf(t, s, "removed", "")
	_, err = s.Lease(t.Context(), "k", "h", time.Hour)
	for _, err := range []error{err, s.PutSecret(t.Context(), "kept", []byte("x")), s.PutSecret(t.Context(), "kept", nil)} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("a write to a store opened read-only: %v, want ErrReadOnly", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// holding returns the files below dir that contain one of the texts, separated by spaces.
func holding(t *testing.T, dir string, texts ...string) string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, text := range texts {
			if strings.Contains(string(content), text) {
				rel, _ := filepath.Rel(dir, path)
				found = append(found, rel)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// A fullDisk has no space for files of secrets while on is set.
type fullDisk struct {
	vfs.FS
	on atomic.Bool
}

func (d *fullDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.on.Load() && strings.Contains(name, secretsDir) {
		return nil, &os.PathError{Op: "create", Path: name, Err: syscall.ENOSPC}
	}
	return d.FS.Create(name, category)
}

func (d *fullDisk) Unwrap() vfs.FS { return d.FS }

// TestSecretsDiskFull checks that, while the disk is full, secrets are rejected as changes are, and
// that the stored secret stays.
func TestSecretsDiskFull(t *testing.T) {
	full := &fullDisk{FS: vfs.NewMem()}
	s, err := Open(Options{Dir: "store", FS: full, CacheSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.PutSecret(t.Context(), "k", []byte("first")); err != nil {
		t.Fatal(err)
	}
	full.on.Store(true)
	if err := s.PutSecret(t.Context(), "k", []byte("second")); !store.IsAway(err) {
		t.Errorf("%v, want an AwayError", err)
	}
	secretOf(t, s, "k", "first")
	full.on.Store(false)
	if err := s.PutSecret(t.Context(), "k", []byte("third")); err != nil {
		t.Error(err)
	}
	secretOf(t, s, "k", "third")
}

// TestRekeyKeepsSecrets checks that a store keeps its secrets when it is rekeyed.
func TestRekeyKeepsSecrets(t *testing.T) {
	disk := rules1(t)
	path := disk.PathJoin("store", secretsDir)
	if err := disk.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := disk.Create(disk.PathJoin(path, "kept"), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.Write([]byte("key"))
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Rekey(t.Context(), options(disk)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(options(disk).Options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	secretOf(t, s, "kept", "key")
}
