package admin

import (
	"errors"
	"testing"

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
