package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

func TestBackup(t *testing.T) {
	for name, disk := range map[string]func() vfs.FS{
		"Memory": func() vfs.FS { return vfs.NewMem() },
		"Disk":   func() vfs.FS { return vfs.Default },
	} {
		t.Run(name, func(t *testing.T) {
			fs, base, n := disk(), t.TempDir(), 0
			if err := fs.MkdirAll(base, 0o755); err != nil {
				t.Fatal(err)
			}
			next := func(what string) string {
				n++
				return fs.PathJoin(base, fmt.Sprint(what, n))
			}
			open := func(t *testing.T, dir string) store.Store {
				t.Helper()
				s, err := Open(Options{Dir: dir, FS: fs, CacheSize: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			}
			storetest.Backup(t, func(t *testing.T) store.Store {
				return open(t, next("store"))
			}, func(t *testing.T, dir string) store.Store {
				restored := next("restored")
				if _, err := Restore(t.Context(), RestoreOptions{From: dir, To: restored, FS: fs}); err != nil {
					t.Fatal(err)
				}
				return open(t, restored)
			})
		})
	}
}

// tables returns the tables of a directory.
func tables(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]os.FileInfo{}
	for _, file := range files {
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) { // a compaction has just removed it
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = info
	}
	return all
}

// settled writes what is in memory into tables that stay.
func settled(t *testing.T, s *Store) error {
	return s.engine.Load().db.Compact(t.Context(), []byte{0}, []byte{0xff}, false)
}

// TestBackupTakesOver checks that a backup does not copy again the tables that have not changed
// since the last backup, and that no temporary files stay beside the store and the backup.
func TestBackupTakesOver(t *testing.T) {
	base := t.TempDir()
	dir, to := filepath.Join(base, "store"), filepath.Join(base, "backup")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s, 1, 2, 3)
	if err := errors.Join(settled(t, s), s.Backup(t.Context(), to, nil)); err != nil {
		t.Fatal(err)
	}
	before := tables(t, to)
	write(t, s, 4)
	if err := errors.Join(s.Backup(t.Context(), to, nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	after := tables(t, to)
	same := 0
	for file, info := range before {
		if again := after[file]; again != nil && os.SameFile(info, again) {
			same++
		}
	}
	if same == 0 {
		t.Errorf("no table of %d was taken over", len(before))
	}
	list, err := os.ReadDir(base)
	if err != nil || len(list) != 2 {
		t.Errorf("there is %v, %v; want store and backup", list, err)
	}
}

// TestBackupProgress checks that the number of bytes copied increases up to the total number.
func TestBackupProgress(t *testing.T) {
	base := t.TempDir()
	s, err := Open(Options{Dir: filepath.Join(base, "store")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s, 1, 2, 3)
	to := filepath.Join(base, "backup")
	for range 2 { // the second one has less to copy
		calls, last, all := 0, uint64(0), uint64(0)
		err := s.Backup(t.Context(), to, func(done, total uint64) {
			if calls++; done < last || done > total || all > 0 && total != all {
				t.Errorf("call %d: %d of %d after %d of %d", calls, done, total, last, all)
			}
			last, all = done, total
		})
		if err != nil || calls < 2 || last != all || all == 0 {
			t.Errorf("%d calls, at last %d of %d; %v", calls, last, all, err)
		}
	}
}

// TestBackupKilled checks that opening the store removes the checkpoint of a backup that was
// killed, and no other directory with a similar name.
func TestBackupKilled(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "store")
	left, mine := dir+suffixCheckpoint+"7", dir+suffixCheckpoint+"mine"
	for _, d := range []string{left, mine} {
		if err := errors.Join(os.Mkdir(d, 0o755), os.WriteFile(filepath.Join(d, "000001.sst"), []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a checkpoint is left: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("what is not a backup was removed: %v", err)
	}
	write(t, s, 1)
	if err := s.Backup(t.Context(), left, nil); err == nil {
		t.Error("a backup with a name that is removed was not refused")
	}
	r, err := Open(Options{Dir: filepath.Join(base, "other")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("another store has removed it: %v", err)
	}
}

func TestBackupRefuses(t *testing.T) {
	base := t.TempDir()
	disk := filepath.Join(base, "store")
	s, err := Open(Options{Dir: disk})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s, 1)
	other := filepath.Join(base, "other")
	if err := errors.Join(os.Mkdir(other, 0o755), os.WriteFile(filepath.Join(other, "mine.txt"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), other, nil); !errors.Is(err, ErrNoBackup) {
		t.Errorf("Backup to what is not a store: %v, want ErrNoBackup", err)
	}
	if text, err := os.ReadFile(filepath.Join(other, "mine.txt")); string(text) != "x" {
		t.Errorf("what was there is %q, %v", text, err)
	}
	// A copy that has got other changes than the original is another store.
	to, copied := filepath.Join(base, "backup"), filepath.Join(base, "copy")
	if err := s.Backup(t.Context(), to, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), RestoreOptions{From: to, To: copied}); err != nil {
		t.Fatal(err)
	}
	c, err := Open(Options{Dir: copied})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	write(t, s, 2)
	write(t, c, 2)
	if err := errors.Join(s.Backup(t.Context(), to, nil), c.engine.Load().db.Flush()); err != nil {
		t.Fatal(err)
	}
	if err := c.Backup(t.Context(), to, nil); !errors.Is(err, ErrNoBackup) {
		t.Errorf("Backup of a copy with other changes: %v, want ErrNoBackup", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, to, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Backup with a cancelled context: %v", err)
	}
	if err := errors.Join(s.Close(), s.Backup(t.Context(), to, nil)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Backup of a closed store: %v, want ErrClosed", err)
	}
}

// TestBackupAfterCrash checks that Backup renames back, or removes, what a crash has left beside a
// backup.
func TestBackupAfterCrash(t *testing.T) {
	for name, crash := range map[string]func(to string) error{
		"BetweenRenamings": func(to string) error { return errors.Join(os.Rename(to, to+".old"), os.Mkdir(to+".new", 0o755)) },
		"BeforeRemoval":    func(to string) error { return os.CopyFS(to+".old", os.DirFS(to)) },
		"WhileRemoving":    func(to string) error { return os.CopyFS(to+".new", os.DirFS(filepath.Dir(to)+"/store")) },
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			to := filepath.Join(base, "backup")
			s, err := Open(Options{Dir: filepath.Join(base, "store")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			write(t, s, 1, 2)
			if err := errors.Join(settled(t, s), s.Backup(t.Context(), to, nil)); err != nil {
				t.Fatal(err)
			}
			before := tables(t, to)
			write(t, s, 3)
			if err := errors.Join(crash(to), s.Backup(t.Context(), to, nil)); err != nil {
				t.Fatal(err)
			}
			same := 0
			for file, info := range tables(t, to) {
				if before[file] != nil && os.SameFile(info, before[file]) {
					same++
				}
			}
			if same == 0 {
				t.Errorf("no table of %d was taken over", len(before))
			}
			list, err := os.ReadDir(base)
			if err != nil || len(list) != 2 {
				t.Errorf("there is %v, %v; want store and backup", list, err)
			}
			b, err := Open(Options{Dir: to, ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if n, _, err := b.Count(t.Context()); n != 3 || err != nil {
				t.Errorf("the backup has %d records, %v, want 3", n, err)
			}
		})
	}
}

// TestBackupSparesOthers checks that Backup does not touch a directory that has the name of what a
// crash leaves, but other content.
func TestBackupSparesOthers(t *testing.T) {
	base := t.TempDir()
	to := filepath.Join(base, "backup")
	s, err := Open(Options{Dir: filepath.Join(base, "store")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s, 1)
	mine := filepath.Join(to+".old", "mine.txt")
	if err := errors.Join(os.Mkdir(to+".old", 0o755), os.WriteFile(mine, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), to, nil); !errors.Is(err, ErrNoBackup) {
		t.Errorf("Backup beside what is not a backup: %v, want ErrNoBackup", err)
	}
	if text, err := os.ReadFile(mine); string(text) != "x" {
		t.Errorf("what was there is %q, %v", text, err)
	}
}

// TestBackupSparesTheStore checks that Backup returns an error, and removes nothing, if it would
// replace or remove the store or unknown files.
func TestBackupSparesTheStore(t *testing.T) {
	base := t.TempDir()
	at := func(path ...string) string { return filepath.Join(append([]string{base}, path...)...) }
	s, err := Open(Options{Dir: at("names.new")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s, 1)
	err = errors.Join(
		os.Symlink(at("names.new"), at("link")),
		os.Mkdir(at("mine.new"), 0o755),
		os.WriteFile(at("mine.new", "letter"), []byte("dear"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{
		at("names.new"),
		at("names"), // its new backup would be made in names.new
		at("names.new", "within"),
		at("names.new", "a", "b"),
		at("link"),
		at("link", "within"),
		at("names.new", "..", "names.new"),
		at("mine"),
	} {
		if err := s.Backup(t.Context(), to, nil); err == nil {
			t.Errorf("a backup to %s was made", to)
		}
	}
	if _, err := os.Stat(at("mine.new", "letter")); err != nil {
		t.Errorf("what was there is gone: %v", err)
	}
	write(t, s, 2)
	s = again(t, s, Options{Dir: at("names.new")})
	if n, _, err := s.Count(t.Context()); n != 2 || err != nil {
		t.Errorf("the store has %d records, %v, want 2", n, err)
	}
	if err := s.Backup(t.Context(), at("elsewhere"), nil); err != nil {
		t.Errorf("a backup elsewhere: %v", err)
	}
}
