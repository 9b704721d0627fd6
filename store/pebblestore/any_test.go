package pebblestore

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// TestCrashAnything does random operations, and lets the machine crash between and during
// operations. Each crash loses a random part of the data that was not synced. After a crash, the
// store must have the same content as a store in memory with the same changes, with or without the
// operation that the crash interrupted. Then the test continues with this store.
func TestCrashAnything(t *testing.T) {
	testrun.Checks(t, 15)
	rapid.Check(t, func(r *rapid.T) {
		disk := vfs.NewCrashableMem()
		model := memstore.New()
		s := openAny(r, disk)
		defer func() { _ = s.Close() }()
		crash := func(r *rapid.T) *vfs.MemFS {
			seed := rapid.Uint64().Draw(r, "seed")
			return disk.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: rapid.IntRange(0, 100).Draw(r, "percent"), RNG: rand.New(rand.NewPCG(seed, 1)),
			})
		}
		follow := func(clone *vfs.MemFS) {
			_ = s.Close()
			disk = clone
			s = openAny(r, disk)
		}
		r.Repeat(map[string]func(*rapid.T){
			"apply": func(r *rapid.T) {
				changes := rapid.SliceOfN(rapid.Custom(crashedChange), 1, 5).Draw(r, "changes")
				_, err := s.Apply(t.Context(), changes)
				_, want := model.Apply(t.Context(), changes)
				if (err == nil) != (want == nil) {
					r.Fatalf("Apply: %v, want %v", err, want)
				}
			},
			"flush": func(r *rapid.T) {
				if err := s.engine.Load().db.Flush(); err != nil {
					r.Fatal(err)
				}
			},
			"backup": func(r *rapid.T) {
				if err := s.Backup(t.Context(), "backup", nil); err != nil {
					r.Fatal(err)
				}
			},
			"crash": func(r *rapid.T) {
				follow(crash(r))
				sameStores(t, r, s, model)
			},
			"crash while writing": func(r *rapid.T) {
				changes := rapid.SliceOfN(rapid.Custom(crashedChange), 1, 5).Draw(r, "changes")
				before := everything(t, r, model)
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = s.Apply(t.Context(), changes)
				}()
				clone := crash(r)
				<-done
				follow(clone)
				got := everything(t, r, s)
				if cmp.Equal(got, before) {
					return
				}
				_, _ = model.Apply(t.Context(), changes) // if the operation was written before the crash, the model needs it too; otherwise the comparison fails
				sameStores(t, r, s, model)
			},
			"": func(r *rapid.T) {},
		})
		follow(crash(r))
		sameStores(t, r, s, model)
		if _, err := s.Verify(t.Context(), func(f store.Fault) { r.Errorf("verify: %+v", f) }, nil); err != nil {
			r.Error(err)
		}
	})
}

func openAny(r *rapid.T, disk vfs.FS) *Store {
	s, err := Open(Options{Dir: "store", FS: disk, CacheSize: 1 << 20})
	if err != nil {
		r.Fatalf("Open: %v", err)
	}
	return s
}

func sameStores(t *testing.T, r *rapid.T, got, want store.Store) {
	if diff := cmp.Diff(everything(t, r, got), everything(t, r, want)); diff != "" {
		r.Fatalf("(-got +want)\n%s", diff[:min(len(diff), 2000)])
	}
}

// everything returns all content of a store as text.
func everything(t *testing.T, r *rapid.T, s store.Store) (all []string) {
	for e, err := range store.Changes(t.Context(), s, 0) {
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, fmt.Sprint(e.Seq, " ", changeText(e.Change)))
	}
	for rec, err := range s.List(t.Context(), store.Scan{}) {
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%+v", *rec))
	}
	for a, err := range s.Authorities(t.Context(), noTime) {
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%+v", *a))
	}
	for p, err := range store.Find(t.Context(), s, "", store.Place{}) {
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, fmt.Sprint(p))
	}
	n, _, err := store.Count(t.Context(), s)
	return append(all, fmt.Sprint(n, err))
}

// crashedChange draws a change of one of a few names.
func crashedChange(r *rapid.T) store.Change {
	n := name.FromKey(fmt.Sprint("urn:x-c:", rapid.IntRange(0, 5).Draw(r, "name")))
	c := store.Change{Expected: store.AnyRevision, Time: time.Unix(int64(rapid.IntRange(0, 9).Draw(r, "time")), 0).UTC(), Who: "archive"}
	switch rapid.IntRange(0, 9).Draw(r, "kind") {
	case 0:
		c.Delete = n
	case 1:
		c.Authority = &store.Authority{Prefix: name.PrefixFromKey("urn:x-c"), Contact: fmt.Sprint(rapid.IntRange(0, 3).Draw(r, "contact"))}
	default:
		c.Record = &store.Record{
			Name: n, Status: rapid.SampledFrom([]nomen.Status{nomen.Reserved, nomen.Active, nomen.Active, nomen.Retired}).Draw(r, "status"),
			Locations: []nomen.Location{{URL: fmt.Sprint("u:", rapid.IntRange(0, 4).Draw(r, "url"))}},
		}
		if rapid.IntRange(0, 5).Draw(r, "redacting") == 0 {
			c.Redacts = []uint64{rapid.Uint64Range(1, 3).Draw(r, "redacts")}
		}
	}
	return c
}
