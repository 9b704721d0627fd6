package pgstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Operations that read many records rest while requests are answered.
func TestPace(t *testing.T) {
	s := open(t, newURL(t, shared))
	changes := make([]store.Change, 3000)
	for i := range changes {
		n := name.FromKey(fmt.Sprintf("urn:x-a:%06d", i))
		changes[i] = store.Change{Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active}, Expected: store.AnyRevision, Time: time.Unix(1, 0)}
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if err := store.Settle(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p := pacer.New()
	for _, tt := range []struct {
		what string
		do   func(ctx context.Context) error
	}{
		{"List", func(ctx context.Context) error {
			for _, err := range s.List(ctx, store.Scan{}) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Changes", func(ctx context.Context) error {
			for _, err := range s.Changes(ctx, 0) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Verify", func(ctx context.Context) error {
			_, err := s.Verify(ctx, func(f store.Fault) { t.Error(f) }, nil)
			return err
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
