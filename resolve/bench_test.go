package resolve_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

// A shelf returns one record without allocating, so that only the engine's allocations are
// counted.
type shelf struct {
	store.Reader
	record    store.Record
	locations []nomen.Location
	lent      store.Record
	room      []nomen.Location
	authority *store.Authority
}

func newShelf(locations int, p store.Policy) *shelf {
	s := &shelf{authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Policy: p}}
	for i := range locations {
		s.locations = append(s.locations, nomen.Location{
			URL: fmt.Sprintf("https://h.example/%d", i), Type: "text/html", Lang: "en", Weight: 1 + i%3, Country: "FI", ValidFrom: "2020-01-01T00:00:00Z",
		})
	}
	s.record = *record("urn:x-a:1")
	s.room = make([]nomen.Location, locations)
	return s
}

func (s *shelf) Get(_ context.Context, n name.Name, _ time.Time) (*store.Record, error) {
	if n != s.record.Name {
		return nil, store.ErrNotFound
	}
	copy(s.room, s.locations)
	s.lent = s.record
	s.lent.Locations = s.room
	return &s.lent, nil
}

func (s *shelf) Authorities(context.Context, time.Time) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) { yield(s.authority, nil) }
}

var asBrowsersDo = nomen.Question{
	Name: name.MustParse("urn:x-a:1"), Service: nomen.I2L, Country: "fi",
	Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Languages: "fi-FI,fi;q=0.9,en-US;q=0.8,en;q=0.7",
}

// TestAllocs checks that choosing among any number of locations allocates only the answer.
func TestAllocs(t *testing.T) {
	for _, locations := range []int{1, 10, 1000} {
		e := resolve.New(newShelf(locations, store.Policy{}), resolve.Options{Refresh: time.Hour})
		got := testing.AllocsPerRun(100, func() {
			if _, err := e.Resolve(context.Background(), asBrowsersDo); err != nil {
				t.Fatal(err)
			}
		})
		if got > 1 {
			t.Errorf("I2L of %d locations: %v allocations, want 1", locations, got)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	ruled := store.Policy{Rules: rule.Set{{
		Match: "n{id:d1-9}", Locations: []nomen.Location{{URL: "https://h.example/{id}"}},
		Tests: []rule.Test{{From: "urn:x-a:n1", To: []string{"https://h.example/1"}}},
	}}}
	for _, bb := range []struct {
		name      string
		locations int
		policy    store.Policy
		change    func(*nomen.Question)
	}{
		{"I2L of 1", 1, store.Policy{}, func(*nomen.Question) {}},
		{"I2L of 1 without a header", 1, store.Policy{}, func(q *nomen.Question) { q.Accept, q.Languages = "", "" }},
		{"I2L of 10", 10, store.Policy{}, func(*nomen.Question) {}},
		{"I2Ls of 10", 10, store.Policy{}, func(q *nomen.Question) { q.Service = nomen.I2Ls }},
		{"I2L by rule", 1, ruled, func(q *nomen.Question) { q.Name = name.MustParse("urn:x-a:n123456") }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			e := resolve.New(newShelf(bb.locations, bb.policy), resolve.Options{Refresh: time.Hour})
			q := asBrowsersDo
			bb.change(&q)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Resolve(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
