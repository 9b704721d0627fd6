package pgstore

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
	"github.com/nomen-project/nomen/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) store.Store { return open(b, newURL(b, shared)) })
}

// BenchmarkDurable writes one record per operation, new or existing, with commits that wait for the
// disk.
func BenchmarkDurable(b *testing.B) {
	server, err := pgtest.Start(pgtest.Options{Fsync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop() })
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("Plain/%dWriters", writers), func(b *testing.B) { plain(b, newURL(b, server), writers) })
		s := open(b, newURL(b, server))
		for _, kind := range []string{"New", "Changed"} {
			b.Run(fmt.Sprintf("%s/%dWriters", kind, writers), func(b *testing.B) {
				var next atomic.Int64
				var wg sync.WaitGroup
				for range writers {
					wg.Go(func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							c := store.Change{Record: storetest.Typical(int(i)), Expected: store.AnyRevision, Time: time.Unix(1_700_000_000, 0), Who: "archive"}
							c.Record.Reason = fmt.Sprint(kind, b.N)
							if _, err := s.Apply(context.Background(), []store.Change{c}); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// plain measures PostgreSQL alone: one row per operation, in a table with a primary key,
// with one connection per writer.
func plain(b *testing.B, url string, writers int) {
	execute(b, url, "create table plain (key text primary key, value bytea)")
	var next atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			c, err := pgx.Connect(context.Background(), url)
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close(context.Background())
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				r := storetest.Typical(int(i))
				value := codec.Append(nil, &store.Change{Record: r, Time: time.Unix(1_700_000_000, 0)})
				_, err := c.Exec(context.Background(), "insert into plain values ($1, $2) on conflict (key) do update set value = excluded.value", r.Name.Key(), value)
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	execute(b, url, "drop table plain")
	b.StartTimer()
}

// typicalEntries yields the entries of a store with n typical records.
func typicalEntries(n int) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for i := range n {
			r := storetest.Typical(i)
			r.Spelling, r.Modified, r.Revision = r.Name.Key(), time.Unix(1_700_000_000, 0).UTC(), 1
			e := &store.Entry{Seq: uint64(i) + 1, Change: &store.Change{Record: r, Time: r.Modified, Who: "archive"}}
			e.Salt[0], e.Salt[1], e.Salt[2], e.Salt[3] = byte(i), byte(i>>8), byte(i>>16), 1
			e.Digest = codec.Digest(e.Salt, codec.Append(nil, e.Change))
			if !yield(e, nil) {
				return
			}
		}
	}
}

// BenchmarkLoad loads records from the feed of another store, one record per operation. It
// reports the bytes per record in tables and indexes.
func BenchmarkLoad(b *testing.B) {
	url := newURL(b, shared)
	s := open(b, url)
	b.ReportAllocs()
	if err := s.Load(b.Context(), typicalEntries(b.N)); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	c, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(context.Background())
	for _, table := range []string{"present", "place", "log"} {
		var size int64
		if err := c.QueryRow(b.Context(), "select pg_total_relation_size($1::text::regclass)", "nomen_"+table).Scan(&size); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size)/float64(b.N), table+"-B/op")
	}
}

// BenchmarkLoaded reads a store with many records, one record per operation.
func BenchmarkLoaded(b *testing.B) {
	const n = 100_000
	s := open(b, newURL(b, shared))
	if err := s.Load(b.Context(), typicalEntries(n)); err != nil {
		b.Fatal(err)
	}
	b.Run("Get", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := s.Get(b.Context(), storetest.Typical(rand.N(n)).Name, time.Time{}); err != nil {
					b.Error(err)
				}
			}
		})
	})
	for name, read := range map[string]func() error{
		"Changes": func() error { return drain(s.Changes(b.Context(), 0)) },
		"List":    func() error { return drain(s.List(b.Context(), store.Scan{})) },
		"Find":    func() error { return drain(s.Find(b.Context(), "", store.Place{})) },
		"Verify": func() error {
			_, err := s.Verify(b.Context(), func(f store.Fault) { b.Error(f) }, nil)
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; i < b.N; i += n {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func drain[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkSeal seals changes, one per operation.
func BenchmarkSeal(b *testing.B) {
	var e edge
	entry := entry{kind: store.KindName, key: "urn:nbn:fi:example-0000000", revision: 1, leaf: ledger.LeafHash([]byte("x"))}
	b.ReportAllocs()
	for b.Loop() {
		e.add(nil, &entry)
	}
}
