package pebblestore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/store"
)

// TestDamagedManifest damages the files that say which tables a store has: it flips a bit of each
// byte, cuts them off at each length, and removes them. The engine ignores a manifest from its
// first invalid record on, and makes a new store if no file names a manifest. After each change,
// either the store answers as before, or the damage is found.
func TestDamagedManifest(t *testing.T) {
	dirs, want := flippedStores(t)
	for _, dir := range dirs {
		damageManifests(t, dir, want)
	}
	dir, want := reopenedStore(t)
	damageManifests(t, dir, want)
}

// reopenedStore returns the directory of a store that has written its tables once, and then removed
// its log.
func reopenedStore(t *testing.T) (dir string, want answered) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "reopened")
	for n := range 3 {
		s := openDir(t, dir)
		if n == 0 {
			if _, err := s.Apply(t.Context(), flipRound(0)); err != nil {
				t.Fatal(err)
			}
		}
		want = answers(t, s)
		if err := errors.Join(want.err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir, want
}

func damageManifests(t *testing.T, dir string, want answered) {
	t.Helper()
	desc, err := pebble.Peek(dir, vfs.Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range filesOf(t, dir) {
		if file != filepath.Base(desc.ManifestFilename) && !strings.HasPrefix(file, "marker.") && file != markFile {
			continue
		}
		t.Run(filepath.Base(dir)+"/"+file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if file != markFile { // a store without this file is accepted
				effect(t, dir, file+" removed", file, nil, want, false)
			}
			for at := 0; at < len(data); at += testrun.Repeats(5, 29) {
				flipped := bytes.Clone(data)
				flipped[at] ^= 1 << (at % 8)
				effect(t, dir, fmt.Sprintf("%s, byte %d flipped", file, at), file, flipped, want, false)
				effect(t, dir, fmt.Sprintf("%s, %d bytes", file, at), file, append([]byte{}, data[:at]...), want, false)
			}
		})
	}
}

// manifestOf returns the file system with a copy of a store, and the content of its manifest, which
// has a list of tables and at least one more record.
func manifestOf(t *testing.T) (disk vfs.FS, path string, text []byte, want answered) {
	t.Helper()
	dirs, want := flippedStores(t)
	crashed := dirs[1]
	disk = vfs.NewMem()
	if ok, err := vfs.Clone(vfs.Default, disk, crashed, "store"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	desc, err := pebble.Peek("store", disk)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = readFile(disk, desc.ManifestFilename); err != nil {
		t.Fatal(err)
	}
	return disk, desc.ManifestFilename, text, want
}

// TestTornManifest appends to a manifest what a crash can leave of a record. The store must open,
// and no change may be missing.
func TestTornManifest(t *testing.T) {
	disk, path, text, want := manifestOf(t)
	next := text[:bytes.IndexByte(text[recordHeader:], 0)+recordHeader+20]
	for name, tail := range map[string][]byte{
		"zeros": make([]byte, 500), "garbage": bytes.Repeat([]byte{0xa5}, 90), "half": next[:len(next)/2], "header": next[:5],
	} {
		t.Run(name, func(t *testing.T) {
			replace(t, disk, path, append(bytes.Clone(text), tail...))
			for _, readOnly := range []bool{true, false} {
				clone := vfs.NewMem()
				if ok, err := vfs.Clone(disk, clone, "store", "store"); !ok || err != nil {
					t.Fatal(ok, err)
				}
				s, err := Open(Options{Dir: "store", FS: clone, CacheSize: 1 << 20, ReadOnly: readOnly})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(answers(t, s).text, want.text); diff != "" {
					t.Error(diff)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestDamagedManifestRefused damages a manifest so that the engine would remove tables. The error
// must name the file and say what to do, and all files must stay.
func TestDamagedManifestRefused(t *testing.T) {
	disk, path, text, _ := manifestOf(t)
	base := disk.PathBase(path)
	middle := bytes.Clone(text)
	middle[len(middle)/3] ^= 4
	second := recordHeader + int(binary.LittleEndian.Uint16(text[4:]))
	later := append(bytes.Clone(text), text[:second]...)
	later[second+recordHeader+1] ^= 4
	for _, tt := range []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"middle", base, middle, base + ": damaged: the record at byte "},
		{"later", base, later, "is invalid, but a later one is valid"},
		{"empty", base, []byte{}, base + ": damaged: the record at byte 0 of 0 is invalid"},
		{"marker", "marker.manifest.000001." + base, nil, "marker.manifest.*: the file is missing, but 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clone := vfs.NewMem()
			if ok, err := vfs.Clone(disk, clone, "store", "store"); !ok || err != nil {
				t.Fatal(ok, err)
			}
			replace(t, clone, clone.PathJoin("store", tt.file), tt.content)
			before := listing(t, clone)
			for _, readOnly := range []bool{false, true} {
				s, err := Open(Options{Dir: "store", FS: clone, CacheSize: 1 << 20, ReadOnly: readOnly})
				if err == nil {
					_ = s.Close()
					t.Fatal("opened")
				}
				for _, part := range []string{tt.want, "restore a backup"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("got %v, want %q in it", err, part)
					}
				}
				if after := listing(t, clone); after != before {
					t.Errorf("files: %s, were %s", after, before)
				}
			}
		})
	}
}

// TestDamagedLastRecord damages the record of the only table. It is at the end of the manifest, as if
// a crash had cut it off, but the write-ahead log with the same changes was removed.
func TestDamagedLastRecord(t *testing.T) {
	for _, gone := range []bool{false, true} {
		dir := uncompacted(t)
		desc, err := pebble.Peek(dir, vfs.Default)
		if err != nil {
			t.Fatal(err)
		}
		flipByte(t, desc.ManifestFilename, -1)
		logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
		if err != nil || len(logs) == 0 {
			t.Fatal(logs, err)
		}
		for _, log := range logs {
			if gone {
				err = errors.Join(err, os.Remove(log))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		before := filesOf(t, dir)
		s, err := Open(Options{Dir: dir})
		switch {
		case gone && err == nil:
			_ = s.Close()
			t.Error("opened")
		case gone:
			if !strings.Contains(err.Error(), "without it the log has 0 changes but had 1") || !slices.Equal(filesOf(t, dir), before) {
				t.Errorf("got %v, files %q, were %q", err, filesOf(t, dir), before)
			}
		case err != nil:
			t.Error(err)
		default:
			if head, err := s.Head(t.Context()); err != nil || head.Size != 1 {
				t.Errorf("Head: %v, %v", head, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// uncompacted returns the directory of a store with one change. The last record of its manifest is
// about the tables to which the write-ahead log was written.
func uncompacted(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	dir, crashed := filepath.Join(base, "store"), filepath.Join(base, "crashed")
	s := openDir(t, dir)
	write(t, s, 100)
	copyDir(t, dir, crashed, true)
	db, err := openDatabase(Options{Dir: crashed, FS: vfs.Default, CacheSize: 1 << 20}, &dirLock{}, nil, func(p *pebble.Options, _ *engineDisk) {
		p.DisableAutomaticCompactions = true
		p.Cleaner = pebble.ArchiveCleaner{} // keep the log
	})
	if err == nil {
		err = errors.Join(db.closeAlone(), writeMark(vfs.Default, crashed, s.sealed.head()))
	}
	if err != nil {
		t.Fatal(err)
	}
	archived, err := filepath.Glob(filepath.Join(crashed, "archive", "*.log"))
	if err != nil || len(archived) == 0 {
		t.Fatal(archived, err)
	}
	for _, log := range archived {
		if err := os.Rename(log, filepath.Join(crashed, filepath.Base(log))); err != nil {
			t.Fatal(err)
		}
	}
	return crashed
}

// TestMissingRows removes rows of the log after the head in the mark, as a missing file of the
// write-ahead log does.
func TestMissingRows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openDir(t, dir)
	numbers := make([]int, 600)
	for i := range numbers {
		numbers[i] = i
	}
	write(t, s, numbers[:100]...)
	mark := s.sealed.head()
	write(t, s, numbers[100:]...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := openWith(Options{Dir: dir, FS: vfs.Default, CacheSize: 1 << 20}, &dirLock{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(db.Delete(appendSeq(nil, 200), pebble.Sync), db.closeAlone(), writeMark(vfs.Default, dir, mark))
	if err != nil {
		t.Fatal(err)
	}
	s = openDir(t, dir)
	if err := s.engine.Load().damage; err == nil || !strings.Contains(err.Error(), "change 200 of the log is missing") {
		t.Errorf("got %v, want an error", err)
	}
}

func listing(t *testing.T, disk vfs.FS) string {
	t.Helper()
	files, err := disk.List("store")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return strings.Join(files, " ")
}

// TestEmptyStoreWithHead opens a directory whose engine has no data, but which had changes.
func TestEmptyStoreWithHead(t *testing.T) {
	disk := vfs.NewMem()
	o := Options{Dir: "store", FS: disk, CacheSize: 1 << 20}
	for i := range 2 {
		if i == 1 {
			if err := writeMark(disk, "store", store.Head{Size: 7}); err != nil {
				t.Fatal(err)
			}
		}
		db, err := openWith(o, &dirLock{}, nil, nil)
		if err == nil {
			err = db.closeAlone()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if s, err := Open(o); err == nil || !strings.Contains(err.Error(), "the log has 0 changes but had 7") {
		t.Errorf("got %v, %v, want an error", s, err)
	}
}

// A oneReuse lets ReuseForWrite wait while the file system is being copied, because a copy that
// begins in the middle of ReuseForWrite blocks for ever.
type oneReuse struct {
	*vfs.MemFS
	copying *sync.Mutex
}

// ReuseForWrite implements [vfs.FS].
func (o oneReuse) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	o.copying.Lock()
	defer o.copying.Unlock()
	return o.MemFS.ReuseForWrite(from, to, category)
}

// TestCrashAtManifest crashes before each operation on the files that say which tables there are.
func TestCrashAtManifest(t *testing.T) {
	mem := vfs.NewCrashableMem()
	type crash struct {
		disk  *vfs.MemFS
		acked []int
	}
	var mu sync.Mutex
	var crashes []crash
	l := notebook{acked: make([]int, 2)}
	disk := errorfs.Wrap(oneReuse{mem, &mu}, errorfs.InjectorFunc(func(op errorfs.Op) error {
		name := mem.PathBase(op.Path)
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || !strings.HasPrefix(name, "MANIFEST-") && !strings.HasPrefix(name, "marker.manifest") {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		acked := l.read() // before the copy
		for _, percent := range []int{0, 50, 50, 100} {
			cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(uint64(len(crashes)), 1))}
			crashes = append(crashes, crash{mem.CrashClone(cfg), acked})
		}
		return nil
	}))
	for n := range testrun.Repeats(30, 12) {
		s, err := Open(Options{Dir: "store", FS: disk, CacheSize: 1 << 20, hangAfter: time.Hour}) // a copy of a disk can take long
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if _, err := s.Apply(t.Context(), round(1, n+1)); err != nil {
			t.Fatal(err)
		}
		l.ack(1, n+1)
		if n%4 == 0 {
			if err := s.engine.Load().db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range crashes {
		checkCrash(t, c.disk, c.acked)
	}
	if len(crashes) < 100 {
		t.Errorf("%d crashes, want more", len(crashes))
	}
}
