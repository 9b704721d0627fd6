package admin

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Editors hide failed lookups of their names; hidden ones are left out only on request.
func TestHideMisses(t *testing.T) {
	counter, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	api, _ := newTestAPI(t, func(o *Options) { o.Misses = counter })
	counter.Add("urn:dns:example.org:x", nil)
	n := name.MustParse("urn:dns:example.org:x")
	ctx := t.Context()
	editor := api.Client(person("u-e", registrar.Editor, "urn:dns:example.org"))
	count := func(list func() (adminapi.Misses, error)) int {
		t.Helper()
		m, err := list()
		if err != nil {
			t.Fatal(err)
		}
		return len(m.Misses)
	}
	visible := func() (adminapi.Misses, error) { return editor.VisibleMisses(ctx, "", 10) }
	for _, c := range []*adminapi.Client{
		api.Client(person("u-r", registrar.Reader, "urn:dns:example.org")),
		api.Client(person("u-o", registrar.Owner, "urn:dns:other.example")),
	} {
		if err := c.HideMiss(ctx, n, true); !errors.As(err, new(*registrar.DeniedError)) {
			t.Errorf("got %v", err)
		}
	}
	if got := count(visible); got != 1 {
		t.Fatalf("got %d before", got)
	}
	if err := editor.HideMiss(ctx, n, true); err != nil || count(visible) != 0 {
		t.Errorf("hidden: %v, %d", err, count(visible))
	}
	counter.Add("urn:dns:example.org:x", nil) // it stays hidden
	all, err := editor.Misses(ctx, "", 0)
	if err != nil || len(all.Misses) != 1 || !all.Misses[0].Hidden || all.Misses[0].Count != 2 || count(visible) != 0 {
		t.Errorf("all: %+v, %v", all, err)
	}
	if err := editor.HideMiss(ctx, n, false); err != nil || count(visible) != 1 {
		t.Errorf("shown again: %v, %d", err, count(visible))
	}
	if err := editor.HideMiss(ctx, name.MustParse("urn:dns:example.org:y"), true); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
}

// A suggestion of a failed lookup is left out if access to the name has been restricted since, unless
// the caller may read the name.
func TestRestrictedSuggestions(t *testing.T) {
	counter, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	api, st := newTestAPI(t, func(o *Options) { o.Misses = counter })
	counter.Add("urn:dns:example.org:x", []string{"urn:x-closed:1", "urn:dns:example.org:y"})
	closed := &store.Authority{Prefix: name.MustParsePrefix("urn:x-closed"), Owners: []string{"a"}}
	for _, access := range []store.Access{"", store.AccessDenied} {
		closed.Access = access
		if _, err := st.Apply(t.Context(), []store.Change{{Authority: closed, Expected: store.AnyRevision, Time: time.Now()}}); err != nil {
			t.Fatal(err)
		}
		api.authorities.Forget()
		for reader, mayAll := range map[*adminapi.Client]bool{
			api.Client(person("u-r", registrar.Reader, "urn:dns:example.org")):                 false,
			api.Client(person("u-b", registrar.Reader, "urn:dns:example.org", "urn:x-closed")): true,
		} {
			m, err := reader.Misses(t.Context(), "", 0)
			want := []string{"urn:x-closed:1", "urn:dns:example.org:y"}
			if access != "" && !mayAll {
				want = want[1:]
			}
			if err != nil || len(m.Misses) != 1 || !slices.Equal(m.Misses[0].Suggestions, want) {
				t.Errorf("access %q, reader of all %v: got %+v, %v, want %q", access, mayAll, m.Misses, err, want)
			}
		}
	}
	if m := counter.List(0); len(m[0].Suggestions) != 2 {
		t.Errorf("the counter was changed: %+v", m)
	}
}
