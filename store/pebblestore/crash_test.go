package pebblestore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A notebook has, for each writer, the number of the last round that was acknowledged.
type notebook struct {
	mu    sync.Mutex
	acked []int
}

func (l *notebook) ack(writer, round int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[writer] = round
}

func (l *notebook) read() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.acked)
}

const crashWriters = 6

// round returns the batch of one round of a writer. It changes two names of the writer, one of
// which is new, and a name that all writers change.
func round(writer, n int) []store.Change {
	var changes []store.Change
	for _, k := range []string{
		fmt.Sprintf("urn:x-w:%d", writer), fmt.Sprintf("urn:x-w:%d:%06d", writer, n), "urn:x-shared",
	} {
		changes = append(changes, store.Change{
			Record: &store.Record{
				Name:      name.FromKey(k),
				Status:    nomen.Active,
				Locations: []nomen.Location{{URL: fmt.Sprint("u:", writer, ":", n), Note: strings.Repeat("x", 200)}},
			},
			Expected: store.AnyRevision, Time: time.Unix(int64(n), 0),
		})
	}
	if n%5 == 0 {
		changes[0].Redacts = []uint64{uint64(n) - 3, uint64(n) - 1}
	}
	return changes
}

// TestCrash checks the store after a crash at any moment, which loses any part of the data that was
// not synced: every acknowledged change must exist, and every batch must be complete or absent.
func TestCrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := openMem(t, fs)
	l := notebook{acked: make([]int, crashWriters)}
	tickets := make(chan int) // a round is written for each
	var wg sync.WaitGroup
	for w := range crashWriters {
		wg.Go(func() { l.keep(t, s, w, tickets) })
	}
	random := rand.New(rand.NewPCG(1, 1))
	crashes := testrun.Repeats(40, 12)
	for crash := 0; crash < crashes && !t.Failed(); crash++ {
		for n := range crash % 20 {
			tickets <- n
		}
		acked := l.read()
		seen, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: crash * 37 % 101, RNG: random})
		checkCrash(t, clone, acked)
		checkSeen(t, clone, seen)
	}
	close(tickets)
	wg.Wait()
	checkCrash(t, fs.CrashClone(vfs.CrashCloneCfg{}), l.read())
}

// keep writes one writer's rounds as long as there are tickets.
func (l *notebook) keep(t *testing.T, s *Store, writer int, tickets chan int) {
	n := 0
	for range tickets {
		n++
		if _, err := s.Apply(t.Context(), round(writer, n)); err != nil {
			t.Error(err)
			continue
		}
		l.ack(writer, n)
	}
}

func checkCrash(t *testing.T, fs vfs.FS, acked []int) {
	t.Helper()
	s, err := Open(Options{Dir: "store", FS: fs, CacheSize: 1 << 20})
	if err != nil {
		t.Fatalf("Open after a crash: %v", err)
	}
	defer s.Close()
	all := map[string]*store.Record{}
	for r, err := range s.List(t.Context(), store.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		all[r.Name.Key()] = r
	}
	total := 0
	for w, n := range acked {
		total += checkWriter(t, all, w, n)
	}
	if shared := all["urn:x-shared"]; total > 0 && shared.Revision != uint64(total) {
		t.Errorf("the shared name has revision %d after %d batches", shared.Revision, total)
	}
	if got, _, err := s.Count(t.Context()); err != nil || got != int64(len(all)) {
		t.Errorf("Count: %d, %v, want %d", got, err, len(all))
	}
	history := 0
	for c, err := range s.History(t.Context(), name.FromKey("urn:x-shared")) {
		if err != nil || c.Expected != uint64(total-history-1) {
			t.Fatalf("change %d of the shared name from the last: %+v, %v", history, c, err)
		}
		history++
	}
	checkLog(t, s, all)
	if history != total {
		t.Errorf("the shared name has a history of %d changes, want %d", history, total)
	}
}

// checkSeen checks that the changes that were sealed before the crash are still in the log. So a
// program that follows the log misses nothing.
func checkSeen(t *testing.T, fs vfs.FS, seen store.Head) {
	t.Helper()
	s, err := Open(Options{Dir: "store", FS: fs, CacheSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if head.Size < seen.Size {
		t.Fatalf("head of %d changes after a crash, %d were sealed", head.Size, seen.Size)
	}
	proof, err := s.ProveHead(t.Context(), head.Size, seen.Size)
	if err != nil || ledger.CheckConsistency(proof, head, seen) != nil {
		t.Errorf("the head %v that was seen is not of the log of %v after a crash: %v", seen, head, err)
	}
}

// checkLog checks that the log has every change of the store, and the index every location.
func checkLog(t *testing.T, s *Store, all map[string]*store.Record) {
	t.Helper()
	head, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("Verify after a crash: %+v", f) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Head(t.Context()); err != nil || got != head {
		t.Errorf("Head after a crash: %v, %v, want %v", got, err, head)
	}
	revisions := uint64(0)
	for _, r := range all {
		revisions += r.Revision
	}
	if head.Size != revisions {
		t.Errorf("%d changes in the log, and %d revisions", head.Size, revisions)
	}
	places := 0
	for p, err := range s.Find(t.Context(), "u:", store.Place{}) {
		if err != nil || all[p.Name.Key()].Locations[0].URL != p.URL {
			t.Fatalf("Find: %v, %v", p, err)
		}
		places++
	}
	if places != len(all) {
		t.Errorf("%d locations of %d records", places, len(all))
	}
}

// checkWriter returns how many rounds of a writer the store has.
func checkWriter(t *testing.T, all map[string]*store.Record, w, acked int) int {
	t.Helper()
	n := 0
	for all[fmt.Sprintf("urn:x-w:%d:%06d", w, n+1)] != nil {
		n++
	}
	if n < acked {
		t.Errorf("writer %d: %d rounds are there, %d were acknowledged", w, n, acked)
	}
	own := all[fmt.Sprintf("urn:x-w:%d", w)]
	switch {
	case n == 0 && own != nil, n > 0 && own == nil:
		t.Errorf("writer %d: half a batch", w)
	case n > 0 && (own.Revision != uint64(n) || own.Locations[0].URL != fmt.Sprint("u:", w, ":", n)):
		t.Errorf("writer %d: %d rounds, but revision %d with %s", w, n, own.Revision, own.Locations[0].URL)
	}
	return n
}
