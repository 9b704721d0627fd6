package resolve_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A question as of a time is answered as it was then: with the record, authority and valid
// locations of that time.
func TestAt(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }
	n, folded := name.MustParse("urn:dns:names.example:a"), name.MustParse("urn:dns:names.example:b")
	rec := func(n name.Name, status nomen.Status, url string) *store.Record {
		r := &store.Record{Name: n, Status: status, Locations: []nomen.Location{{URL: url}}}
		if status == nomen.Retired {
			r.Reason, r.Successors = "new edition", []string{"urn:dns:names.example:b"}
		}
		return r
	}
	s := memstore.New()
	soon := rec(n, nomen.Active, "https://h.example/3")
	soon.Locations[0].ValidFrom = "2026-11-04T00:00:00Z"
	soon.Locations = append(soon.Locations, nomen.Location{URL: "https://h.example/2", ValidUntil: "2026-11-04T00:00:00Z"})
	for i, c := range []store.Change{
		{Record: rec(n, nomen.Reserved, "https://h.example/0"), Time: day(1)},
		{Record: rec(n, nomen.Active, "https://h.example/private"), Time: day(2)},
		{Record: soon, Time: day(3)},
		{Record: rec(n, nomen.Retired, "https://h.example/3"), Time: day(5), Redacts: []uint64{1, 2}},
		{Record: rec(folded, nomen.Active, "https://h.example/b"), Time: day(1)},
		{Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:dns:names.example"), FoldCase: true}, Time: day(3)},
	} {
		c.Expected = store.AnyRevision
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
	}
	e := resolve.New(s, resolve.Options{Now: func() time.Time { return day(20) }})
	for _, tt := range []struct {
		title string
		name  name.Name
		at    time.Time
		url   string
		err   *nomen.Error
	}{
		{"before it was there", n, day(1).Add(-time.Millisecond), "", &nomen.Error{Kind: nomen.Unknown}},
		{"reserved, and redacted", n, day(1), "", &nomen.Error{Kind: nomen.Unknown}},
		{"redacted", n, day(2), "", &nomen.Error{Kind: nomen.Denied}},
		{"by the validity then", n, day(3), "https://h.example/2", nil},
		{"by the validity a day later", n, day(4), "https://h.example/3", nil},
		{"folded by the authority of then", name.MustParse("urn:dns:names.example:B"), day(3), "https://h.example/b", nil},
		{"before the authority folded", name.MustParse("urn:dns:names.example:B"), day(2), "", &nomen.Error{Kind: nomen.Unknown}},
	} {
		a, err := e.Resolve(t.Context(), nomen.Question{Name: tt.name, Service: nomen.I2L, At: tt.at})
		switch {
		case tt.err != nil:
			var got *nomen.Error
			if !errors.Is(err, tt.err) || !errors.As(err, &got) || got.Answer != nil || got.Legal != (tt.err.Kind == nomen.Denied) {
				t.Errorf("%s: %+v, %v, want %v", tt.title, a, err, tt.err.Kind)
			}
		case err != nil || a.Locations[0].URL != tt.url:
			t.Errorf("%s: %+v, %v, want %s", tt.title, a, err, tt.url)
		}
	}
	if a, err := e.Resolve(t.Context(), nomen.Question{Name: n, Service: nomen.I2L, At: day(5)}); err != nil || a.Redirect != folded.Key() || a.Revision != 4 {
		t.Errorf("retired: %+v, %v", a, err)
	}
	if a, err := e.Resolve(t.Context(), nomen.Question{Name: n, Service: nomen.I2C, At: day(4)}); err != nil || a.Revision != 3 || !a.Modified.Equal(day(3)) {
		t.Errorf("described: %+v, %v", a, err)
	}
}

// TestValidityBounds checks that the time of an answer is that of the last change of its valid
// locations, and that the answer is cached no longer than until the next change. At the time of a
// change, the new state already applies.
func TestValidityBounds(t *testing.T) {
	const from, until = "2026-11-20T12:00:00Z", "2026-11-20T14:30:00.5+01:00"
	begins, ends := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 13, 30, 0, 5e8, time.UTC)
	modified := begins.Add(-time.Hour)
	s := memstore.New()
	defer s.Close()
	n := name.MustParse("urn:x-a:1")
	if _, err := s.Apply(t.Context(), []store.Change{
		{Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Policy: store.Policy{MaxAge: 600}}, Time: modified},
		{Record: &store.Record{Name: n, Status: nomen.Active, Locations: []nomen.Location{
			{URL: "https://h.example/new", ValidFrom: from, ValidUntil: until}, {URL: "https://h.example/old", Priority: 2},
		}}, Time: modified},
	}); err != nil {
		t.Fatal(err)
	}
	var now time.Time
	e := resolve.New(s, resolve.Options{Now: func() time.Time { return now }})
	for _, tt := range []struct {
		now     time.Time
		url     string
		changed time.Time
		age     time.Duration
	}{
		{modified, "https://h.example/old", time.Time{}, 600 * time.Second},
		{begins.Add(-3 * time.Second), "https://h.example/old", time.Time{}, 3 * time.Second},
		{begins.Add(-1), "https://h.example/old", time.Time{}, 1},
		{begins, "https://h.example/new", begins, 600 * time.Second},
		{ends.Add(-time.Second), "https://h.example/new", begins, time.Second},
		{ends.Add(-1), "https://h.example/new", begins, 1},
		{ends, "https://h.example/old", ends, 600 * time.Second},
		{ends.AddDate(1, 0, 0), "https://h.example/old", ends, 600 * time.Second},
	} {
		now = tt.now
		for _, service := range []nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2C} {
			a, err := e.Resolve(t.Context(), nomen.Question{Name: n, Service: service})
			if err != nil || a.Locations[0].URL != tt.url || !a.Changed.Equal(tt.changed) || !a.Modified.Equal(modified) || a.MaxAge != tt.age {
				t.Errorf("%s at %v: %+v, %v, want %+v", service, now, a, err, tt)
			}
		}
	}
	a, err := e.Resolve(t.Context(), nomen.Question{Name: n, Service: nomen.I2L, At: ends.Add(-time.Second)})
	if err != nil || a.Locations[0].URL != "https://h.example/new" || a.MaxAge != 600*time.Second || !a.Changed.IsZero() {
		t.Errorf("as of then, which stays so: %+v, %v", a, err)
	}
}
