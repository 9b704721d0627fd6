package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/nomen-project/nomen/internal/testrun"
)

var backedUp = time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)

// backedUpStore makes a store with some names, and a backup of it, on a disk.
func backedUpStore(t *testing.T, disk vfs.FS, dir, to string) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir, FS: disk, CacheSize: 1 << 20, Program: "v1", Now: func() time.Time { return backedUp }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	write(t, s, 1, 2, 3)
	if err := settled(t, s); err != nil {
		t.Fatal(err)
	}
	write(t, s, 4)
	if err := s.Backup(t.Context(), to, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// tryRestore restores a backup to a new directory on a disk. It returns each fault as "FILE:
// PROBLEM".
func tryRestore(t *testing.T, disk vfs.FS, from string) (res Restored, faults, notes []string, err error) {
	t.Helper()
	to := disk.PathJoin(t.TempDir(), "restored")
	if vfs.Root(disk) != vfs.Default {
		to = "restored"
		if err := disk.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
	res, err = Restore(t.Context(), RestoreOptions{
		From: from, To: to, FS: disk,
		Damage: func(d Damage) { faults = append(faults, d.File+": "+d.Problem) },
		Note:   func(s string) { notes = append(notes, s) },
	})
	if err == nil {
		s, err := Open(Options{Dir: to, FS: disk, CacheSize: 1 << 20})
		if err != nil {
			t.Fatalf("what was restored cannot be opened: %v", err)
		}
		head, err2 := s.Head(t.Context())
		if err := errors.Join(err2, s.Close()); err != nil || head != res.Head {
			t.Errorf("what was restored has the head %v, %v; Restore says %v", head, err, res.Head)
		}
	}
	return res, faults, notes, err
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestManifest(t *testing.T) {
	base := t.TempDir()
	to := filepath.Join(base, "backup")
	s := backedUpStore(t, vfs.Default, filepath.Join(base, "store"), to)
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := readManifest(vfs.Default, to)
	if err != nil {
		t.Fatal(err)
	}
	if m.Head != head || m.Program != "v1" || !m.Made.Equal(backedUp) || m.Format != formatNoUsers || m.Rules == 0 {
		t.Errorf("the manifest says %+v; the head of the store is %v", m, head)
	}
	var listed []string
	for _, f := range m.Files {
		listed = append(listed, f.Name)
	}
	there := slices.DeleteFunc(files(t, to), func(f string) bool { return f == manifestFile || f == lockFile })
	if !slices.Equal(listed, there) {
		t.Errorf("the manifest lists %q; there are %q", listed, there)
	}
	res, faults, notes, err := tryRestore(t, vfs.Default, to)
	if err != nil || len(faults)+len(notes) > 0 || res.Records != 4 || res.Head != head || res.Files != len(listed) {
		t.Errorf("Restore: %+v, %q, %q, %v", res, faults, notes, err)
	}
	if _, err := Open(Options{Dir: to}); !errors.Is(err, ErrBackup) {
		t.Errorf("a backup opened for writing: %v, want ErrBackup", err)
	}
	if _, err := Rekey(t.Context(), RekeyOptions{Options: Options{Dir: to}}); !errors.Is(err, ErrBackup) {
		t.Errorf("a backup rekeyed: %v, want ErrBackup", err)
	}
	for _, o := range []Options{{Dir: to, ReadOnly: true}, {Dir: to, Keep: true}} {
		b, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if n, _, err := b.Count(t.Context()); n != 4 || errors.Join(err, b.Close()) != nil {
			t.Errorf("the backup opened for reading has %d records, %v", n, err)
		}
	}
	if _, faults, notes, err := tryRestore(t, vfs.Default, to); err != nil || len(faults)+len(notes) > 0 {
		t.Errorf("Restore after it was read: %q, %q, %v", faults, notes, err)
	}
}

// TestManifestPipe checks that a manifest that is a pipe counts as damage, and that the reader does
// not wait for another program to write to the pipe.
func TestManifestPipe(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "backup")
	backedUpStore(t, vfs.Default, filepath.Join(base, "store"), dir)
	pipe := filepath.Join(dir, manifestFile)
	if err := errors.Join(os.Remove(pipe), exec.Command("mkfifo", pipe).Run()); err != nil {
		t.Fatal(err)
	}
	if _, faults, _, err := tryRestore(t, vfs.Default, dir); err == nil || len(faults) != 1 || !strings.Contains(faults[0], "not a regular file") {
		t.Errorf("Restore: %q, %v", faults, err)
	}
}

// TestRestoreDamage checks that damage is reported in one line for each file, and that no damaged
// file is restored.
func TestRestoreDamage(t *testing.T) {
	base := t.TempDir()
	good := filepath.Join(base, "backup")
	backedUpStore(t, vfs.Default, filepath.Join(base, "store"), good)
	n := 0
	damaged := func(t *testing.T, change func(dir string) error) (dir string, faults, notes []string, err error) {
		t.Helper()
		n++
		dir = filepath.Join(base, fmt.Sprint("damaged", n))
		if err := errors.Join(os.CopyFS(dir, os.DirFS(good)), change(dir)); err != nil {
			t.Fatal(err)
		}
		_, faults, notes, err = tryRestore(t, vfs.Default, dir)
		return dir, faults, notes, err
	}
	edit := func(file string, f func([]byte) []byte) func(string) error {
		return func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, file))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, file), f(text), 0o600))
		}
	}
	for _, file := range files(t, good) {
		if file == lockFile {
			continue
		}
		for name, change := range map[string]func(string) error{
			"first bit": edit(file, func(b []byte) []byte { b[0] ^= 1; return b }),
			"last bit":  edit(file, func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b }),
			"middle":    edit(file, func(b []byte) []byte { b[len(b)/2] ^= 4; return b }),
			"truncated": edit(file, func(b []byte) []byte { return b[:len(b)-1] }),
			"empty":     edit(file, func([]byte) []byte { return nil }),
			"longer":    edit(file, func(b []byte) []byte { return append(b, 'x') }),
			"missing":   func(dir string) error { return os.Remove(filepath.Join(dir, file)) },
			"directory": func(dir string) error {
				return errors.Join(os.Remove(filepath.Join(dir, file)), os.Mkdir(filepath.Join(dir, file), 0o700))
			},
		} {
			if info, err := os.Stat(filepath.Join(good, file)); err == nil && info.Size() == 0 && !strings.Contains("longer missing directory", name) {
				continue
			}
			dir, faults, notes, err := damaged(t, change)
			if file == manifestFile && name == "missing" {
				if err != nil || len(faults) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "has no "+manifestFile) {
					t.Errorf("no manifest: %q, %q, %v; want one note", faults, notes, err)
				}
				continue
			}
			if bad := (*DamagedError)(nil); !errors.As(err, &bad) || len(faults) != 1 || !strings.HasPrefix(faults[0], filepath.Join(dir, file)+": ") {
				t.Errorf("%s %s: %q, %v; want one line about it", file, name, faults, err)
			}
		}
	}
	_, faults, _, err := damaged(t, func(dir string) error {
		return errors.Join(edit(markFile, func(b []byte) []byte { b[0] ^= 1; return b })(dir), os.Remove(filepath.Join(dir, files(t, good)[0])))
	})
	if err == nil || len(faults) != 2 {
		t.Errorf("two damaged files: %q, %v", faults, err)
	}
	_, faults, notes, err := damaged(t, func(dir string) error { return os.WriteFile(filepath.Join(dir, "999999.sst"), []byte("x"), 0o600) })
	if err != nil || len(faults) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "999999.sst: not part of the backup") {
		t.Errorf("a file too many: %q, %q, %v; want one note", faults, notes, err)
	}
	if err := IsBackup(filepath.Join(base, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("IsBackup of nothing: %v", err)
	}
	if err := IsBackup(base); !errors.Is(err, ErrNotBackup) {
		t.Errorf("IsBackup of something else: %v", err)
	}
	if _, err := Restore(t.Context(), RestoreOptions{From: base, To: filepath.Join(base, "to")}); !errors.Is(err, ErrNotBackup) {
		t.Errorf("Restore of something else: %v", err)
	}
}

// TestRestoreWithoutManifest checks that, for a backup of an earlier program, every damaged table
// is reported in one line.
func TestRestoreWithoutManifest(t *testing.T) {
	base := t.TempDir()
	good := filepath.Join(base, "backup")
	backedUpStore(t, vfs.Default, filepath.Join(base, "store"), good)
	if err := os.Remove(filepath.Join(good, manifestFile)); err != nil {
		t.Fatal(err)
	}
	for file := range tables(t, good) {
		text, err := os.ReadFile(filepath.Join(good, file))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(text); i += max(1, len(text)/testrun.Repeats(50, 12)) {
			bad := slices.Clone(text)
			bad[i] ^= 1
			if err := os.WriteFile(filepath.Join(good, file), bad, 0o600); err != nil {
				t.Fatal(err)
			}
			_, faults, _, err := tryRestore(t, vfs.Default, good)
			if damaged := (*DamagedError)(nil); !errors.As(err, &damaged) || len(faults) != 1 || strings.Contains(faults[0], "\n") {
				t.Errorf("bit %d of %s: %q, %v; want one line", 8*i, file, faults, err)
			}
		}
		if err := os.WriteFile(filepath.Join(good, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if res, faults, notes, err := tryRestore(t, vfs.Default, good); err != nil || len(faults) > 0 || len(notes) != 1 || res.Records != 4 {
		t.Errorf("Restore: %+v, %q, %q, %v", res, faults, notes, err)
	}
}

// TestBackupOfDamage checks that a damaged table of the store does not replace a good table of the
// backup.
func TestBackupOfDamage(t *testing.T) {
	base := t.TempDir()
	dir, to := filepath.Join(base, "store"), filepath.Join(base, "backup")
	s := backedUpStore(t, vfs.Default, dir, to)
	if err := settled(t, s); err != nil {
		t.Fatal(err)
	}
	for file := range tables(t, dir) {
		path := filepath.Join(dir, file)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // a compaction has just removed it
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/3] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Backup(t.Context(), to, nil); err == nil || !strings.Contains(err.Error(), "the store is damaged") {
		t.Errorf("Backup of a damaged store: %v", err)
	}
	if res, faults, _, err := tryRestore(t, vfs.Default, to); err != nil || res.Records != 4 {
		t.Errorf("the earlier backup: %+v, %q, %v", res, faults, err)
	}
}

// eachStep makes backups, at most as many as the parameter runs says. For every operation on a file
// whose path contains the parameter part, it calls the function at with the number of the run and
// the number of the operation. If at returns an error, the operation fails with this error.
// eachStep ends early when a run has fewer operations than its number.
func eachStep(t *testing.T, part string, runs int, at func(mem *vfs.MemFS, run, step int) error, after func(mem *vfs.MemFS, err error)) {
	t.Helper()
	for run := 1; run <= runs; run++ {
		mem, step := vfs.NewCrashableMem(), 0
		var on atomic.Bool // off while the store checks its disk before and after the backup
		disk := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if !on.Load() || !strings.Contains(op.Path, part) || op.Kind == errorfs.OpGetDiskUsage {
				return nil
			}
			step++
			return at(mem, run, step)
		}))
		s := backedUpStore(t, disk, "store", "backup")
		write(t, s, 5)
		on.Store(true)
		err := s.Backup(t.Context(), "backup", nil)
		on.Store(false)
		after(mem, err)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if step < run {
			return
		}
	}
}

// restorable returns how many records can be restored from the backup, or from the earlier backup
// if a crash has left only that.
func restorable(t *testing.T, disk vfs.FS) int64 {
	t.Helper()
	from := "backup"
	if _, err := disk.Stat(from); errors.Is(err, fs.ErrNotExist) {
		from = "backup" + suffixBackupOld
	}
	res, faults, notes, err := tryRestore(t, disk, from)
	if err != nil || len(notes) > 0 {
		t.Errorf("%s: %q, %q, %v", from, faults, notes, err)
	}
	return res.Records
}

// TestBackupFullDisk checks that Backup fails if the disk is full at any step, and that the earlier
// backup remains.
func TestBackupFullDisk(t *testing.T) {
	failed := 0
	eachStep(t, "backup"+suffixBackupNew, math.MaxInt, func(_ *vfs.MemFS, run, step int) error {
		if step == run {
			return syscall.ENOSPC
		}
		return nil
	}, func(mem *vfs.MemFS, err error) {
		want := int64(5)
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Backup: %v, want ENOSPC", err)
			}
		}
		if got := restorable(t, mem); got != want && (err == nil || got != 4) {
			t.Errorf("after %v: %d records are restored", err, got)
		}
	})
	if failed < 20 {
		t.Errorf("only %d steps have failed", failed)
	}
}

// TestBackupKilledAnywhere checks that a loss of power at any step leaves a complete backup, either
// the earlier one or the new one.
func TestBackupKilledAnywhere(t *testing.T) {
	crashes, records := 0, map[int64]int{}
	eachStep(t, "backup", 1, func(mem *vfs.MemFS, _, step int) error {
		crashes++
		for _, unsynced := range []int{0, 50, 100} {
			left := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(7, uint64(step)))})
			records[restorable(t, left)]++
			if there, err := isThere(left, "backup"+suffixBackupNew); there && err == nil {
				if m, err := readManifest(left, "backup"+suffixBackupNew); err == nil && m.Head.Size > 5 {
					t.Errorf("step %d: what is not in its place looks complete: %+v", step, m)
				}
			}
		}
		return nil
	}, func(_ *vfs.MemFS, _ error) {})
	t.Logf("%d crashes; records restored: %v", crashes, records)
}

// TestManifestVersion1 checks that a manifest of version 1 can be read, which every later version
// must support. Another program computed the hash in it.
func TestManifestVersion1(t *testing.T) {
	text, err := os.ReadFile("testdata/backup.v1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	m, problem := parseManifest(text)
	if problem != "" {
		t.Fatal(problem)
	}
	if len(m.Files) != 2 || m.Files[1].Name != "HEAD" || m.Files[1].Size != 67 || m.Head.Size != 4 || m.Rules != 3 || !m.Made.Equal(backedUp) {
		t.Errorf("got %+v", m)
	}
	for i := range text {
		bad := slices.Clone(text)
		bad[i] ^= 1
		if _, problem := parseManifest(bad); problem == "" {
			t.Errorf("a flipped bit of byte %d is not noticed", i)
		}
		if _, problem := parseManifest(text[:i]); problem == "" {
			t.Errorf("a manifest of %d bytes is not noticed to be truncated", i)
		}
	}
}

func FuzzManifest(f *testing.F) {
	text, err := os.ReadFile("testdata/backup.v1.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("{\"manifest\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, problem := parseManifest(text)
		if (m == nil) == (problem == "") {
			t.Fatalf("%v with the problem %q", m, problem)
		}
		// A valid manifest stays the same when it is written and read again. No name in it leads
		// out of the directory.
		if m == nil {
			return
		}
		disk := vfs.NewMem()
		if err := errors.Join(disk.MkdirAll("d", 0o700), writeManifest(disk, "d", m)); err != nil {
			t.Fatal(err)
		}
		again, err := readManifest(disk, "d")
		if err != nil || again.Head != m.Head || !slices.Equal(again.Files, m.Files) {
			t.Fatalf("%+v, %v; want %+v", again, err, m)
		}
		for _, f := range m.Files {
			if strings.ContainsAny(f.Name, `/\`) {
				t.Errorf("the name %q", f.Name)
			}
		}
	})
}
