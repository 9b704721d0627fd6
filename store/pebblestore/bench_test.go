package pebblestore

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

func openBench(b *testing.B) *Store {
	b.Helper()
	s, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkStore uses the disk of the directory for temporary files. What it reads is mostly in a
// memtable.
func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) store.Store { return openBench(b) })
}

// BenchmarkCompacted reads from the lowest level, through the cache. For comparison, it also calls
// the Get of Pebble itself, which does not use the filters of that level.
func BenchmarkCompacted(b *testing.B) {
	const n = 500_000
	s := openBench(b)
	ctx := context.Background()
	keys := make([]name.Name, n)
	for i := 0; i < n; i += 10_000 {
		var batch []store.Change
		for j := i; j < i+10_000; j++ {
			r := storetest.Typical(j)
			keys[j] = r.Name
			batch = append(batch, store.Change{Record: r, Time: time.Unix(0, 0), Who: "archive"})
		}
		if _, err := s.Apply(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.engine.Load().db.Compact(ctx, []byte{0}, []byte{0xff}, true); err != nil {
		b.Fatal(err)
	}
	for range s.List(ctx, store.Scan{}) { // into the cache
	}
	b.Run("Present", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Get(ctx, keys[rand.IntN(n)], time.Time{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(s.engine.Load().db.Metrics().Total().TablesSize)/n, "disk-B/record")
	})
	b.Run("Absent", func(b *testing.B) {
		absent := make([]name.Name, 1000)
		for i := range absent {
			absent[i] = name.FromKey(keys[rand.IntN(n)].Key() + "-x")
		}
		for i := 0; b.Loop(); i++ {
			if _, err := s.Get(ctx, absent[i%len(absent)], time.Time{}); err != store.ErrNotFound {
				b.Fatal(err)
			}
		}
	})
	b.Run("PlainGetAbsent", func(b *testing.B) {
		for b.Loop() {
			k := appendKey(nil, store.Subject{Kind: store.KindName, Key: keys[rand.IntN(n)].Key() + "-x"})
			if _, _, err := s.engine.Load().db.Get(k); err != pebble.ErrNotFound {
				b.Fatal(err)
			}
		}
	})
	b.Run("PlainGetPresent", func(b *testing.B) {
		for b.Loop() {
			k := appendKey(nil, store.Subject{Kind: store.KindName, Key: keys[rand.IntN(n)].Key()})
			_, closer, err := s.engine.Load().db.Get(k)
			if err != nil {
				b.Fatal(err)
			}
			_ = closer.Close()
		}
	})
}
