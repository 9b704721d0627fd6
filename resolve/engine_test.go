package resolve_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/nomentest"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/uri"
)

func TestEngine(t *testing.T) {
	nomentest.Run(t, func(t *testing.T, records []*store.Record, authorities []*store.Authority) nomen.Resolver {
		return resolve.New(fill(t, records, authorities), resolve.Options{Fetch: nomentest.Fetch})
	}, nomentest.Capabilities{Timed: true, Ruled: true, Fetches: true})
}

// fill returns a store in memory with these records and authorities.
func fill(t testing.TB, records []*store.Record, authorities []*store.Authority) store.Store {
	t.Helper()
	s := memstore.New()
	t.Cleanup(func() { _ = s.Close() })
	var changes []store.Change
	for _, r := range records {
		changes = append(changes, store.Change{Record: r, Expected: store.AnyRevision, Time: time.Now()})
	}
	for _, a := range authorities {
		changes = append(changes, store.Change{Authority: a, Expected: store.AnyRevision, Time: time.Now()})
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	return s
}

func record(spelling string, locations ...nomen.Location) *store.Record {
	return &store.Record{Name: name.MustParse(spelling), Spelling: spelling, Locations: locations}
}

func TestFoldCase(t *testing.T) {
	p := name.MustParsePrefix("urn:dns:folds.example")
	e := resolve.New(fill(t, []*store.Record{
		record("urn:dns:folds.example:alb002", nomen.Location{URL: "https://folds.example/2"}),
		record("urn:dns:strict.example:alb002", nomen.Location{URL: "https://strict.example/2"}),
	}, []*store.Authority{{Prefix: p, FoldCase: true}}), resolve.Options{})
	ask := func(s string) error {
		_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse(s), Service: nomen.I2L})
		return err
	}
	if err := ask("urn:dns:folds.example:ALB002"); err != nil {
		t.Errorf("Y95-04: an authority that folds case: %v", err)
	}
	if err := ask("urn:dns:strict.example:ALB002"); !errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) {
		t.Errorf("Y95-04: an authority that does not: got %v, want unknown", err)
	}
}

func TestSameElementOfAnotherAuthority(t *testing.T) {
	e := resolve.New(fill(t, []*store.Record{record("urn:dns:a.example:xyz", nomen.Location{URL: "https://a.example/"})}, nil), resolve.Options{})
	for _, other := range []string{"urn:dns:b.example:xyz", "urn:dns:sub.a.example:xyz", "urn:dns:example:xyz"} {
		_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse(other)})
		if !errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) {
			t.Errorf("Y95-10, Y95-11: %s: got %v, want unknown", other, err)
		}
	}
}

func TestValidity(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	e := resolve.New(fill(t, []*store.Record{record("urn:example:a",
		nomen.Location{URL: "https://h.example/past", ValidUntil: "2026-06-01T00:00:00Z"},
		nomen.Location{URL: "https://h.example/future", ValidFrom: "2026-06-01T00:00:01Z"},
		nomen.Location{URL: "https://h.example/now", ValidFrom: "2026-06-01T00:00:00Z", ValidUntil: "2026-06-02T00:00:00Z"},
	)}, nil), resolve.Options{Now: func() time.Time { return now }})
	a, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:example:a"), Service: nomen.I2Ls})
	if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "https://h.example/now" {
		t.Errorf("got %v, %v; want the location that is valid now", a, err)
	}
}

func TestAsOfThen(t *testing.T) {
	s := memstore.New()
	defer s.Close()
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	for i, url := range []string{"https://h.example/1", "https://h.example/2"} {
		rec := record("urn:example:a", nomen.Location{URL: url})
		if _, err := s.Apply(t.Context(), []store.Change{{Record: rec, Expected: uint64(i), Time: day(10 * (i + 1))}}); err != nil {
			t.Fatal(err)
		}
	}
	e := resolve.New(s, resolve.Options{})
	ask := func(at time.Time) (*nomen.Answer, error) {
		return e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:example:a"), Service: nomen.I2L, At: at})
	}
	if a, err := ask(day(15)); err != nil || a.Locations[0].URL != "https://h.example/1" {
		t.Errorf("between the changes: %v, %v", a, err)
	}
	if a, err := ask(time.Time{}); err != nil || a.Locations[0].URL != "https://h.example/2" {
		t.Errorf("now: %v, %v", a, err)
	}
	if a, err := ask(day(5)); !errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) {
		t.Errorf("before it was: %v, %v", a, err)
	}
}

func TestFragmentOfTheSubjectIsDropped(t *testing.T) {
	e := resolve.New(fill(t, []*store.Record{record("https://purl.example/a", nomen.Location{URL: "https://h.example/"})}, nil), resolve.Options{})
	if _, err := e.Resolve(t.Context(), nomen.Question{Subject: uri.MustParse("https://PURL.example/a#f")}); err != nil {
		t.Errorf("N12-38: %v", err)
	}
}

func TestStoreFailureIsNoAnswer(t *testing.T) {
	s := memstore.New()
	e := resolve.New(s, resolve.Options{})
	_ = s.Close()
	_, err := e.Resolve(context.Background(), nomen.Question{Name: name.MustParse("urn:example:a")})
	var answer *nomen.Error
	if err == nil || errors.As(err, &answer) {
		t.Errorf("got %v, want a failure that says nothing about the name", err)
	}
}

func BenchmarkResolve(b *testing.B) {
	var records []*store.Record
	for _, n := range []string{"urn:ietf:rfc:2648", "urn:ietf:rfc:2141", "urn:ietf:rfc:8141"} {
		records = append(records, record(n, nomen.Location{URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain"}))
	}
	p := name.MustParsePrefix("urn:ietf:rfc")
	e := resolve.New(fill(b, records, []*store.Authority{{Prefix: p}}), resolve.Options{})
	for _, service := range []nomen.Service{nomen.I2L, nomen.I2C} {
		b.Run(string(service), func(b *testing.B) {
			b.ReportAllocs()
			q := nomen.Question{Name: records[0].Name, Service: service, Accept: "text/html,*/*;q=0.8"}
			for b.Loop() {
				if _, err := e.Resolve(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
