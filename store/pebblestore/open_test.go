package pebblestore

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

var noTime time.Time

// write puts the typical records with these numbers into s.
func write(t *testing.T, s *Store, numbers ...int) {
	t.Helper()
	var changes []store.Change
	for _, i := range numbers {
		changes = append(changes, store.Change{Record: storetest.Typical(i), Expected: store.AnyRevision, Time: time.Unix(0, 0)})
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

// set writes to the database of s directly, bypassing the store.
func set(t *testing.T, s *Store, key string, value []byte) {
	t.Helper()
	if err := s.engine.Load().db.Set([]byte(key), value, pebble.Sync); err != nil {
		t.Fatal(err)
	}
}

// reopen closes s and opens it again.
func reopen(t *testing.T, s *Store, fs vfs.FS) (*Store, error) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(Options{Dir: "store", FS: fs})
	if err == nil {
		t.Cleanup(func() { _ = again.Close() })
	}
	return again, err
}

func TestOpenRefusesOtherVersions(t *testing.T) {
	for _, c := range []struct {
		key          string
		found, known uint64
		what         string
		how          store.Conversion
	}{
		{metaFormat, formatVersion + 1, formatVersion, "format of the store", store.ConvertNever},
		{metaFormat, formatNoUsers - 1, formatVersion, "format of the store", store.ConvertNever},
		{metaRules, name.RulesVersion + 1, name.RulesVersion, "rules of names", store.ConvertInPlace},
		{metaRules, 0, name.RulesVersion, "rules of names", store.ConvertInPlace},
	} {
		fs := vfs.NewMem()
		s := openMem(t, fs)
		set(t, s, c.key, encodeNumber(c.found))
		_, err := reopen(t, s, fs)
		var got *store.VersionError
		if !errors.As(err, &got) || *got != (store.VersionError{What: c.what, Found: c.found, Known: c.known, How: c.how}) {
			t.Errorf("%s %d: error %v", c.key, c.found, err)
		}
	}
}

func TestOpenRefusesDamagedMeta(t *testing.T) {
	for _, key := range []string{metaFormat, metaRules, metaCount} {
		fs := vfs.NewMem()
		s := openMem(t, fs)
		write(t, s, 1)
		set(t, s, key, []byte{1, 1})
		_, err := reopen(t, s, fs)
		var got *CorruptError
		if !errors.As(err, &got) || got.Key != key {
			t.Errorf("%s damaged: error %v, want a CorruptError", key, err)
		}
	}
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	mem := vfs.NewMem()
	db, err := pebble.Open("store", engineOptions(Options{FS: mem}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Set([]byte("x"), nil, pebble.Sync), db.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first attempt must not change the store
		if _, err := Open(Options{Dir: "store", FS: mem}); err == nil || !strings.Contains(err.Error(), "not a store of names") {
			t.Errorf("Open of another database: %v", err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: file}); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("Open of a file: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	mem := vfs.NewMem()
	if _, err := Open(Options{Dir: "store", FS: mem, ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadOnly of nothing: %v", err)
	}
	if _, err := Open(Options{Dir: filepath.Join(t.TempDir(), "none"), ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadOnly of nothing on disk: %v", err)
	}
	s := openMem(t, mem)
	write(t, s, 1, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(Options{Dir: "store", FS: mem, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Get(t.Context(), storetest.Typical(2).Name, noTime); err != nil || got.Revision != 1 {
		t.Errorf("Get: %v, %v", got, err)
	}
	if n, _, err := r.Count(t.Context()); n != 2 || err != nil {
		t.Errorf("Count: %d, %v, want 2", n, err)
	}
	change := store.Change{Record: storetest.Typical(3), Time: time.Unix(0, 0)}
	if _, err := r.Apply(t.Context(), []store.Change{change}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Apply: %v, want store.ErrReadOnly", err)
	}
}

func TestLockedWithinTheProcess(t *testing.T) {
	mem := vfs.NewMem()
	openMem(t, mem)
	for range 2 {
		if _, err := Open(Options{Dir: "store", FS: mem}); !errors.Is(err, ErrLocked) {
			t.Errorf("Open of an open store: %v, want ErrLocked", err)
		}
	}
}

// While a store on disk is open, another Open in this process returns ErrLocked at any moment, and
// so does Rekey.
func TestLockedAtAnyMoment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	var opens sync.WaitGroup
	for i := range 8 {
		opens.Go(func() {
			for range 20 {
				s, err := Open(Options{Dir: dir, CacheSize: 1 << 20})
				switch {
				case err == nil:
					err = s.Close()
				case errors.Is(err, ErrLocked):
					err = nil
				}
				if err != nil {
					t.Error(err)
				}
				if i > 0 {
					continue
				}
				if _, err := Rekey(t.Context(), RekeyOptions{Options: Options{Dir: dir, CacheSize: 1 << 20}}); err != nil && !errors.Is(err, ErrLocked) && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Rekey: %v", err)
				}
			}
		})
	}
	opens.Wait()
}

// TestLockedDuringCreation has the files of a store that another program is creating: it has locked
// the directory, and there is a write-ahead log but no manifest yet. The same files are damage when no
// program has the lock.
func TestLockedDuringCreation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "000002.log"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	creator, err := vfs.Default.Lock(filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	open := func(o Options) func() error {
		o.Dir, o.CacheSize = dir, 1<<20
		return func() error {
			s, err := Open(o)
			if err == nil {
				_ = s.Close()
			}
			return err
		}
	}
	doors := map[string]func() error{
		"Open":           open(Options{}),
		"Open ReadOnly":  open(Options{ReadOnly: true}),
		"Open MustExist": open(Options{MustExist: true}),
		"Exists":         func() error { return Exists(dir) },
		"Rekey": func() error {
			_, err := Rekey(t.Context(), RekeyOptions{Options: Options{Dir: dir, CacheSize: 1 << 20}})
			return err
		},
	}
	for name, door := range doors {
		if err := door(); !errors.Is(err, ErrLocked) {
			t.Errorf("%s during the creation: %v, want ErrLocked", name, err)
		}
	}
	if err := creator.Close(); err != nil {
		t.Fatal(err)
	}
	for name, door := range doors {
		damage := (*ManifestError)(nil)
		if err := door(); !errors.As(err, &damage) {
			t.Errorf("%s after it: %v, want a ManifestError", name, err)
		}
	}
}

// Only one place in the code opens the engine, so that the engine always has the protection against
// failing disks.
func TestOneWayToOpen(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && file != "database.go" && strings.Contains(string(text), "pebble.Open(") {
			t.Errorf("%s calls pebble.Open: call openDatabase", file)
		}
	}
}

// heldStore tells the child process of TestLockedByAnotherProcess what to open.
const heldStore = "PEBBLESTORE_TEST_HELD"

func TestLockedByAnotherProcess(t *testing.T) {
	if dir := os.Getenv(heldStore); dir != "" {
		holdStore(t, dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "new", "store")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLockedByAnotherProcess$")
	child.Env = append(os.Environ(), heldStore+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	_, err = Open(Options{Dir: dir})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("Open: %v, want ErrLocked with the directory", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	_ = in.Close()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatalf("Open after the other process was killed: %v", err)
	}
	defer s.Close()
	if r, err := s.Get(t.Context(), storetest.Typical(1).Name, noTime); err != nil || r.Revision != 1 {
		t.Errorf("what the killed process had written: %v, %v", r, err)
	}
}

// holdStore keeps a store open until standard input ends.
func holdStore(t *testing.T, dir string) {
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, 1)
	_, _ = os.Stdout.WriteString("held\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

func TestDamagedRecord(t *testing.T) {
	mem := vfs.NewMem()
	s := openMem(t, mem)
	write(t, s, 1, 2, 3)
	bad := storetest.Typical(2)
	set(t, s, "n"+bad.Name.Key(), []byte("\x01Rgarbage"))
	var got *CorruptError
	check := func(what string, err error) {
		t.Helper()
		if !errors.As(err, &got) || got.Key != bad.Name.Key() || !strings.Contains(err.Error(), bad.Name.Key()) {
			t.Errorf("%s: error %v, want a CorruptError of %s", what, err, bad.Name)
		}
	}
	_, err := s.Get(t.Context(), bad.Name, noTime)
	check("Get", err)
	_, err = s.Apply(t.Context(), []store.Change{{Record: bad, Expected: store.AnyRevision, Time: time.Unix(0, 0)}})
	check("Apply", err)
	for _, err := range s.History(t.Context(), bad.Name) {
		check("History", err)
	}
	n := 0
	for r, err := range s.List(t.Context(), store.Scan{}) {
		if n++; n == 2 {
			check("List", err)
		} else if err != nil || r == nil {
			t.Errorf("List, record %d: %v", n, err)
		}
	}
	if n != 2 {
		t.Errorf("List gave %d results, want a record and an error", n)
	}
}

// TestCloseWaits checks that a call that entered before Close gets its answer.
func TestCloseWaits(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	write(t, s, 1)
	begun := make(chan struct{})
	answers := make(chan error, 8)
	for i := range cap(answers) {
		go func() {
			for n := 0; ; n++ {
				_, err := s.Apply(context.Background(), []store.Change{{
					Record: storetest.Typical(i*100_000 + n), Expected: store.AnyRevision, Time: time.Unix(0, 0),
				}})
				if n == 3 && i == 0 {
					close(begun)
				}
				if err != nil {
					answers <- err
					return
				}
			}
		}()
	}
	<-begun
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for range cap(answers) {
		if err := <-answers; !errors.Is(err, store.ErrClosed) {
			t.Errorf("Apply ended with %v, want ErrClosed", err)
		}
	}
}

func TestCacheSize(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ memory, want, serving int64 }{
		{0, 64 * mib, 64 * mib},
		{256 * mib, 64 * mib, 64 * mib},
		{1024 * mib, 128 * mib, 128 * mib},
		{4096 * mib, 512 * mib, 512 * mib},
		{8192 * mib, 512 * mib, 1024 * mib},
		{1 << 40, 512 * mib, 2048 * mib},
		{math.MaxInt64, 512 * mib, 2048 * mib},
	} {
		if got := cacheSize(c.memory, maxCacheSize); got != c.want {
			t.Errorf("cacheSize(%d): %d, want %d", c.memory, got, c.want)
		}
		if got := cacheSize(c.memory, maxServingCacheSize); got != c.serving {
			t.Errorf("cacheSize(%d) of a server: %d, want %d", c.memory, got, c.serving)
		}
	}
	for _, c := range []struct{ memory, want int64 }{{256 * mib, 64 * mib}, {512 * mib, 128 * mib}, {1024 * mib, 512 * mib}, {4096 * mib, 3584 * mib}} {
		if got := CacheSizeWithin(c.memory); got != c.want {
			t.Errorf("CacheSizeWithin(%d): %d, want %d", c.memory, got, c.want)
		}
	}
	if got := ServingCacheSize(); got < minCacheSize || got > maxServingCacheSize {
		t.Errorf("ServingCacheSize: %d", got)
	}
}

func TestMemoryFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		text, label string
		want        int64
	}{
		{"MemTotal:       24676032 kB\nMemFree: 1 kB\n", "MemTotal:", 24676032},
		{"MemFree: 1 kB\n", "MemTotal:", 0},
		{"MemTotal:", "MemTotal:", 0},
		{"MemTotal: x kB", "MemTotal:", 0},
		{"MemTotal: 9223372036854775807 kB", "MemTotal:", 0},
		{"1048576\n", "", 1 << 20},
		{"max\n", "", 0},
		{"", "", 0},
	} {
		if got := numberIn(file("number", c.text), c.label); got != c.want {
			t.Errorf("number after %q in %q: %d, want %d", c.label, c.text, got, c.want)
		}
	}
	if got := numberIn(filepath.Join(dir, "missing"), ""); got != 0 {
		t.Errorf("of files that are not there: %d", got)
	}
}

// unwritable is a file system that is mounted read-only.
type unwritable struct{ vfs.FS }

func (u unwritable) refuse(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
}

func (u unwritable) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, u.refuse(name)
}
func (u unwritable) Lock(name string) (io.Closer, error)       { return nil, u.refuse(name) }
func (u unwritable) MkdirAll(name string, _ os.FileMode) error { return u.refuse(name) }
func (u unwritable) Remove(name string) error                  { return u.refuse(name) }
func (u unwritable) Rename(name, _ string) error               { return u.refuse(name) }
func (u unwritable) Link(name, _ string) error                 { return u.refuse(name) }
func (u unwritable) OpenReadWrite(name string, _ vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	return nil, u.refuse(name)
}

// TestUnwritable checks that a store on a read-only file system can be read and verified, and that
// nothing is written to it.
func TestUnwritable(t *testing.T) {
	mem := vfs.NewMem()
	s := openMem(t, mem)
	write(t, s, 1, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Dir: "store", FS: unwritable{mem}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, _, err := s.Count(t.Context()); n != 2 || err != nil {
		t.Errorf("got %d records, %v, want 2", n, err)
	}
	if _, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("verify: %+v", f) }, nil); err != nil {
		t.Error(err)
	}
	w, err := Open(Options{Dir: "store", FS: unwritable{mem}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if c := w.Condition(); c.Cause != "the file system is read-only" || !c.NoWrites || c.NoReads {
		t.Errorf("opened for writing: %+v", c)
	}
	away := (*store.AwayError)(nil)
	if _, err := w.Apply(t.Context(), round(1, 1)); !errors.As(err, &away) {
		t.Errorf("Apply: %v", err)
	}
	if n, _, err := w.Count(t.Context()); n != 2 || err != nil {
		t.Errorf("got %d records, %v, want 2", n, err)
	}
	if _, err := Open(Options{Dir: "other", FS: unwritable{mem}}); !errors.Is(err, syscall.EROFS) {
		t.Errorf("a new store: %v", err)
	}
}
