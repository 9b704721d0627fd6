package pebblestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// flipByte damages the byte of a file at an offset. A negative offset counts from the end.
func flipByte(t *testing.T, file string, offset int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if offset < 0 {
		offset += len(b)
	}
	b[offset] ^= 0x20
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// closedStore makes a store with some changes and closes it.
func closedStore(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s := openDir(t, dir)
	write(t, s, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDamagedWhenOpened checks that a damaged store reports the damage in its Condition, with the
// time at which it was opened, and rejects changes with an AwayError.
func TestDamagedWhenOpened(t *testing.T) {
	dir := closedStore(t)
	flipByte(t, filepath.Join(dir, markFile), 0)
	begun := time.Now()
	s := openDir(t, dir)
	c := s.Condition()
	if c.Cause != "the store is damaged" || !c.NoWrites || c.NoReads || c.Since.Before(begun) || !s.Damaged() {
		t.Errorf("%+v", c)
	}
	away := (*store.AwayError)(nil)
	_, err := s.Apply(t.Context(), []store.Change{{Record: storetest.Typical(1), Expected: store.AnyRevision, Time: time.Unix(0, 0)}})
	if !errors.As(err, &away) || away.Cause != c.Cause {
		t.Errorf("a change: %v", err)
	}
}

// TestDamagedBeyondOpening checks that the error for a store that cannot be opened at all has one
// line, and says what to do next.
func TestDamagedBeyondOpening(t *testing.T) {
	for _, pattern := range []string{"MANIFEST-*", "OPTIONS-*", "*.sst"} {
		dir := closedStore(t)
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			flipByte(t, file, 0)
		}
		s, err := Open(Options{Dir: dir})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: opened", pattern)
		} else if !strings.Contains(err.Error(), "restore a backup") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// A barrenFS is a file system on which no directory can be created beside the store.
type barrenFS struct {
	vfs.FS
	prefix string
	err    error
}

func (b barrenFS) MkdirAll(dir string, mode os.FileMode) error {
	if strings.HasPrefix(dir, b.prefix) {
		return &os.PathError{Op: "mkdir", Path: dir, Err: b.err}
	}
	return b.FS.MkdirAll(dir, mode)
}

func (b barrenFS) RemoveAll(dir string) error {
	if strings.HasPrefix(dir, b.prefix) && errors.Is(b.err, syscall.EROFS) { // even if there is nothing
		return &os.PathError{Op: "unlinkat", Path: dir, Err: b.err}
	}
	return b.FS.RemoveAll(dir)
}

func (b barrenFS) Unwrap() vfs.FS { return b.FS }

// TestBackupFromBarrenDisk checks that a store on a full or read-only disk can be backed up to
// another disk. In this situation, a backup is needed most.
func TestBackupFromBarrenDisk(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EROFS} {
		base := t.TempDir()
		dir, to := filepath.Join(base, "store"), filepath.Join(base, "backup")
		s, err := Open(Options{Dir: dir, FS: barrenFS{vfs.Default, dir + suffixCheckpoint, cause}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, s, 100)
		head, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Backup(t.Context(), to, nil); err != nil {
				t.Errorf("%v: %v", cause, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(to + ".*"); len(left) > 0 {
			t.Errorf("%v: left: %v", cause, left)
		}
		b, err := Open(Options{Dir: to, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.Head(t.Context()); err != nil || got != head {
			t.Errorf("%v: the head is %v (%v), want %v", cause, got, err, head)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBackupReadOnly checks that the backup of a store that is open read-only has the changes that
// are only in the write-ahead log, and does not modify the store.
func TestBackupReadOnly(t *testing.T) {
	base := t.TempDir()
	dir, crashed, to := filepath.Join(base, "store"), filepath.Join(base, "crashed"), filepath.Join(base, "backup")
	s := openDir(t, dir)
	write(t, s, 100)
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	copyDir(t, dir, crashed, true)
	r, err := Open(Options{Dir: crashed, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := filepath.Glob(crashed + "*/*")
	err = errors.Join(r.Backup(t.Context(), to, nil), r.Backup(t.Context(), to, nil), r.Close())
	if after, _ := filepath.Glob(crashed + "*/*"); err != nil || !slices.Equal(after, before) {
		t.Errorf("%v: %v, and was %v", err, after, before)
	}
	b, err := Open(Options{Dir: to, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Head(t.Context()); err != nil || got != head {
		t.Errorf("the head is %v (%v), want %v", got, err, head)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestDamagedFile changes bytes in every part of every table on disk. The last one is the table
// with the version of the format, because no store can be opened without it.
func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	var numbers []int
	for i := range 2000 {
		numbers = append(numbers, i)
	}
	write(t, s, numbers...)
	if err := s.engine.Load().db.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables := tablesBySpace(t, dir)
	for space, table := range tables {
		if space != spaceMeta {
			damage(t, table)
		}
	}
	s = openDir(t, dir)
	failures := 0
	for i := range numbers {
		want := storetest.Typical(i)
		r, err := s.Get(t.Context(), want.Name, noTime)
		switch {
		case err == nil && r.Locations[0] == want.Locations[0]:
		case err == nil || errors.Is(err, store.ErrNotFound):
			t.Fatalf("a wrong answer for %s: %v, %v", want.Name, r, err)
		case !strings.Contains(err.Error(), want.Name.Key()):
			t.Fatalf("error %v does not name %s", err, want.Name)
		default:
			failures++
		}
	}
	if failures == 0 {
		t.Error("no read failed: the test damaged nothing")
	}
	var found []store.Fault
	if _, err := s.Verify(t.Context(), func(f store.Fault) { found = append(found, f) }, nil); err == nil && len(found) == 0 {
		t.Error("Verify found nothing")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, tables[spaceMeta])
	if s, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("with a damaged version: %v, %v, want an error that says what to do", s, err)
	}
}

// tablesBySpace returns the file of the only table of each key space of a store that is closed.
func tablesBySpace(t *testing.T, dir string) map[byte]string {
	t.Helper()
	s, err := Open(Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	levels, err := s.engine.Load().db.SSTables()
	if err != nil {
		t.Fatal(err)
	}
	files := map[byte]string{}
	for _, tables := range levels {
		for _, table := range tables {
			space := table.Smallest.UserKey[0]
			if files[space] != "" {
				t.Fatalf("there are several tables of the space %q", space)
			}
			files[space] = filepath.Join(dir, fmt.Sprintf("%06d.sst", table.FileNum))
		}
	}
	if files[spaceMeta] == "" || files[spaceName] == "" {
		t.Fatalf("tables: %q", files)
	}
	return files
}

func damage(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for part := 1; part < 8; part += 2 {
		data[len(data)*part/8] ^= 0x10
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
