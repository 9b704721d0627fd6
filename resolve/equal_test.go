package resolve_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// TestEqualSince checks that an answer to I=I is as old as the later of the two records.
func TestEqualSince(t *testing.T) {
	s := fill(t, nil, nil)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	for i, element := range []string{"1", "2"} {
		if _, err := s.Apply(t.Context(), []store.Change{{Record: record("urn:x-a:" + element), Expected: store.AnyRevision, Time: day(1 + i)}}); err != nil {
			t.Fatal(err)
		}
	}
	e := resolve.New(s, resolve.Options{})
	for _, tt := range []struct{ a, b string }{{"urn:x-a:1", "urn:x-a:2"}, {"urn:x-a:2", "urn:x-a:1"}} {
		a, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse(tt.a), Other: uri.MustParse(tt.b), Service: nomen.IisI})
		if err != nil || a.Same || !a.Modified.Equal(day(2)) {
			t.Errorf("%s and %s: %+v, %v", tt.a, tt.b, a, err)
		}
	}
}

func TestEqual(t *testing.T) { // RFC 2483, 4.9
	one, two, three := record("urn:x-a:1"), record("urn:x-a:2"), record("urn:x-a:3")
	one.SameAs = []string{"urn:x-a:2", "https://h.example/1", "urn:ISBN:0-395-36341-1"}
	three.SameAs = []string{"HTTPS://H.example:443/1"}
	d := newDesk(t, store.Policy{Rules: numbers}, resolve.Options{}, one, two, three, record("urn:x-a:4"),
		&store.Record{Name: name.MustParse("urn:x-a:r"), Status: nomen.Reserved, SameAs: []string{"urn:x-a:4"}},
		&store.Record{Name: name.MustParse("urn:x-a:gone"), Status: nomen.Retired, SameAs: []string{"urn:x-a:4"}})
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"urn:x-a:1", "URN:X-A:1", true},
		{"urn:x-a:none", "URN:x-a:none", true},
		{"urn:x-a:1", "urn:x-a:2", true},
		{"urn:x-a:2", "urn:x-a:1", true},
		{"urn:x-a:1", "urn:x-a:3", true}, // both names have the same third name as an alias
		{"urn:x-a:1", "urn:isbn:9780395363416", true},
		{"https://h.example/1", "urn:x-a:1", true},
		{"urn:x-a:1", "urn:x-a:4", false},
		{"urn:x-a:1", "urn:x-a:none", false},
		{"urn:x-a:4", "urn:x-a:r", false},
		{"urn:x-a:n6", "urn:x-b:6", true}, // by rule
		{"urn:x-b:6", "urn:x-a:n6", true},
		{"urn:x-a:n6", "urn:x-b:7", false},
		{"urn:x-a:1", "https://h.example/1#part", true},
	} {
		a, err := d.engine.Resolve(t.Context(), nomen.Question{Subject: uri.MustParse(tt.a), Other: uri.MustParse(tt.b), Service: nomen.IisI})
		if err != nil || a.Same != tt.want || a.Service != nomen.IisI {
			t.Errorf("%s and %s: %+v, %v, want %v", tt.a, tt.b, a, err, tt.want)
			continue
		}
		if always := strings.EqualFold(tt.a, tt.b); a.Modified.IsZero() != always {
			t.Errorf("%s and %s: since %v", tt.a, tt.b, a.Modified)
		}
	}
	for _, tt := range []struct {
		a, b string
		want nomen.Kind
	}{
		{"urn:x-a:none", "urn:x-a:neither", nomen.Unknown},
		{"urn:x-a:r", "urn:x-a:none", nomen.Unknown},
		{"urn:x-a:1", "urn:x:1", nomen.Malformed},
		{"urn:x:1", "urn:x-a:1", nomen.Malformed},
		{"urn:x-a:gone", "urn:x-a:4", nomen.Gone},
		{"urn:x-a:4", "urn:x-a:gone", nomen.Gone},
	} {
		_, err := d.engine.Resolve(t.Context(), nomen.Question{Subject: uri.MustParse(tt.a), Other: uri.MustParse(tt.b), Service: nomen.IisI})
		if !errors.Is(err, &nomen.Error{Kind: tt.want}) {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, err, tt.want)
		}
	}
	d.refuses(nomen.Malformed, nomen.IisI, "1")
}
