package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A record that was read for a coming change is not read again, unless it was changed in the
// meantime.
func TestReads(t *testing.T) {
	s, ctx := openMem(t, vfs.NewMem()), t.Context()
	key := name.FromKey("urn:x-w:1")
	subject := store.Subject{Kind: store.KindName, Key: key.Key()}
	put := func(expected uint64, url string) error {
		_, err := s.Apply(ctx, []store.Change{{
			Record: &store.Record{Name: key, Status: nomen.Active, Locations: []nomen.Location{{URL: url}}}, Expected: expected, Time: time.Unix(1, 0),
		}})
		return err
	}
	get := func() string {
		t.Helper()
		rec, err := s.Get(ctx, key, noTime)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(rec.Revision, " ", rec.Locations[0].URL)
	}
	fetch := func() {
		t.Helper()
		if recs, err := s.Records(ctx, []name.Name{name.FromKey("urn:x-none:1"), key}, true); err != nil || recs[0] != nil || recs[1] == nil {
			t.Fatal(recs, err)
		}
		if len(s.reads.all) != 1 || s.reads.all[subject] == nil || s.reads.size == 0 {
			t.Fatalf("kept: %v, %d bytes", s.reads.all, s.reads.size)
		}
	}
	empty := func(after string) {
		t.Helper()
		if len(s.reads.all) > 0 || s.reads.size != 0 {
			t.Errorf("after %s: kept %v, %d bytes", after, s.reads.all, s.reads.size)
		}
	}
	if err := put(0, "u:a"); err != nil {
		t.Fatal(err)
	}
	fetch()
	fetch()
	if err := put(1, "u:b"); err != nil || get() != "2 u:b" {
		t.Fatal(err, get())
	}
	empty("a change")
	fetch()
	if err := put(1, "u:c"); err == nil { // the record that the store keeps has revision 2
		t.Error("a change of revision 1 was accepted")
	}
	if err := errors.Join(put(2, "u:d"), put(3, "u:e")); err != nil || get() != "4 u:e" {
		t.Fatal(err, get())
	}
	// A reader whose view is older than a change keeps nothing.
	places := s.reads.announce([]store.Subject{subject})
	if err := put(4, "u:f"); err != nil {
		t.Fatal(err)
	}
	s.reads.keep(places, []read{{subject, &store.Change{}, []byte("old")}})
	empty("a change while it was read")
	// Another engine drops what was kept.
	fetch()
	s.install(s.engine.Load())
	empty("another engine")
	// Nothing is kept if the caller will not change the records, or if the store accepts no
	// changes.
	if _, err := s.Records(ctx, []name.Name{key}, false); err != nil {
		t.Error(err)
	}
	empty("a read without a change")
	s.readOnly = true
	if _, err := s.Records(ctx, []name.Name{key}, true); err != nil {
		t.Error(err)
	}
	empty("a read of a store opened for reading")
	s.readOnly = false
	// More than the limit.
	places = s.reads.announce([]store.Subject{subject})
	s.reads.keep(places, []read{{subject, &store.Change{}, make([]byte, maxReads+1)}})
	fetch()
	checkLogOf(t, s)
}

func TestReadsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reads
		subject := store.Subject{Key: "a"}
		r.keep(r.announce([]store.Subject{subject}), []read{{subject, &store.Change{}, []byte("1")}})
		time.Sleep(keepReads)
		if r.expire(); len(r.all) != 1 {
			t.Errorf("after %v: %v", keepReads, r.all)
		}
		time.Sleep(time.Nanosecond)
		if r.expire(); len(r.all) != 0 || r.size != 0 {
			t.Errorf("later: %v, %d bytes", r.all, r.size)
		}
	})
}

// Several writers read counters in batches, and increment each counter if it still has the revision
// that they have read. No increment may be lost or made twice.
func TestReadsOfWriters(t *testing.T) {
	s, ctx := openMem(t, vfs.NewMem()), t.Context()
	const counters, writers, rounds = 6, 4, 300
	names := make([]name.Name, counters)
	for i := range names {
		names[i] = name.FromKey(fmt.Sprint("urn:x-w:", i))
	}
	var mu sync.Mutex
	want := map[name.Name]int{}
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range rounds {
				some := names[rand.N(counters):]
				recs, err := s.Records(ctx, some, true)
				if err != nil {
					t.Error(err)
					return
				}
				for i, rec := range recs[:1+rand.N(len(recs))] {
					if err := increment(ctx, s, some[i], rec); err == nil {
						mu.Lock()
						want[some[i]]++
						mu.Unlock()
					} else if conflict := (*store.ConflictError)(nil); !errors.As(err, &conflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	for _, n := range names {
		rec, err := s.Get(ctx, n, noTime)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint("u:", want[n]); rec.Locations[0].URL != got || rec.Revision != uint64(want[n]) {
			t.Errorf("%v: %s in revision %d, want %s", n, rec.Locations[0].URL, rec.Revision, got)
		}
	}
	places := 0
	for p, err := range s.Find(ctx, "u:", store.Place{}) {
		if err != nil {
			t.Fatal(err)
		}
		if places++; p.URL != fmt.Sprint("u:", want[p.Name]) {
			t.Errorf("the index has %v", p)
		}
	}
	if places != counters {
		t.Errorf("%d places of %d counters", places, counters)
	}
	checkLogOf(t, s)
}

// increment adds one to the number in the location of rec. If rec is nil, it creates the record.
func increment(ctx context.Context, s *Store, n name.Name, rec *store.Record) error {
	c := store.Change{Record: &store.Record{Name: n, Status: nomen.Active, Locations: []nomen.Location{{URL: "u:1"}}}, Time: time.Unix(1, 0)}
	if rec != nil {
		count, err := strconv.Atoi(strings.TrimPrefix(rec.Locations[0].URL, "u:"))
		if err != nil {
			return err
		}
		c.Record.Locations[0].URL, c.Expected = fmt.Sprint("u:", count+1), rec.Revision
	}
	_, err := s.Apply(ctx, []store.Change{c})
	return err
}
