package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

const benchNames = 100_000

// Bench measures reads of existing and missing names, listings, and durable writes by one and by
// sixteen writers.
func Bench(b *testing.B, open func(b *testing.B) store.Store) {
	b.Run("Read", func(b *testing.B) {
		s := loaded(b, open)
		b.Run("Present", func(b *testing.B) { benchGet(b, s, benchKey, true) })
		b.Run("Absent", func(b *testing.B) { benchGet(b, s, absentKey, false) })
		b.Run("List", func(b *testing.B) { benchList(b, s) })
	})
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("Apply/%dWriters", writers), func(b *testing.B) { benchApply(b, open(b), writers) })
	}
	b.Run("Load", func(b *testing.B) { benchLoad(b, open(b)) })
}

// Typical returns a record of typical size, with one location, a title and a creator.
func Typical(i int) *store.Record {
	return &store.Record{
		Name:      key(benchKey(i)),
		Status:    nomen.Active,
		Locations: []nomen.Location{{URL: fmt.Sprintf("https://repository.example.org/items/%07d/document.pdf", i), Type: "application/pdf"}},
		Metadata: nomen.Metadata{
			"title":   {fmt.Sprintf("Report %d of the committee on persistent names", i)},
			"creator": {"Committee on Persistent Names"},
		},
	}
}

func benchKey(i int) string { return fmt.Sprintf("urn:nbn:fi:example-%07d", i) }

func absentKey(i int) string { return fmt.Sprintf("urn:nbn:fi:example-%07d-x", i) }

func benchChange(i int) store.Change {
	return store.Change{Record: Typical(i), Expected: store.AnyRevision, Time: minute(0), Who: "archive"}
}

func loaded(b *testing.B, open func(b *testing.B) store.Store) store.Store {
	b.Helper()
	s := open(b)
	const batch = 1000
	for i := 0; i < benchNames; i += batch {
		load(b, s, i, batch)
	}
	return s
}

// load writes n records in one batch. The first has the number i.
func load(b *testing.B, s store.Store, i, n int) {
	changes := make([]store.Change, n)
	for j := range changes {
		changes[j] = benchChange(i + j)
	}
	if _, err := s.Apply(context.Background(), changes); err != nil {
		b.Error(err)
	}
}

func benchGet(b *testing.B, s store.Store, spell func(int) string, present bool) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, err := s.Get(context.Background(), key(spell(rand.IntN(benchNames))), time.Time{})
			if (err == nil) != present {
				b.Error(err)
			}
		}
	})
}

// benchList lists all records. One operation is one record.
func benchList(b *testing.B, s store.Store) {
	b.ReportAllocs()
	for n := 0; n < b.N; {
		for _, err := range s.List(context.Background(), store.Scan{}) {
			if n++; n > b.N || err != nil {
				break
			}
		}
	}
}

func benchApply(b *testing.B, s store.Store, writers int) {
	b.ReportAllocs()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				load(b, s, int(i), 1)
			}
		})
	}
	wg.Wait()
}

// benchLoad writes batches of 1,000 records. One operation is one record.
func benchLoad(b *testing.B, s store.Store) {
	const batch = 1000
	b.ReportAllocs()
	for i := 0; i < b.N; i += batch {
		load(b, s, i, min(batch, b.N-i))
	}
}
