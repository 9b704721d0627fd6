package registrar

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A site is a set of names whose locations move, in a store with two nodes: one reads what the
// other writes. For a store that supports only one node they are the same.
type site struct {
	*testing.T
	nodes [2]store.Store
	names []name.Name
	moves int // locations
	crash func() (store.Store, error)
}

const (
	oldSite = "https://old.example/"
	newSite = "https://new.example/a/"
)

func (s *site) relocation() Relocation {
	return Relocation{From: oldSite, To: newSite, Why: "new site"}
}

// siteBatch is the number of names changed at once.
func siteBatch() int { return testrun.Repeats(relocateBatch, 1000) }

// onSites runs a test on each kind of store.
func onSites(t *testing.T, test func(s *site)) {
	t.Run("memstore", func(t *testing.T) {
		m := memstore.New()
		test(fillSite(t, m, m, nil))
	})
	onLastingSites(t, test)
}

// onLastingSites runs a test on each kind of store that survives a crash.
func onLastingSites(t *testing.T, test func(s *site)) {
	t.Run("pebblestore", func(t *testing.T) {
		disk := vfs.NewCrashableMem()
		open := func(fs vfs.FS) (store.Store, error) {
			return pebblestore.Open(pebblestore.Options{Dir: "store", FS: fs, CacheSize: 8 << 20})
		}
		p, err := open(disk)
		if err != nil {
			t.Fatal(err)
		}
		test(fillSite(t, p, p, func() (store.Store, error) {
			return open(disk.CrashClone(vfs.CrashCloneCfg{})) // nothing of what was not synced
		}))
	})
	if testing.Short() {
		return
	}
	t.Run("pgstore", func(t *testing.T) {
		server, err := pgtest.Start(pgtest.Options{})
		if err != nil {
			testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
		}
		t.Cleanup(func() { _ = server.Stop() })
		var nodes [2]store.Store
		for i := range nodes {
			p, err := pgstore.Open(t.Context(), pgstore.Options{URL: server.URL()})
			if err == nil {
				nodes[i], err = cachestore.New(t.Context(), p, cachestore.Options{})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		test(fillSite(t, nodes[0], nodes[1], func() (store.Store, error) {
			if err := server.Kill(); err != nil {
				return nil, err
			}
			return nodes[1], server.Restart()
		}))
	})
}

// fillSite creates more names than a relocation changes at once, in an order unrelated to
// their locations; every third has two locations that move, and one that does not.
func fillSite(t *testing.T, a, b store.Store, crash func() (store.Store, error)) *site {
	t.Helper()
	s := &site{T: t, nodes: [2]store.Store{a, b}, crash: crash}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	var changes []store.Change
	for i := range 2*siteBatch() + 100 {
		rec := &store.Record{Name: name.MustParse(fmt.Sprintf("urn:dns:example.org:%05d", i)), Metadata: nomen.Metadata{"title": {"A report"}}}
		rec.Locations = []nomen.Location{{URL: fmt.Sprintf("%s%05d", oldSite, i*7919%100_003), Note: "first"}}
		if s.moves++; i%3 == 0 {
			s.moves++
			rec.Locations = append(rec.Locations, nomen.Location{URL: "https://stays.example/"}, nomen.Location{URL: fmt.Sprintf("%sz/%d", oldSite, i)})
		}
		s.names = append(s.names, rec.Name)
		changes = append(changes, store.Change{Record: rec, Time: noon})
		if len(changes) == siteBatch() || i == 2*siteBatch()+99 {
			if _, err := a.Apply(t.Context(), changes); err != nil {
				t.Fatal(err)
			}
			changes = nil
		}
	}
	return s
}

func (s *site) registrar(node int) *Registrar { return registrarOf(s.nodes[node]) }

func registrarOf(st store.Store) *Registrar {
	r := New(st, Options{})
	r.relocates = siteBatch()
	return r
}

// found returns the number of locations with a prefix in the index of a store.
func (s *site) found(st store.Store, prefix string) (n int) {
	s.Helper()
	for p, err := range store.Find(s.Context(), st, prefix, store.Place{}) {
		if err != nil || !strings.HasPrefix(p.URL, prefix) {
			s.Fatal(p, err)
		}
		n++
	}
	return n
}

// moved checks that a store has every name at the new site, with history and index, and nothing
// at the old one. Each name must have one revision by the relocation and the given number of
// others.
func (s *site) moved(st store.Store, others map[name.Name]int) {
	s.Helper()
	if err := store.Settle(s.Context(), st); err != nil {
		s.Fatal(err)
	}
	if got := s.found(st, oldSite); got != 0 {
		s.Errorf("%d locations are left at the old site", got)
	}
	if got := s.found(st, newSite); got != s.moves {
		s.Errorf("%d locations are at the new site, want %d", got, s.moves)
	}
	if n, _, err := store.Count(s.Context(), st); err != nil || n != int64(len(s.names)) {
		s.Errorf("%d records, %v, want %d", n, err, len(s.names))
	}
	records, err := store.Records(store.Fresh(s.Context()), st, s.names, false)
	if err != nil {
		s.Fatal(err)
	}
	for i, rec := range records {
		if want := uint64(2 + others[s.names[i]]); rec.Revision != want {
			s.Errorf("%s has revision %d, want %d", s.names[i], rec.Revision, want)
		}
		if rec.Locations[0].Note != "first" || len(rec.Metadata) != 1 {
			s.Errorf("%s has lost something: %+v", s.names[i], rec)
		}
	}
	for _, n := range []name.Name{s.names[0], s.names[siteBatch()], s.names[len(s.names)-1]} {
		var first *store.Change
		relocations := 0
		for c, err := range store.History(s.Context(), st, n) {
			if err != nil {
				s.Fatal(err)
			}
			if first = c; c.Why == "new site" {
				relocations++
			}
		}
		if relocations != 1 || !strings.HasPrefix(first.Record.Locations[0].URL, oldSite) {
			s.Errorf("the history of %s: %d relocations, begins with %+v", n, relocations, first)
		}
	}
	fault := func(f store.Fault) { s.Errorf("verify: %+v", f) }
	if _, err := store.Verify(s.Context(), st, fault, nil); err != nil {
		s.Errorf("verify: %v", err)
	}
}

// TestRelocateWithWriter checks that no change is lost, and all names move, while another node
// changes the same names.
func TestRelocateWithWriter(t *testing.T) {
	onSites(t, func(s *site) {
		rel := s.relocation()
		dry := rel
		dry.DryRun = true
		if sum, err := s.registrar(0).Relocate(s.Context(), Operator(), dry); err != nil || sum.Names != int64(len(s.names)) || sum.Locations != int64(s.moves) || sum.Batch != "" {
			s.Errorf("dry run: %+v, %v", sum, err)
		}
		ctx, stop := context.WithCancel(s.Context())
		defer stop()
		added := map[name.Name]int{}
		var writer sync.WaitGroup
		writer.Go(func() {
			reg, random := s.registrar(1), rand.New(rand.NewPCG(1, 2))
			for i := 0; ctx.Err() == nil && i < testrun.Repeats(2000, 300); i++ {
				n := s.names[random.IntN(len(s.names))]
				rec := &store.Record{Name: n, Locations: []nomen.Location{{URL: fmt.Sprintf("https://added.example/%d", i)}}}
				out, err := reg.Put(s.Context(), Operator(), Request{Record: rec, Fields: FieldLocations, Add: true, Expected: store.AnyRevision}, "")
				if err != nil || out.Err != nil {
					s.Error(err, out.Err)
					return
				}
				added[n]++
			}
		})
		sum, err := s.registrar(0).Relocate(s.Context(), Operator(), rel)
		stop()
		writer.Wait()
		if err != nil || sum.Names != int64(len(s.names)) || sum.Locations != int64(s.moves) || sum.Refused != 0 || sum.Batch == "" {
			s.Errorf("%+v, %v, want %d names and %d locations", sum, err, len(s.names), s.moves)
		}
		total := 0
		for _, n := range added {
			total += n
		}
		if got := s.found(s.nodes[0], "https://added.example/"); got != total || total == 0 {
			s.Errorf("%d of %d locations that others have added are there", got, total)
		}
		s.moved(s.nodes[0], added)
		s.moved(s.nodes[1], added)
	})
}

// TestRelocateAgain checks that a cancelled relocation reports its progress, and that repeating
// it does the rest.
func TestRelocateAgain(t *testing.T) {
	onSites(t, func(s *site) {
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		rel := s.relocation()
		rel.Progress = func(Relocated) { cancel() }
		first, err := s.registrar(0).Relocate(ctx, Operator(), rel)
		if !errors.Is(err, context.Canceled) || first.Names < int64(siteBatch()/2) {
			s.Fatalf("%+v, %v", first, err)
		}
		if got := s.found(s.nodes[1], newSite); int64(got) != first.Locations {
			s.Errorf("%d locations are at the new site, and %d were reported", got, first.Locations)
		}
		rest, err := s.registrar(1).Relocate(s.Context(), Operator(), s.relocation())
		if err != nil || first.Names+rest.Names != int64(len(s.names)) {
			s.Errorf("%+v and then %+v, %v, want %d names", first, rest, err, len(s.names))
		}
		s.moved(s.nodes[1], nil)
	})
}

// TestRelocateKilled checks that, when the store or its database is killed during a relocation,
// everything reported was done, and that repeating it does the rest.
func TestRelocateKilled(t *testing.T) {
	onLastingSites(t, func(s *site) {
		rel := s.relocation()
		var reported Relocated
		var after store.Store
		rel.Progress = func(sum Relocated) {
			if after != nil {
				return
			}
			reported = sum
			var err error
			if after, err = s.crash(); err != nil {
				s.Error(err)
			}
		}
		_, _ = s.registrar(0).Relocate(s.Context(), Operator(), rel) // it may have failed, or gone on
		if after == nil {
			s.Fatal("there was no crash")
		}
		s.Cleanup(func() { _ = after.Close() })
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if _, err := after.Get(store.Fresh(s.Context()), s.names[0], time.Time{}); err == nil || time.Now().After(deadline) {
				break
			}
		}
		got := s.found(after, newSite)
		if int64(got) < reported.Locations {
			s.Errorf("%d locations are at the new site, and %d were reported", got, reported.Locations)
		}
		if sum, err := registrarOf(after).Relocate(s.Context(), Operator(), s.relocation()); err != nil || sum.Locations != int64(s.moves-got) {
			s.Errorf("%+v, %v, want the other %d locations", sum, err, s.moves-got)
		}
		s.moved(after, nil)
	})
}

// TestUndoKilled checks the same of undoing a relocation: what was reported was done, and
// undoing it again does the rest.
func TestUndoKilled(t *testing.T) {
	onLastingSites(t, func(s *site) {
		moved, err := s.registrar(0).Relocate(s.Context(), Operator(), s.relocation())
		if err != nil {
			s.Fatal(err)
		}
		undoing := Undoing{Batch: moved.Batch}
		var reported Undone
		var after store.Store
		undoing.Progress = func(sum Undone) {
			if after != nil || sum.Restored < int64(len(s.names)/2) {
				return
			}
			reported = sum
			if after, err = s.crash(); err != nil {
				s.Error(err)
			}
		}
		_, _ = s.registrar(0).Undo(s.Context(), Operator(), undoing) // it may have failed, or gone on
		if after == nil {
			s.Fatal("there was no crash")
		}
		s.Cleanup(func() { _ = after.Close() })
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if _, err := after.Get(store.Fresh(s.Context()), s.names[0], time.Time{}); err == nil || time.Now().After(deadline) {
				break
			}
		}
		undoing.Progress = nil
		again, err := registrarOf(after).Undo(s.Context(), Operator(), undoing)
		if err != nil || again.Unchanged < reported.Restored || again.Restored+again.Unchanged != int64(len(s.names)) || again.Refused != 0 {
			s.Errorf("%+v, and again %+v, %v; want %d names", reported, again, err, len(s.names))
		}
		if err := store.Settle(s.Context(), after); err != nil {
			s.Fatal(err)
		}
		if got := s.found(after, oldSite); got != s.moves || s.found(after, newSite) != 0 {
			s.Errorf("%d locations are at the old site, want %d", got, s.moves)
		}
		records, err := store.Records(store.Fresh(s.Context()), after, s.names, false)
		if err != nil {
			s.Fatal(err)
		}
		for _, rec := range records {
			if rec.Revision != 3 {
				s.Errorf("%s has revision %d, want 3: it was undone twice", rec.Name, rec.Revision)
			}
		}
		fault := func(f store.Fault) { s.Errorf("verify: %+v", f) }
		if _, err := store.Verify(s.Context(), after, fault, nil); err != nil {
			s.Errorf("verify: %v", err)
		}
	})
}
