package publish_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
)

// benchStore returns a store with 100,000 changes, or the store in the directory that the variable
// NOMEN_LOG_STORE names. This must be a copy, because the benchmarks publish its log.
func benchStore(b *testing.B) *pebblestore.Store {
	b.Helper()
	dir := os.Getenv("NOMEN_LOG_STORE")
	made := dir == ""
	if made {
		dir = b.TempDir()
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, CacheSize: pebblestore.ServingCacheSize()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if made {
		put(b, s, 100_000, 100_000, nomen.Active)
	}
	return s
}

func benchLog(b *testing.B, s store.Store) *publish.Log {
	b.Helper()
	skey, v := newKey(b, origin, false)
	if err := s.(store.Vault).PutSecret(b.Context(), publish.SecretKey, nil); err != nil {
		b.Fatal(err)
	}
	l := open(b, options(b, s, skey, ""))
	c := step(b, l, v)
	b.Logf("%d entries", c.Size)
	return l
}

// BenchmarkReceipt makes receipts of changes from all parts of the log.
func BenchmarkReceipt(b *testing.B) {
	s := benchStore(b)
	l := benchLog(b, s)
	head, err := s.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var all []*store.Change
	for i := range uint64(1000) {
		for e, err := range s.Changes(b.Context(), i*7919*104729%head.Size) {
			if err != nil {
				b.Fatal(err)
			}
			if e.Change.Record != nil {
				all = append(all, e.Change)
			}
			break
		}
	}
	size := 0
	for i := 0; b.Loop(); i++ {
		text, err := l.Receipt(b.Context(), all[i%len(all)])
		if err != nil {
			b.Fatal(err)
		}
		size += len(text)
	}
	b.ReportMetric(float64(size)/float64(b.N), "bytes/receipt")
}

// BenchmarkTile reads tiles of level 0 that are not in memory.
func BenchmarkTile(b *testing.B) {
	s := benchStore(b)
	l := benchLog(b, s)
	head, err := s.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	full := head.Size / tlog.TileWidth
	for i := uint64(0); b.Loop(); i++ {
		if _, err := l.Tile(b.Context(), tlog.Tile{N: i * 7919 % full, Width: tlog.TileWidth - 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExport writes all tiles.
func BenchmarkExport(b *testing.B) {
	s := benchStore(b)
	benchLog(b, s)
	skey, _ := newKey(b, origin, false)
	for i := 0; b.Loop(); i++ {
		dir := filepath.Join(b.TempDir(), fmt.Sprint(i))
		if _, err := publish.Export(b.Context(), options(b, s, skey, ""), dir, false, nil); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = os.RemoveAll(dir)
		b.StartTimer()
	}
}

// BenchmarkWrites makes single changes in turns of a second each, with and without publication, and
// compares the numbers of changes. The cost is in percent of the changes without.
func BenchmarkWrites(b *testing.B) {
	s, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	skey, _ := newKey(b, origin, false)
	l := open(b, options(b, s, skey, filepath.Join(b.TempDir(), "log.json")))
	made := map[bool]int{}
	n := 0
	write := func(publishing bool) {
		var running sync.WaitGroup
		defer running.Wait()
		for end, first := time.Now().Add(time.Second), true; time.Now().Before(end); first = false {
			rec := &store.Record{Name: name.MustParse(fmt.Sprintf("urn:x-a:%d", n)), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/"}}}
			rec.Spelling = rec.Name.Key()
			if _, err := s.Apply(b.Context(), []store.Change{{Record: rec, Time: time.Now()}}); err != nil {
				b.Fatal(err)
			}
			n++
			made[publishing]++
			if first && publishing {
				running.Go(func() { _ = l.Step(b.Context()) })
			}
		}
	}
	for b.Loop() {
		write(false)
		write(true)
	}
	b.ReportMetric(100*(1-float64(made[true])/float64(made[false])), "percent")
	b.ReportMetric(float64(made[false])/float64(b.N), "changes/s")
}

// BenchmarkReads reads names in turns of a second each, with and without publication, while another
// goroutine makes 100 changes a second. It compares the numbers of reads. The cost is in percent of
// the reads without publication.
func BenchmarkReads(b *testing.B) {
	s := benchStore(b)
	skey, _ := newKey(b, origin, false)
	if err := s.PutSecret(b.Context(), publish.SecretKey, nil); err != nil {
		b.Fatal(err)
	}
	l := open(b, options(b, s, skey, filepath.Join(b.TempDir(), "log.json")))
	var names []name.Name
	for rec, err := range s.List(b.Context(), store.Scan{}) {
		if err != nil {
			b.Fatal(err)
		}
		if names = append(names, rec.Name); len(names) == 100_000 {
			break
		}
	}
	ctx, stop := context.WithCancel(b.Context())
	var writing sync.WaitGroup
	defer writing.Wait()
	defer stop()
	writing.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			rec := &store.Record{Name: name.MustParse(fmt.Sprintf("urn:x-w:%d", i%1000)), Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprint("https://example.org/", i)}}}
			rec.Spelling = rec.Name.Key()
			_, _ = s.Apply(ctx, []store.Change{{Record: rec, Expected: store.AnyRevision, Time: time.Now()}})
			time.Sleep(10 * time.Millisecond)
		}
	})
	read := map[bool]int{}
	n := 0
	turn := func(publishing bool) {
		var running sync.WaitGroup
		defer running.Wait()
		if publishing {
			running.Go(func() { _ = l.Step(b.Context()) })
		}
		for end := time.Now().Add(time.Second); time.Now().Before(end); n++ {
			if _, err := s.Get(b.Context(), names[n*7919%len(names)], time.Time{}); err != nil {
				b.Fatal(err)
			}
			read[publishing]++
		}
	}
	for b.Loop() {
		turn(false)
		turn(true)
	}
	b.ReportMetric(100*(1-float64(read[true])/float64(read[false])), "percent")
	b.ReportMetric(float64(read[false])/float64(b.N), "reads/s")
}
