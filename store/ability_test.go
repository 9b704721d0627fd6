package store_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// reader is a store without optional capabilities.
type reader struct{ store.Store }

func (reader) List(context.Context, store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for _, k := range []string{"a", "b"} {
			r := &store.Record{Name: name.FromKey(k), Locations: []nomen.Location{{URL: "u:2"}, {URL: "u:1"}, {URL: "u:2"}, {URL: "v:1"}}}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestFindByListing(t *testing.T) {
	place := func(url, k string) store.Place { return store.Place{URL: url, Name: name.FromKey(k)} }
	for _, c := range []struct {
		prefix string
		after  store.Place
		want   []store.Place
	}{
		{"u", store.Place{}, []store.Place{place("u:1", "a"), place("u:1", "b"), place("u:2", "a"), place("u:2", "b")}},
		{"u", place("u:1", "b"), []store.Place{place("u:2", "a"), place("u:2", "b")}},
		{"v", place("u:1", "b"), []store.Place{place("v:1", "a"), place("v:1", "b")}},
		{"w", store.Place{}, nil},
	} {
		var got []store.Place
		for p, err := range store.Find(t.Context(), reader{}, c.prefix, c.after) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Find(%q, %v): %v, want %v", c.prefix, c.after, got, c.want)
		}
	}
	broken := errors.New("broken")
	for p, err := range store.Find(t.Context(), lister{n: 1, err: broken}, "", store.Place{}) {
		if err != broken || p != (store.Place{}) {
			t.Errorf("Find in a broken store: %v, %v", p, err)
		}
	}
}

func TestUnable(t *testing.T) {
	ctx, s := t.Context(), reader{}
	errs := map[string]error{
		"Load":   store.Load(ctx, s, nil),
		"Backup": store.Backup(ctx, s, "dir", nil),
	}
	_, errs["HeadOf"] = store.HeadOf(ctx, s)
	_, errs["Verify"] = store.Verify(ctx, s, nil, nil)
	for _, errs["Changes"] = range store.Changes(ctx, s, 0) {
	}
	for _, errs["History"] = range store.History(ctx, s, name.FromKey("a")) {
	}
	for _, errs["AuthorityHistory"] = range store.AuthorityHistory(ctx, s, name.PrefixFromKey("a")) {
	}
	for _, errs["AllTokens"] = range store.AllTokens(ctx, s) {
	}
	if len(errs) != 8 {
		t.Errorf("%d answers, want 8: %v", len(errs), errs)
	}
	for what, err := range errs {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", what, err)
		}
	}
}

func TestFollow(t *testing.T) {
	n := name.FromKey("urn:x-a:b")
	record := store.Change{Record: &store.Record{Name: n}, Expected: store.AnyRevision, Time: when}
	first := planned(t, record)[0]
	none := func(store.Subject) (*store.Change, error) { return nil, nil }
	step, err := store.Follow(&store.Entry{Seq: 1, Change: first}, none)
	if err != nil || step.Last != nil || step.Next == first || step.Next.Record == first.Record || !step.Next.Record.SameContent(first.Record) {
		t.Errorf("Follow: %+v, %v", step, err)
	}
	redacted := first.Redact()
	if step, err = store.Follow(&store.Entry{Seq: 1, Change: redacted}, none); err != nil || !step.Next.Redacted || !step.Next.Record.Redacted {
		t.Errorf("Follow of what was redacted: %+v, %v", step, err)
	}
	broken := errors.New("broken")
	if _, err := store.Follow(&store.Entry{Seq: 1, Change: first}, func(store.Subject) (*store.Change, error) { return nil, broken }); err != broken {
		t.Errorf("Follow in a broken store: %v", err)
	}
	half := *first
	half.Redacted = true
	for what, c := range map[string]*store.Change{
		"no change":         nil,
		"an empty one":      {Time: when},
		"a token":           {Token: &store.Token{ID: "t"}, Time: when},
		"a later revision":  {Record: first.Record, Expected: 1, Time: when},
		"without its time":  {Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Revision: 1}, Time: when},
		"without status":    {Record: &store.Record{Name: n, Revision: 1, Modified: when}, Time: when},
		"no whole time":     {Delete: n, Time: when.Add(time.Microsecond)},
		"redacting to come": {Delete: n, Time: when, Redacts: []uint64{1}},
		"half redacted":     &half,
	} {
		var got *store.EntryError
		if _, err := store.Follow(&store.Entry{Seq: 7, Change: c}, none); !errors.As(err, &got) || got.Seq != 7 || got.Reason == "" {
			t.Errorf("%s: %v, want an EntryError", what, err)
		}
	}
	want := "store: change 7 of the log (urn:x-a:b): revision 2 after revision 0"
	if got := (&store.EntryError{Seq: 7, Key: "urn:x-a:b", Reason: "revision 2 after revision 0"}).Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
