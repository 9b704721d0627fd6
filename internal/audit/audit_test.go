package audit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// stores returns a new store of each kind that can run on this machine.
func stores(t *testing.T) map[string]store.Store {
	t.Helper()
	p, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]store.Store{"memstore": memstore.New(), "pebblestore": p}
	if !testing.Short() {
		withDatabase(t, all)
	}
	for _, s := range all {
		t.Cleanup(func() { _ = s.Close() })
	}
	return all
}

// withDatabase adds a store in PostgreSQL.
func withDatabase(t *testing.T, all map[string]store.Store) {
	t.Helper()
	server, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		testrun.Lacks(t, fmt.Sprintf("PostgreSQL (%v)", err))
		return
	}
	t.Cleanup(func() { _ = server.Stop() })
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	if all["pgstore"], err = cachestore.New(t.Context(), s, cachestore.Options{}); err != nil {
		t.Fatal(err)
	}
}

// add makes n changes of m names, in batches, and returns the head after them.
func add(t *testing.T, s store.Store, n, m int) store.Head {
	t.Helper()
	var batch []store.Change
	for i := range n {
		rec := &store.Record{
			Name: name.MustParse(fmt.Sprintf("urn:dns:example.org:%d", i%m)), Status: nomen.Active,
			Locations: []nomen.Location{{URL: fmt.Sprintf("https://example.org/%d/%d/%d", i%m, i, m)}},
		}
		rec.Spelling = rec.Name.Key()
		batch = append(batch, store.Change{Record: rec, Expected: store.AnyRevision, Time: time.Now()})
	}
	if _, err := s.Apply(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if err := store.Settle(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	h, err := store.HeadOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func since(t *testing.T, s store.Reader, h store.Head, limit uint64) (store.Head, []store.Fault, error) {
	t.Helper()
	src, err := audit.SourceOf(s)
	if err != nil {
		t.Fatal(err)
	}
	var all []store.Fault
	got, err := audit.Since(t.Context(), src, h, limit, func(f store.Fault) { all = append(all, f) }, nil)
	return got, all, err
}

func TestSince(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			heads := []store.Head{{}}
			for i, n := range []int{1, 1, 1, 4, 249, 1, 255, 512, 1000, 3000} {
				heads = append(heads, add(t, s, n, 7+i))
			}
			last := heads[len(heads)-1]
			for _, h := range heads {
				if got, faults, err := since(t, s, h, 0); err != nil || got != last || len(faults) > 0 {
					t.Errorf("since %d: %v, %v, %v, want %v", h.Size, got, faults, err, last)
				}
			}
			// Verify in steps, as the background verification does.
			h := store.Head{}
			for h != last {
				next, faults, err := since(t, s, h, 300)
				if err != nil || len(faults) > 0 || next.Size != min(last.Size, h.Size+300) {
					t.Fatalf("from %d: %v, %v, %v", h.Size, next, faults, err)
				}
				h = next
			}
			other := heads[5]
			other.Hash[0]++
			for _, tt := range []struct {
				name, want string
				head       store.Head
			}{
				{"another hash", "its hash differs from that of the first", other},
				{"a hash of another size", "its hash differs", store.Head{Size: 2, Hash: heads[5].Hash}},
				{"too many", "the log has only", store.Head{Size: last.Size + 1, Hash: last.Hash}},
				{"very many", "the log has only", store.Head{Size: 1<<64 - 1, Hash: last.Hash}},
				{"none with a hash", "the head of no changes", store.Head{Hash: last.Hash}},
			} {
				var wrong *store.HeadError
				if _, faults, err := since(t, s, tt.head, 0); !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.want) || len(faults) > 0 {
					t.Errorf("%s: %v, %v", tt.name, err, faults)
				}
			}
		})
	}
}

// A falsified store returns other data than it has.
type falsified struct {
	audit.Source
	change func(*store.Entry) (*store.Entry, error) // changes what the method Changes yields
	past   func(*store.Change) *store.Change        // changes what the method History yields
	hide   bool                                     // the method Find yields nothing
}

func (f *falsified) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for e, err := range f.Source.Changes(ctx, after) {
			if err == nil && f.change != nil {
				e, err = f.change(e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (f *falsified) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for c, err := range store.History(ctx, f.Source, n) {
			if f.past != nil {
				if c = f.past(c); c == nil {
					continue
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (f *falsified) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	if f.hide {
		return func(func(store.Place, error) bool) {}
	}
	return store.Find(ctx, f.Source, prefix, after)
}

func TestSinceFindsDamage(t *testing.T) {
	damaged := func(seq uint64) func(e *store.Entry) (*store.Entry, error) {
		return func(e *store.Entry) (*store.Entry, error) {
			if e.Seq == seq {
				return nil, &codec.CorruptError{Key: "x", Reason: "spoilt"}
			}
			return e, nil
		}
	}
	for _, tt := range []struct {
		name  string
		store falsified
		want  []string
	}{
		{"nothing", falsified{}, nil},
		{"an altered change", falsified{change: func(e *store.Entry) (*store.Entry, error) {
			if e.Seq == 1500 {
				e = &store.Entry{Seq: e.Seq, Change: e.Change, Salt: e.Salt, Digest: [32]byte{1}}
			}
			return e, nil
		}}, []string{"2048: changes 1025 to 2048 do not match the hash of the log"}},
		{"an altered change before", falsified{change: damaged(3)}, nil},
		{"a change that cannot be read", falsified{change: damaged(1500)}, []string{"1500: change 1500 cannot be read"}},
		{"the first change", falsified{change: damaged(1001)}, []string{"1001: change 1001 cannot be read"}},
		{"the last change", falsified{change: damaged(5000)}, []string{"5000: change 5000 cannot be read", "5000: the rest of the log was not verified"}},
		{"a missing change", falsified{change: func(e *store.Entry) (*store.Entry, error) {
			if e.Seq == 1500 {
				e = &store.Entry{Seq: 1501, Change: e.Change, Salt: e.Salt, Digest: e.Digest}
			}
			return e, nil
		}}, []string{"1500: change 1500 cannot be read"}},
		{"an old revision is served", falsified{past: func(c *store.Change) *store.Change {
			if c.Record != nil && c.Record.Name.Key() == "urn:dns:example.org:5" && c.Revision() == 41 {
				return nil
			}
			return c
		}}, []string{"urn:dns:example.org:5: revision 41 is logged, but revision 40 is served"}},
		{"nothing is served", falsified{past: func(c *store.Change) *store.Change {
			if c.Record != nil && c.Record.Name.Key() == "urn:dns:example.org:5" {
				return nil
			}
			return c
		}}, []string{"urn:dns:example.org:5: revision 41 is logged, but revision 0 is served"}},
		{"an index without locations", falsified{hide: true}, []string{"is not in the index"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := memstore.New()
				defer s.Close()
				head := add(t, s, 1000, 1000)
				add(t, s, 4000, 100)
				tt.store.Source = s
				_, faults, err := since(t, &tt.store, head, 0)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range faults {
					got = append(got, f.Subject.Key+": "+f.Problem, fmt.Sprintf("%d: %s", f.Seq, f.Problem))
				}
				for _, want := range tt.want {
					if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
						t.Errorf("got %.5q, want %q", got, want)
					}
				}
				if (len(tt.want) == 0) != (len(got) == 0) || len(tt.want) == 1 && len(faults) > 1 && !tt.store.hide && tt.store.past == nil {
					t.Errorf("%d faults: %.5q", len(faults), got)
				}
			})
		})
	}
}

// Since finds a byte that has changed on disk.
func TestSinceFindsDamageOnDisk(t *testing.T) {
	dir := t.TempDir()
	open := func() *pebblestore.Store {
		s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	first := add(t, s, 2000, 2000)
	add(t, s, 3000, 3000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, file := range tables {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 8<<10 {
			continue // without the table of the store's own data, the store cannot be opened
		}
		for i := range 20 {
			b[len(b)*(i+1)/30]++
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open()
	defer s.Close()
	if _, faults, err := since(t, s, first, 0); len(faults) == 0 && !strings.Contains(fmt.Sprint(err), "cannot be read") {
		t.Errorf("%d faults, %v", len(faults), err)
	}
}
