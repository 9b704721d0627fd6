package pebblestore

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// TestDamages checks that Verify finds everything that was changed in the database without the
// store, and names the subject.
func TestDamages(t *testing.T) {
	named := func(key string) store.Subject { return store.Subject{Kind: store.KindName, Key: key} }
	x0, none := named("urn:x-a:0"), store.Subject{}
	stamp := func(s store.Subject, seconds int64, revision uint64) string {
		return string(appendStamp(appendHistory(nil, s), base.Add(time.Duration(seconds)*time.Second), revision))
	}
	second := stamp(x0, 0, 2) // change 8 of the log
	value := func(t *testing.T, s *Store, key string) []byte {
		t.Helper()
		v, closer, err := s.engine.Load().db.Get([]byte(key))
		if err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		defer closer.Close()
		return bytes.Clone(v)
	}
	edit := func(key string, subject store.Subject, change func(e *store.Entry)) func(t *testing.T, s *Store) {
		return func(t *testing.T, s *Store) {
			e, err := codec.DecodeEntry(subject, value(t, s, key))
			if err != nil {
				t.Fatal(err)
			}
			change(e)
			set(t, s, key, codec.AppendEntry(nil, e))
		}
	}
	remove := func(key string) func(t *testing.T, s *Store) {
		return func(t *testing.T, s *Store) {
			value(t, s, key)
			if err := s.engine.Load().db.Delete([]byte(key), pebble.Sync); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(key string, at int) func(t *testing.T, s *Store) {
		return func(t *testing.T, s *Store) {
			v := value(t, s, key)
			v[(at+len(v))%len(v)] ^= 1
			set(t, s, key, v)
		}
	}
	seq := func(n uint64) string { return string(appendSeq(nil, n)) }
	var all []storetest.Damage
	for _, d := range []struct {
		name    string
		subject store.Subject
		seq     uint64
		do      func(t *testing.T, s *Store)
	}{
		{"ContentAltered", x0, 8, edit(second, x0, func(e *store.Entry) { e.Change.Record.Locations[0].URL = "u:x" })},
		{"WhoAltered", x0, 8, edit(second, x0, func(e *store.Entry) { e.Change.Who = "x" })},
		{"SaltAltered", x0, 8, edit(second, x0, func(e *store.Entry) { e.Salt[0] ^= 1 })},
		{"LastContentAltered", named("urn:x-a:4"), 600, edit("nurn:x-a:4", named("urn:x-a:4"), func(e *store.Entry) { e.Change.Record.Locations[0].URL = "u:x" })},
		{"PresentLocationAltered", named("urn:x-a:4"), 0, edit("nurn:x-a:4", named("urn:x-a:4"), func(e *store.Entry) { e.Change.Record.Locations[0].URL = "u:x" })},
		{"AuthorityAltered", store.Subject{Kind: store.KindAuthority, Key: "urn:x-a:"}, 601, edit("aurn:x-a:", store.Subject{Kind: store.KindAuthority, Key: "urn:x-a:"}, func(e *store.Entry) { e.Change.Authority.Contact = "x" })},
		{"DigestOfRedactedAltered", x0, 1, flip(stamp(x0, 0, 1), -1)},
		{"RedactionUndone", x0, 0, func(t *testing.T, s *Store) {
			e, err := codec.DecodeEntry(x0, value(t, s, second))
			if err != nil {
				t.Fatal(err)
			}
			e.Seq, e.Change.Expected = 1, 0
			set(t, s, stamp(x0, 0, 1), codec.AppendEntry(nil, e))
		}},
		{"RedactedWithoutLeave", x0, 0, edit(second, x0, func(e *store.Entry) { e.Change = e.Change.Redact() })},
		{"ValueDamaged", x0, 8, flip(second, 0)},
		{"PlaceAltered", x0, 8, edit(second, x0, func(e *store.Entry) { e.Seq = 9 })},
		{"HistoryRemoved", x0, 8, remove(second)},
		{"LastChangeRemoved", named("urn:x-a:4"), 600, remove("nurn:x-a:4")},
		{"HistoryMoved", x0, 8, func(t *testing.T, s *Store) {
			v := value(t, s, second)
			remove(second)(t, s)
			set(t, s, stamp(x0, 5, 2), v)
		}},
		{"HistoryTwice", x0, 8, func(t *testing.T, s *Store) { set(t, s, stamp(x0, 5, 2), value(t, s, second)) }},
		{"RecordAdded", named("urn:x-a:9"), 8, func(t *testing.T, s *Store) {
			e := &store.Entry{Seq: 8, Change: &store.Change{
				Record: &store.Record{Name: name.FromKey("urn:x-a:9"), Spelling: "urn:x-a:9", Status: "active"}, Time: base,
			}}
			set(t, s, "nurn:x-a:9", codec.AppendEntry(nil, e))
		}},
		{"OrphanOfHistory", named("urn:x-a:9"), 0, func(t *testing.T, s *Store) { set(t, s, stamp(named("urn:x-a:9"), 0, 2), value(t, s, second)) }},
		{"PlaceRemoved", none, 8, remove(seq(8))},
		{"LastPlaceRemoved", x0, 602, remove(seq(602))},
		{"PlaceOfAnother", none, 8, func(t *testing.T, s *Store) { set(t, s, seq(8), value(t, s, seq(9))) }},
		{"PlaceAdded", none, 603, func(t *testing.T, s *Store) { set(t, s, seq(603), value(t, s, seq(8))) }},
		{"MarkAltered", x0, 8, flip(seq(8), 0)},
		{"PlaceDamaged", none, 0, func(t *testing.T, s *Store) { set(t, s, seq(8), []byte("x")) }},
		{"NodeAltered", none, 256, flip(string(appendNode(nil, 8, 0)), 0)},
		{"HigherNodeAltered", none, 512, flip(string(appendNode(nil, 9, 0)), 0)},
		{"NodeRemoved", none, 512, remove(string(appendNode(nil, 8, 1)))},
		{"NodeAdded", none, 0, func(t *testing.T, s *Store) { set(t, s, string(appendNode(nil, 8, 2)), make([]byte, 32)) }},
		{"LocationRemoved", named("urn:x-a:4"), 0, remove("lu:599\x00\x00urn:x-a:4")},
		{"LocationAdded", named("urn:x-a:4"), 0, func(t *testing.T, s *Store) { set(t, s, "lu:5\x00\x00urn:x-a:4", nil) }},
		{"LocationOfNobody", named("urn:x-a:9"), 0, func(t *testing.T, s *Store) { set(t, s, "lu:5\x00\x00urn:x-a:9", nil) }},
		{"LocationDamaged", none, 0, func(t *testing.T, s *Store) { set(t, s, "lu:5", nil) }},
		{"Recounted", none, 0, func(t *testing.T, s *Store) { set(t, s, metaCount, encodeNumber(8)) }},
	} {
		all = append(all, storetest.Damage{Name: d.name, Subject: d.subject, Seq: d.seq, Do: func(t *testing.T, s store.Store) store.Store {
			d.do(t, s.(*Store))
			return s
		}})
	}
	storetest.Damages(t, func(t *testing.T) store.Store { return openMem(t, vfs.NewMem()) }, testrun.Some(all, 4))
}

// base is the time of minute 0 of the suites.
var base = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestRedactedLeavesTheDisk checks that no table has redacted content after the tables were
// rewritten.
func TestRedactedLeavesTheDisk(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk)
	noise := make([]byte, 4096) // random bytes, which cannot be compressed
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	r := storetest.Typical(1)
	r.Reason = string(noise)
	apply := func(c store.Change) {
		t.Helper()
		c.Expected, c.Time = store.AnyRevision, base
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	apply(store.Change{Record: r})
	write(t, s, 2, 3)
	if err := s.engine.Load().db.Flush(); err != nil {
		t.Fatal(err)
	}
	if !onDisk(t, disk, noise[1000:1100]) {
		t.Fatal("the test does not see what is on disk")
	}
	apply(store.Change{Record: storetest.Typical(1), Redacts: []uint64{1}})
	s.engine.Load().scrubs.Wait()
	if err := s.Close(); err != nil { // Close also removes tables that are not used any more
		t.Fatal(err)
	}
	if onDisk(t, disk, noise[1000:1100]) {
		t.Error("what was redacted is still on disk")
	}
}

// onDisk reports whether a table has some bytes.
func onDisk(t *testing.T, disk *vfs.MemFS, text []byte) bool {
	t.Helper()
	files, err := disk.List("store")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, ".sst") {
			continue
		}
		f, err := disk.Open(disk.PathJoin("store", file))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, text) {
			return true
		}
	}
	return false
}

// TestVerifyDamagedTable checks that, for a damaged table, Verify reports faults and returns no
// error, and that the log gets one line.
func TestVerifyDamagedTable(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for i := range 500 {
		numbers = append(numbers, i)
	}
	write(t, s, numbers...)
	if err := errors.Join(settled(t, s), s.Close()); err != nil {
		t.Fatal(err)
	}
	path, size := "", int64(0) // the largest table has the names
	for file, info := range tables(t, dir) {
		if info.Size() > size {
			path, size = filepath.Join(dir, file), info.Size()
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/8] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err = Open(Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil)), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		faults := 0
		if _, err := s.Verify(t.Context(), func(store.Fault) { faults++ }, nil); err != nil || faults == 0 {
			t.Errorf("Verify: %d faults, %v; want faults and no error", faults, err)
		}
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), path+" is damaged: ") || strings.Contains(log.String(), "stack trace") {
		t.Errorf("the log has\n%s\nwant one line about %s", log.String(), path)
	}
}
