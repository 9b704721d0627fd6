package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Y95-09: a reserved request after a delimiter other than that of elements is a name. If
// the name is unknown, the request is suggested, and no failed lookup is counted.
func TestRequestMeant(t *testing.T) {
	c, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, st := newTestServer(t, func(o *Options) { o.Misses = c })
	taken := name.MustParse("urn:nbn:fi:urn+c")
	_, err = st.Apply(t.Context(), []store.Change{
		{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:nbn:fi"), Owners: []string{"a", "b"}}},
		{Time: modified, Record: &store.Record{Name: taken, Spelling: taken.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/c"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		target, meant string
		status        int
	}{
		{"/urn:nbn:fi-urn+m", "", 200},
		{"/urn:nbn:fi-urn+x", "", 404},
		{"/urn:nbn:fi:urn+m", "urn:nbn:fi-urn+m", 404},
		{"/urn:nbn:fi:urn+m?at=2026-11-20", "urn:nbn:fi-urn+m", 404},
		{"/urn:nbn:fi:urn+c", "", 303},
		{"/urn:nbn:fi:urn+x", "", 404},
		{"/urn:nbn:fi-:urn+m", "", 404},
	} {
		p := ask(s, tt.target, accepting("text/plain"))
		if meant := strings.Contains(string(p.body), "  "+tt.meant); p.status != tt.status || tt.meant != "" && !meant {
			t.Errorf("%s: %d %s", tt.target, p.status, p.body)
		}
	}
	var missed []string
	for _, m := range c.List(0) {
		missed = append(missed, m.Name)
	}
	slices.Sort(missed)
	if got := strings.Join(missed, " "); got != "urn:nbn:fi-:urn+m urn:nbn:fi:urn+x" {
		t.Errorf("counted as missed: %s", got)
	}
}

// urn+c and urn+p list authorities other than the requested one, in every format, with
// links to their descriptions (1995, 3.5.3 and 3.5.4).
func TestAuthorityListsInEveryFormat(t *testing.T) {
	s, st := newTestServer(t, func(o *Options) { o.PublicURL = "https://names.example" })
	labels := &store.Authority{Prefix: name.MustParsePrefix("urn:dns:labels.example.org"), Owners: []string{"a", "b"}}
	odd := &store.Authority{
		Prefix: name.MustParsePrefix("urn:nbn:fi"), Owners: []string{"a", "b"},
		Children: []string{"urn:dns:labels.example.org", "urn:dns:away.example", "old.example", "urn:ietf:rfc", "urn:x-y:1", "<script>"},
		Parents:  []string{"urn:dns:example.org"},
	}
	if _, err := st.Apply(t.Context(), []store.Change{{Authority: labels, Time: modified}, {Authority: odd, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	s.authorities = store.NewTable(st, s.now, 0)
	children := []string{
		"https://names.example/urn:dns:labels.example.org:urn+m", "http://away.example:4500/urn+m", "http://old.example:4500/urn+m", "https://names.example/urn:ietf:rfc:urn+m", "urn:x-y:1",
	}
	for rel, want := range map[string][]string{"item": children, "up": {"https://names.example/urn:dns:example.org:urn+m"}} {
		target := map[string]string{"item": "/urn:nbn:fi-urn+c", "up": "/urn:nbn:fi-urn+p"}[rel]
		for _, f := range format.Formats() {
			p := ask(s, target, func(r *request) { r.accept = f.MediaType })
			body := string(p.body)
			if p.status != 200 || !strings.HasPrefix(p.get("Content-Type"), f.MediaType) {
				t.Errorf("%s as %s: %d %s", target, f.Name, p.status, p.get("Content-Type"))
			}
			for _, wrong := range []string{"sameAs", "same-as", `"same_as":["`, "Other names", "owl#", "<script>", `HREF="/urn:dns:away.example"`} {
				if strings.Contains(strings.ReplaceAll(body, `<script type="application/ld+json">`, ""), wrong) && (f.Name != "text" && f.Name != "json" && f.Name != "uri-list" && f.Name != "urc" && f.Name != "cbor" || wrong != "<script>") {
					t.Errorf("%s as %s says %s:\n%s", target, f.Name, wrong, body)
				}
			}
			switch f.Name {
			case "text", "uri-list":
				continue
			case "json", "linkset", "linkset-json":
				if !strings.Contains(body, `"`+rel+`"`) {
					t.Errorf("%s as %s: no relation %s:\n%s", target, f.Name, rel, body)
				}
			}
			for _, url := range want {
				if (f.Name == "json-ld" || f.Name == "turtle") && strings.HasPrefix(url, "urn:") {
					continue // a browser could not follow it
				}
				if !strings.Contains(body, url) {
					t.Errorf("%s as %s: no %s:\n%s", target, f.Name, url, body)
				}
				if own, ok := strings.CutPrefix(url, "https://names.example"); ok {
					if got := ask(s, own); got.status != 200 {
						t.Errorf("%s leads to %d", url, got.status)
					}
				}
			}
		}
	}
	if got, want := string(ask(s, "/urn:nbn:fi-urn+c").body), "urn:dns:labels.example.org\r\nurn:dns:away.example\r\nold.example\r\nurn:ietf:rfc\r\nurn:x-y:1\r\n<script>\r\n"; got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}
