package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Every form of request for an unknown name gets the same suggestions, and none of them mentions a
// reserved or restricted name.
func TestSuggestionsByEachForm(t *testing.T) {
	counter, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, st := newTestServer(t, func(o *Options) { o.Misses = counter })
	put(t, st,
		&store.Record{Spelling: "urn:dns:example.org:report-7", Status: nomen.Active},
		&store.Record{Spelling: "urn:dns:example.org:report-8", Status: nomen.Reserved},
		&store.Record{Spelling: "urn:x-closed:open", Status: nomen.Active},
	)
	closed := &store.Authority{Prefix: name.MustParsePrefix("urn:x-closed"), Owners: []string{"a"}}
	closed.Access = store.AccessDenied
	inner := &store.Authority{Prefix: name.MustParsePrefix("urn:x-closed:open"), Owners: []string{"a"}}
	if _, err := st.Apply(t.Context(), []store.Change{{Authority: closed, Time: modified}, {Authority: inner, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	l := listen(t, s)
	const hint = "urn:dns:example.org:report-7"
	forms := map[string]func(n string) string{
		"1995":          func(n string) string { return exchange(t, l.Public, "GET "+n+"\r\n") },
		"HTTP/1.0 text": func(n string) string { return exchange(t, l.Public, "GET "+n+" HTTP/1.0\r\n\r\n") },
		"a page": func(n string) string {
			return exchange(t, l.Public, "GET /"+n+" HTTP/1.0\r\nHost: example.org\r\nAccept: text/html\r\n\r\n")
		},
		"JSON": func(n string) string {
			return exchange(t, l.Public, "GET /"+n+" HTTP/1.0\r\nHost: example.org\r\nAccept: application/json\r\n\r\n")
		},
		"description": func(n string) string {
			return exchange(t, l.Public, "GET /"+n+"?s=I2C HTTP/1.0\r\nHost: example.org\r\n\r\n")
		},
		"THTTP": func(n string) string {
			return exchange(t, l.Public, "GET /uri-res/N2L?"+n+" HTTP/1.0\r\nHost: example.org\r\n\r\n")
		},
		"a list": func(n string) string {
			_, lines, _ := post(t, l, "", "application/x-ndjson", `{"name":"`+n+`"}`+"\n")
			return lines[0].Error.Code + strings.Join(lines[0].Error.Suggestions, " ")
		},
	}
	for form, get := range forms {
		if got := get("urn:dns:example.org:Report-7"); !strings.Contains(got, hint) {
			t.Errorf("%s: no suggestion in\n%s", form, got)
		}
		for _, n := range []string{"urn:dns:example.org:Report-8", "urn:dns:example.org:report_8"} {
			if got := get(n); strings.Contains(got, "report-8") || !strings.Contains(got, "unknown-name") && !strings.Contains(got, "not found") && !strings.Contains(got, "404") {
				t.Errorf("%s: %s of\n%s", form, n, got)
			}
		}
		if got := get("urn:x-closed:open:none"); strings.Contains(strings.ReplaceAll(got, "urn:x-closed:open:none", ""), "urn:x-closed:open\"") || strings.Contains(got, "urn:x-closed:open\r") {
			t.Errorf("%s: a restricted name in\n%s", form, got)
		}
	}
	for _, m := range counter.List(0) {
		want := []string(nil)
		if m.Name == "urn:dns:example.org:Report-7" {
			want = []string{hint}
		}
		if !slices.Equal(m.Suggestions, want) {
			t.Errorf("counted with suggestions: %+v, want %q", m, want)
		}
	}
	if len(counter.List(0)) != 4 {
		t.Errorf("counted: %+v", counter.List(0))
	}
}
