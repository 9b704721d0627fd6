package registrar

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// at creates a name of example.org with locations.
func (d *desk) at(element string, status nomen.Status, urls ...string) name.Name {
	d.Helper()
	rec := &store.Record{Name: name.MustParse("urn:dns:example.org:" + element), Status: status}
	for _, u := range urls {
		rec.Locations = append(rec.Locations, nomen.Location{URL: u, Note: "of " + element})
	}
	if status == nomen.Retired {
		rec.Reason = "gone"
	}
	out := d.put(rec)
	if out.Err != nil {
		d.Fatal(out.Err)
	}
	return out.Name
}

func (d *desk) urls(n name.Name) []string {
	d.Helper()
	rec, err := d.Get(d.ctx, n)
	if err != nil {
		d.Fatal(err)
	}
	var all []string
	for _, l := range rec.Locations {
		all = append(all, l.URL)
	}
	return all
}

func (d *desk) relocate(a Actor, rel Relocation) Relocated {
	d.Helper()
	sum, err := d.Relocate(d.ctx, a, rel)
	sum.Batch = "" // it is random
	if err != nil {
		d.Fatal(err)
	}
	return sum
}

func TestRelocate(t *testing.T) {
	d := newDesk(t)
	two := d.at("two", "", "https://old.example/b", "https://other.example/", "https://old.example/a")
	one := d.at("one", nomen.Reserved, "https://old.example")
	host := d.at("host", "", "https://old.example.org/x", "https://old.example:80/x")
	gone := d.at("gone", nomen.Retired, "https://old.example/gone")
	both := d.at("both", "", "https://new.example/s/both", "https://old.example/both")

	rel := Relocation{From: "https://old.example", To: "https://new.example/s", Why: "new site", DryRun: true}
	var moved []string
	rel.Moved = func(n name.Name, from, to string) { moved = append(moved, fmt.Sprintf("%s %s %s", n, from, to)) }
	want := Relocated{Names: 3, Locations: 4, Retired: 1}
	if sum := d.relocate(Operator(), rel); sum != want {
		t.Errorf("dry run: %+v, want %+v", sum, want)
	}
	if got := d.urls(one); got[0] != "https://old.example" {
		t.Errorf("a dry run has changed %s", got)
	}
	dry := moved
	moved, rel.DryRun = nil, false
	if sum := d.relocate(Operator(), rel); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	if diff := cmp.Diff(moved, dry); diff != "" || len(dry) != 4 {
		t.Errorf("a dry run tells something else:\n%s", diff)
	}
	for n, want := range map[name.Name][]string{
		two:  {"https://new.example/s/b", "https://other.example/", "https://new.example/s/a"},
		one:  {"https://new.example/s"},
		host: {"https://old.example.org/x", "https://old.example:80/x"},
		gone: {"https://old.example/gone"},
		both: {"https://new.example/s/both"},
	} {
		if got := d.urls(n); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", n, got, want)
		}
	}
	if last := d.history(two)[1]; last.Why != "new site" || last.Record.Locations[0].Note != "of two" {
		t.Errorf("the change of %s: %+v", two, last)
	}
	if sum := d.relocate(Operator(), rel); sum != (Relocated{Retired: 1}) {
		t.Errorf("once more: %+v", sum)
	}
	rel.Retired = true
	if sum := d.relocate(Operator(), rel); sum != (Relocated{Names: 1, Locations: 1}) || d.urls(gone)[0] != "https://new.example/s/gone" {
		t.Errorf("with retired names: %+v, %q", sum, d.urls(gone))
	}
}

// If To begins with From, repeating a relocation changes nothing.
func TestRelocateBelow(t *testing.T) {
	d := newDesk(t)
	n := d.at("a", "", "https://old.example/x")
	rel := Relocation{From: "https://old.example/", To: "https://old.example/archive/"}
	for range 2 {
		d.relocate(Operator(), rel)
		if got := d.urls(n); got[0] != "https://old.example/archive/x" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestRelocateManyAndRights(t *testing.T) {
	d := newDesk(t)
	d.authority(&store.Authority{Prefix: name.MustParsePrefix("urn:dns:example.com"), Owners: []string{"a", "b"}})
	for i := range 2*relocateBatch + 1 {
		d.at(fmt.Sprint(i), "", fmt.Sprintf("https://old.example/%d", i))
	}
	foreign := name.MustParse("urn:dns:example.com:x")
	d.put(&store.Record{Name: foreign, Locations: []nomen.Location{{URL: "https://old.example/x"}}})
	steps := 0
	rel := Relocation{From: "https://old.example/", To: "http://new.example/", Progress: func(Relocated) { steps++ }}
	editor := editor("urn:dns:example.org")
	const all = 2*relocateBatch + 1
	if sum := d.relocate(editor, rel); sum != (Relocated{Names: all, Locations: all}) || steps != 3 {
		t.Errorf("%+v in %d steps", sum, steps)
	}
	if got := d.urls(foreign); got[0] != "https://old.example/x" {
		t.Errorf("a name of others: %q", got)
	}
	if sum := d.relocate(actor(Reader), Relocation{From: "http://new.example/", To: "https://x.example/"}); sum != (Relocated{}) {
		t.Errorf("a reader: %+v", sum)
	}
}

func TestRelocateRefuses(t *testing.T) {
	d := newDesk(t)
	n := d.at("a", "", "https://old.example/q?"+"x")
	for _, c := range []struct {
		field, rule string
		rel         Relocation
	}{
		{"from", "prefix", Relocation{To: "https://new.example/"}},
		{"to", "scheme", Relocation{From: "https://old.example/", To: "javascript:alert(1)//"}},
		{"why", "text", Relocation{From: "https://old.example/", To: "https://new.example/", Why: "\x00"}},
		// The rest of an escape would become text.
		{"from", "pct-encoded", Relocation{From: "https://old.example/a%", To: "https://new.example/"}},
		{"from", "pct-encoded", Relocation{From: "https://old.example/a%2", To: "https://new.example/"}},
		{"to", "pct-encoded", Relocation{From: "https://old.example/", To: "https://new.example/%2"}},
		// https://old.example/a.test would become https://new.examplea.test.
		{"to", "host", Relocation{From: "https://old.example/", To: "https://new.example"}},
		{"to", "host", Relocation{From: "https://old.example/", To: "https://new.example:80"}},
		{"to", "host", Relocation{From: "mailto:", To: "https://new.example"}},
		{"to", "slash", Relocation{From: "https://old.example", To: "https://new.example/"}},
	} {
		var refusal *RefusalError
		if sum, err := d.Relocate(d.ctx, Operator(), c.rel); !errors.As(err, &refusal) || refusal.Field != c.field || refusal.Rule != c.rule || sum != (Relocated{}) {
			t.Errorf("%q to %q: %v, want %s of %s", c.rel.From, c.rel.To, err, c.rule, c.field)
		}
	}
	for _, rel := range []Relocation{
		{From: "https://old.example/a%20", To: "https://new.example/"},
		{From: "https://old.example", To: "https://new.example"},
		{From: "https://old.example", To: "https://new.example:8080"},
		{From: "https://old.example/", To: "https://new.example/?u="},
		{From: "https://old.example", To: "https://new.example/old"},
	} {
		rel.DryRun = true
		if _, err := d.Relocate(d.ctx, Operator(), rel); err != nil {
			t.Errorf("%q to %q: %v", rel.From, rel.To, err)
		}
	}
	var refused []error
	rel := Relocation{From: "https://old.example/q", To: "https://new.example/#", Refused: func(_ name.Name, err error) { refused = append(refused, err) }}
	d.at("b", "", "https://old.example/q#f")
	if sum := d.relocate(Operator(), rel); sum != (Relocated{Names: 1, Locations: 1, Refused: 1}) || len(refused) != 1 {
		t.Errorf("a location that would be no URI: %+v, %v", sum, refused)
	}
	if got := d.urls(n); got[0] != "https://new.example/#?x" {
		t.Errorf("got %q", got)
	}
}

// A busyStore changes every record concurrently at the beginning of a relocation.
type busyStore struct {
	store.Store
	meanwhile func()
}

func (s *busyStore) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if s.meanwhile != nil {
		f := s.meanwhile
		s.meanwhile = nil
		f()
	}
	return s.Store.Apply(ctx, changes)
}

func TestRelocateMeanwhile(t *testing.T) {
	d := newDesk(t)
	a, b := d.at("a", "", "https://old.example/a"), d.at("b", "", "https://old.example/b")
	busy := &busyStore{Store: d.store}
	busy.meanwhile = func() {
		d.at("a", "", "https://old.example/a2", "https://stays.example/")
		d.at("b", "", "https://moved.example/b")
	}
	r := New(busy, Options{})
	sum, err := r.Relocate(d.ctx, Operator(), Relocation{From: "https://old.example/", To: "https://new.example/"})
	sum.Batch = ""
	if err != nil || sum != (Relocated{Names: 1, Locations: 1}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := d.urls(a); !slices.Equal(got, []string{"https://new.example/a2", "https://stays.example/"}) {
		t.Errorf("%s: %q", a, got)
	}
	if got := d.urls(b); !slices.Equal(got, []string{"https://moved.example/b"}) {
		t.Errorf("%s: %q", b, got)
	}
}

// Only is called for the record again that another client has changed during the write.
func TestRelocateOnlyMeanwhile(t *testing.T) {
	d := newDesk(t)
	a, b, c := d.at("a", "", "https://old.example/a"), d.at("b", "", "https://old.example/b"), d.at("c", "", "https://old.example/c")
	busy := &busyStore{Store: d.store}
	busy.meanwhile = func() {
		d.at("a", "", "https://old.example/a2")
		d.at("b", "", "https://old.example/b", "https://other.example/b")
	}
	rel := Relocation{From: "https://old.example/", To: "https://new.example/"}
	rel.Only = func(rec *store.Record) bool { return rec.Locations[0].URL != "https://old.example/a2" }
	rel.Refused = func(n name.Name, err error) { t.Errorf("rejected %s: %v", n, err) }
	sum, err := New(busy, Options{}).Relocate(d.ctx, Operator(), rel)
	sum.Batch = ""
	if err != nil || sum != (Relocated{Names: 2, Locations: 2}) {
		t.Errorf("%+v, %v", sum, err)
	}
	for n, want := range map[name.Name][]string{a: {"https://old.example/a2"}, b: {"https://new.example/b", "https://other.example/b"}, c: {"https://new.example/c"}} {
		if got := d.urls(n); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", n, got, want)
		}
	}
}

// If From begins with To, moved locations are not moved again.
func TestRelocateUp(t *testing.T) {
	d := newDesk(t)
	both := d.at("both", "", "https://a.example/x/x/z", "https://a.example/x/z")
	for i := range relocateBatch { // between the two locations
		d.at(fmt.Sprint(i), "", fmt.Sprintf("https://a.example/x/y/%d", i))
	}
	if sum := d.relocate(Operator(), Relocation{From: "https://a.example/x/", To: "https://a.example/"}); sum != (Relocated{Names: relocateBatch + 1, Locations: relocateBatch + 2}) {
		t.Errorf("%+v", sum)
	}
	if got := d.urls(both); !slices.Equal(got, []string{"https://a.example/x/z", "https://a.example/z"}) {
		t.Errorf("got %q", got)
	}
}

// If a location is added at a place that the relocation has already passed, another location of the
// same name is still found.
func TestRelocateAddedBehind(t *testing.T) {
	d := newDesk(t)
	for i := range relocateBatch {
		d.at(fmt.Sprint(i), "", fmt.Sprintf("https://old.example/b/%d", i))
	}
	last := d.at("last", "", "https://old.example/c")
	gone := d.at("gone", nomen.Retired, "https://old.example/d", "https://old.example/e")
	busy := &busyReader{Store: d.store, after: relocateBatch}
	busy.meanwhile = func() {
		d.Registrar = New(d.store, Options{Now: func() time.Time { return noon.Add(2 * time.Hour) }})
		d.at("last", "", "https://old.example/a", "https://old.example/c")
		d.at("gone", nomen.Retired, "https://old.example/0", "https://old.example/d", "https://old.example/e")
	}
	reg := New(busy, Options{Now: func() time.Time { return noon.Add(time.Hour) }})
	sum, err := reg.Relocate(d.ctx, Operator(), Relocation{From: "https://old.example/", To: "https://new.example/"})
	sum.Batch = ""
	if want := (Relocated{Names: relocateBatch + 1, Locations: relocateBatch + 2, Retired: 1}); err != nil || sum != want {
		t.Errorf("%+v, %v, want %+v", sum, err, want)
	}
	if got := d.urls(last); !slices.Equal(got, []string{"https://new.example/a", "https://new.example/c"}) {
		t.Errorf("%s: %q", last, got)
	}
	if got := d.urls(gone); !slices.Equal(got, []string{"https://old.example/0", "https://old.example/d", "https://old.example/e"}) {
		t.Errorf("%s: %q", gone, got)
	}
}

// A busyReader lets others change records after a number of places was read.
type busyReader struct {
	store.Store
	after     int
	meanwhile func()
}

func (s *busyReader) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	return func(yield func(store.Place, error) bool) {
		for p, err := range store.Find(ctx, s.Store, prefix, after) {
			if s.after--; !yield(p, err) {
				break
			}
		}
		if s.after <= 0 && s.meanwhile != nil {
			s.meanwhile()
			s.meanwhile = nil
		}
	}
}

func (s *busyReader) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return store.History(ctx, s.Store, n)
}
