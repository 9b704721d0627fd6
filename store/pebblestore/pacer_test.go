package pebblestore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Everything that reads or writes many records rests while requests are answered, and so do flushes
// and compactions.
func TestPace(t *testing.T) {
	const n = 20_000 // so that each step takes several slices of a pacer
	p := pacer.New()
	s, err := Open(Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 1 << 20, Pacer: p})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := make([]name.Name, n)
	changes := make([]store.Change, n)
	for i := range changes {
		all[i] = name.FromKey(fmt.Sprintf("urn:x-a:%06d", i))
		changes[i] = store.Change{Record: &store.Record{Name: all[i], Spelling: all[i].Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprint("https://a.example/", i)}}}, Expected: store.AnyRevision, Time: time.Unix(1, 0)}
	}
	var entries []*store.Entry
	for _, tt := range []struct {
		what string
		do   func(ctx context.Context) error
	}{
		{"Apply", func(ctx context.Context) error { _, err := s.Apply(ctx, changes); return err }},
		{"Tidy", func(context.Context) error { return s.Tidy(t.Context()) }}, // its compactions rest, with any context
		{"List", func(ctx context.Context) error {
			for _, err := range s.List(ctx, store.Scan{}) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Changes", func(ctx context.Context) error {
			for e, err := range s.Changes(ctx, 0) {
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
			return nil
		}},
		{"Find", func(ctx context.Context) error {
			for _, err := range s.Find(ctx, "https://", store.Place{}) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Records", func(ctx context.Context) error { _, err := s.Records(ctx, all, false); return err }},
		{"Verify", func(ctx context.Context) error {
			_, err := s.Verify(ctx, func(f store.Fault) { t.Error(f) }, nil)
			return err
		}},
		{"Load", func(ctx context.Context) error {
			other := openMem(t, vfs.NewMem())
			return other.Load(ctx, func(yield func(*store.Entry, error) bool) {
				for _, e := range entries {
					if !yield(e, nil) {
						return
					}
				}
			})
		}},
	} {
		before := p.Rested()
		p.Request()
		if err := tt.do(pacer.With(t.Context(), p)); err != nil {
			t.Fatalf("%s: %v", tt.what, err)
		}
		if p.Rested()-before < time.Millisecond {
			t.Errorf("%s did not rest", tt.what)
		}
	}
}
