package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// flipsOfFile returns the number of places in each file at which a bit is flipped.
func flipsOfFile() int { return testrun.Repeats(8, 2) }

const (
	flipRounds = 160
	logBlock   = 32 << 10 // size of a block of the engine's log; the last block may be shorter
)

// TestFlippedBits flips single bits in every file of three stores, one at a time: a store that was
// closed, a store after a crash, and a backup. Either no answer of the store changes, or the damage
// is found: the store does not open, a call returns an error, or Verify reports a fault. There is
// one exception: at the very end of the log after a crash, a flipped bit looks like a write that
// the crash has cut off. The store must then have the content that it had just before this write.
func TestFlippedBits(t *testing.T) {
	dirs, want := flippedStores(t)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			found, harmless, cut := 0, 0, 0
			for _, file := range filesOf(t, dir) {
				for place := range flipsOfFile() {
					switch flip(t, dir, file, place, want, filepath.Base(dir) == "crashed") {
					case damageFound:
						found++
					case damageNone:
						harmless++
					case damageCut:
						cut++
					}
				}
			}
			t.Logf("%d bits flipped: %d found, %d without effect, %d only by the head", found+harmless+cut, found, harmless, cut)
			if found == 0 {
				t.Error("no damage was found: the test did none")
			}
		})
	}
}

// flippedStores returns the directories of a store that was closed, of one that a crash has left, and
// of a backup. All have the same changes.
func flippedStores(t *testing.T) (dirs []string, want answered) {
	t.Helper()
	base := t.TempDir()
	dir, crashed, backup := filepath.Join(base, "store"), filepath.Join(base, "crashed"), filepath.Join(base, "backup")
	s := openDir(t, dir)
	for n := range flipRounds {
		if _, err := s.Apply(t.Context(), flipRound(n)); err != nil {
			t.Fatal(err)
		}
		if n == flipRounds/2 {
			if err := s.engine.Load().db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Backup(t.Context(), backup, nil); err != nil {
		t.Fatal(err)
	}
	copyDir(t, dir, crashed, true)
	want = answers(t, s)
	if want.err != nil {
		t.Fatal(want.err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return []string{dir, crashed, backup}, want
}

// flipRound returns changes to be written before the bits are flipped: new names, changed names, an
// authority and a redaction.
func flipRound(n int) []store.Change {
	changes := round(n%3, n/3+1)
	for i := range changes {
		changes[i].Redacts = nil
	}
	if n == 40 {
		changes[2].Redacts = []uint64{3, 5}
	}
	if n%20 == 0 {
		changes = append(changes, store.Change{
			Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-w"), Contact: fmt.Sprint(n)},
			Expected:  store.AnyRevision, Time: changes[0].Time,
		})
	}
	return changes
}

// openDir opens a store with small blocks. Whenever the engine reads a damaged block, it searches
// for the flipped bit, and the time for this grows with the square of the size of the block.
func openDir(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir, CacheSize: 1 << 20, blockSize: 2 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// copyDir copies a directory of files. If the directory is in use, the copy is as a crash would
// leave it, provided that nothing is written during the copy.
func copyDir(t *testing.T, from, to string, inUse bool) {
	t.Helper()
	if err := os.MkdirAll(to, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, file := range filesOf(t, from) {
		data, err := os.ReadFile(filepath.Join(from, file))
		if inUse && errors.Is(err, fs.ErrNotExist) {
			continue // a table that a compaction has replaced
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files = append(files, e.Name())
		}
	}
	return files
}

// A damageSeen says what effect a flipped bit has.
type damageSeen int

const (
	damageNone damageSeen = iota
	damageFound
	damageCut // the last changes are missing, which can be detected only with a head that was noted before
	damageMissed
)

// flip flips one bit in a copy of a store and returns the effect.
func flip(t *testing.T, dir, file string, place int, want answered, mayBeCut bool) damageSeen {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) == 0 {
		return damageNone
	}
	random := rand.New(rand.NewPCG(uint64(place), uint64(len(file))))
	at := (len(data)*place/flipsOfFile() + random.IntN(len(data)/flipsOfFile()+1)) % len(data)
	bit := byte(1) << random.IntN(8)
	data[at] ^= bit
	end := len(bytes.TrimRight(data, "\x00"))
	mayBeCut = mayBeCut && strings.HasSuffix(file, ".log") && at/logBlock >= end/logBlock-1
	return effect(t, dir, fmt.Sprintf("%s, byte %d, bit %08b", file, at, bit), file, data, want, mayBeCut)
}

// effect opens a copy of a store in which one file has other content, and returns the effect. If
// content is nil, the file is missing.
func effect(t *testing.T, dir, what, file string, content []byte, want answered, mayBeCut bool) damageSeen {
	t.Helper()
	disk := vfs.NewMem() // in memory, so that no write waits for a disk
	if ok, err := vfs.Clone(vfs.Default, disk, dir, "store"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	replace(t, disk, disk.PathJoin("store", file), content)
	s, err := Open(Options{Dir: "store", FS: disk, CacheSize: 1 << 20, Keep: true})
	if err != nil {
		return damageFound
	}
	defer s.Close()
	enough, stop := context.WithCancel(t.Context())
	defer stop()
	faults := 0
	now, err := s.Verify(enough, func(store.Fault) { faults++; stop() }, nil)
	if err != nil || faults > 0 || s.engine.Load().damage != nil {
		return damageFound // if damage is found, other answers may be incomplete
	}
	got := answers(t, s)
	if got.err != nil {
		t.Errorf("%s: an answer is %v, and verify finds nothing", what, got.err)
		return damageMissed
	}
	diff := cmp.Diff(got.text, want.text)
	if diff == "" {
		return damageNone
	}
	if mayBeCut && now.Size < want.head.Size && earlierThan(want, got) {
		return damageCut
	}
	t.Errorf("%s: other answers, and nothing tells: (-got +want)\n%s", what, diff[:min(len(diff), 600)])
	return damageMissed
}

// replace writes a file. If content is nil, it removes the file.
func replace(t *testing.T, disk vfs.FS, path string, content []byte) {
	t.Helper()
	if content == nil {
		if err := disk.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := disk.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// earlierThan reports whether the changes of earlier are the first changes of later.
func earlierThan(later, earlier answered) bool {
	for i, s := range earlier.feed {
		if later.feed[i] != s {
			return false
		}
	}
	return true
}

// answered has all answers of a store.
type answered struct {
	text []string
	feed []string
	head store.Head
	err  error
}

func answers(t *testing.T, s *Store) (a answered) {
	t.Helper()
	say := func(what string, v any, err error) {
		a.text = append(a.text, fmt.Sprintf("%s %+v %v", what, v, err))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			a.err = errors.Join(a.err, err)
		}
	}
	var names []name.Name
	for w := range 3 {
		names = append(names, name.FromKey(fmt.Sprintf("urn:x-w:%d", w)))
		for n := range flipRounds/3 + 2 {
			names = append(names, name.FromKey(fmt.Sprintf("urn:x-w:%d:%06d", w, n)))
		}
	}
	names = append(names, name.FromKey("urn:x-shared"))
	for _, n := range names {
		r, err := s.Get(t.Context(), n, noTime)
		if r != nil {
			say("get", *r, err)
		} else {
			say("get", n, err)
		}
		for c, err := range s.History(t.Context(), n) {
			say("history", changeText(c), err)
		}
	}
	for r, err := range s.List(t.Context(), store.Scan{}) {
		if err != nil {
			say("list", nil, err)
			continue
		}
		say("list", *r, err)
	}
	for p, err := range s.Find(t.Context(), "u:", store.Place{}) {
		say("find", p, err)
	}
	for e, err := range s.Changes(t.Context(), 0) {
		if err != nil {
			say("feed", nil, err)
			continue
		}
		a.feed = append(a.feed, fmt.Sprintf("%d %x %s", e.Seq, e.Digest, changeText(e.Change)))
	}
	for auth, err := range s.Authorities(t.Context(), noTime) {
		if auth != nil {
			say("authority", *auth, err)
		} else {
			say("authority", nil, err)
		}
	}
	n, _, err := s.Count(t.Context())
	say("count", n, err)
	a.head, err = s.Head(t.Context())
	say("head", a.head, err)
	return a
}

func changeText(c *store.Change) string {
	if c == nil {
		return "none"
	}
	text := fmt.Sprintf("%v %d %v %q %q %v %v", c.Subject(), c.Revision(), c.Time.UTC(), c.Who, c.Why, c.Redacts, c.Redacted)
	if c.Record != nil {
		text += fmt.Sprintf(" %v %v", c.Record.Status, c.Record.Locations)
	}
	if c.Authority != nil {
		text += c.Authority.Contact
	}
	return text
}
