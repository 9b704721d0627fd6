package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

func fetched(text string) *nomen.Resource {
	return &nomen.Resource{Type: "text/plain", Size: int64(len(text)), Body: io.NopCloser(strings.NewReader(text))}
}

func TestResource(t *testing.T) { // RFC 2483, 4.3
	var asked []string
	fetch := func(_ context.Context, location string) (*nomen.Resource, error) {
		if asked = append(asked, location); strings.Contains(location, "bad") {
			return nil, errors.New("refused")
		}
		return fetched(location), nil
	}
	rec := record("urn:x-a:1", nomen.Location{URL: "https://h.example/bad", Priority: 1}, nomen.Location{URL: "https://h.example/2", Priority: 2}, nomen.Location{URL: "https://h.example/3", Priority: 3})
	dead := record("urn:x-a:dead", at("https://h.example/bad1"), at("https://h.example/bad2"), at("https://h.example/bad3"), at("https://h.example/bad4"))
	none := record("urn:x-a:none")
	gone := &store.Record{Name: name.MustParse("urn:x-a:old"), Status: nomen.Retired, Reason: "new", Successors: []string{"urn:x-a:1"}}
	d := newDesk(t, store.Policy{Fetch: true}, resolve.Options{Fetch: fetch}, rec, dead, none, gone)
	a, err := d.ask(nomen.I2R, "1", func(q *nomen.Question) { q.Q = "x" })
	if err != nil || a.Resource == nil || a.Service != nomen.I2R || !slices.Equal(asked, []string{"https://h.example/bad?x", "https://h.example/2?x"}) {
		t.Fatalf("%+v, %v, fetched %q", a, err, asked)
	}
	if text, err := io.ReadAll(a.Resource.Body); err != nil || string(text) != "https://h.example/2?x" || !slices.Equal(urls(a), []string{"https://h.example/2?x"}) {
		t.Errorf("%q, %v, %q", text, err, urls(a))
	}
	d = newDesk(t, store.Policy{Fetch: true}, resolve.Options{Fetch: fetch}, rec, dead, none, gone, record("urn:x-a:order",
		nomen.Location{URL: "https://h.example/bad", Priority: 1}, nomen.Location{URL: "https://h.example/bad3", Priority: 3}, nomen.Location{URL: "https://h.example/bad2", Priority: 2}))
	asked = nil
	if _, err := d.ask(nomen.I2R, "order"); !errors.Is(err, nomen.ErrUpstream) || !slices.Equal(asked, []string{"https://h.example/bad", "https://h.example/bad2", "https://h.example/bad3"}) {
		t.Errorf("%v, fetched %q, want the better ones first", err, asked)
	}
	asked = nil
	if a, err := d.ask(nomen.I2R, "dead"); !errors.Is(err, nomen.ErrUpstream) || a != nil || len(asked) != 3 {
		t.Errorf("%+v, %v after %q", a, err, asked)
	}
	d.refuses(nomen.NoResult, nomen.I2R, "none")
	d.refuses(nomen.Unknown, nomen.I2R, "other")
	if a, err := d.ask(nomen.I2R, "old"); err != nil || a.Redirect != "urn:x-a:1" || a.Service != nomen.I2R {
		t.Errorf("replaced: %+v, %v", a, err)
	}
	closed := newDesk(t, store.Policy{}, resolve.Options{Fetch: fetch}, rec)
	if a, err := closed.ask(nomen.I2R, "1"); err != nil || a.Service != nomen.I2L || a.Resource != nil {
		t.Errorf("an authority that does not allow it: %+v, %v", a, err)
	}
}

func TestResources(t *testing.T) { // RFC 2169, 3.4
	var asked []string
	fetch := func(_ context.Context, location string) (*nomen.Resource, error) {
		if asked = append(asked, location); strings.Contains(location, "bad") {
			return nil, errors.New("refused")
		}
		return fetched(location), nil
	}
	var many []nomen.Location
	for i := range 20 {
		many = append(many, at(fmt.Sprintf("https://h.example/%d", i)))
	}
	d := newDesk(t, store.Policy{Fetch: true}, resolve.Options{Fetch: fetch},
		record("urn:x-a:1", nomen.Location{URL: "https://h.example/gif", Type: "image/gif"}, nomen.Location{URL: "https://h.example/jpeg", Type: "image/jpeg"}, nomen.Location{URL: "https://h.example/bad"}),
		record("urn:x-a:none"), record("urn:x-a:many", many...))
	a, err := d.ask(nomen.I2Rs, "1", func(q *nomen.Question) { q.Accept = "image/jpeg" })
	if err != nil || len(a.Resources) != 2 || len(asked) != 0 || a.Resources[0].Type != "image/jpeg" || a.Resources[0].Size != -1 {
		t.Fatalf("%+v, %v, fetched %q", a, err, asked)
	}
	if text, err := io.ReadAll(a.Resources[0].Body); err != nil || string(text) != "https://h.example/jpeg" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := io.ReadAll(a.Resources[1].Body); !errors.Is(err, nomen.ErrUpstream) || len(text) > 0 {
		t.Errorf("what cannot be fetched: %q, %v", text, err)
	}
	if a.Resources[0].Type != "text/plain" || a.Resources[0].Size != int64(len("https://h.example/jpeg")) || a.Resources[1].Type != "" {
		t.Errorf("read, they are %+v and %+v: want what was fetched", a.Resources[0], a.Resources[1])
	}
	for _, r := range a.Resources {
		if err := r.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(asked) != 2 {
		t.Errorf("fetched %q", asked)
	}
	a, err = d.ask(nomen.I2Rs, "1")
	if err != nil || len(a.Resources) != 3 {
		t.Fatalf("%+v, %v", a, err)
	}
	asked = nil
	if err := a.Resources[0].Body.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.Resources[0].Body.Read(make([]byte, 1)); err == nil || len(asked) != 0 {
		t.Errorf("read after Close: %v, fetched %q", err, asked)
	}
	if a, err := d.ask(nomen.I2Rs, "none"); err != nil || len(a.Resources) != 0 || a.Service != nomen.I2Rs {
		t.Errorf("an empty list: %+v, %v", a, err)
	}
	if a, err := d.ask(nomen.I2Rs, "many"); err != nil || len(a.Resources) != 16 {
		t.Errorf("%d resources, %v", len(a.Resources), err)
	}
}
