package gateway

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// Whatever a Gopher client sends and another resolver answers, the response is either a page, or a
// menu with well-formed lines and one end.
func FuzzGopher(f *testing.F) {
	for _, line := range []string{
		"", "/", "urn:dns:here.example:one", "urn:dns:there.example:x", "/-/name\turn:a23:b", "/-/list/urn:dns:here.example x",
		"/-/authorities urn:", "/-/text/urn:dns:there.example:x", "URL:https://there.example/", "a\tb\tc", "a\x00b", "\u202e",
	} {
		f.Add(line, "https://there.example/\t\r\n.\r\n", "note\r\n.\r\n1x\ty\tz\t70", "title")
	}
	s := newStore(f, []*store.Record{here("one", nomen.Location{URL: "gopher://here.example/1"})})
	table := store.NewTable(s, time.Now, time.Hour)
	f.Fuzz(func(t *testing.T, line, url, note, title string) {
		g, err := NewGopher(GopherOptions{Store: s, Authorities: table, Host: "names.example:70", Resolver: resolverFunc(func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
			return &nomen.Answer{
				Service: q.Service, Name: q.Name, Status: nomen.Active, Metadata: nomen.Metadata{"title": {title}}, Why: []string{note},
				Locations: []nomen.Location{{URL: url, Note: note, Type: title}, {URL: "gopher://there.example/0" + url, Note: title}}, Names: []string{url, note},
			}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		m := &menu{host: g.host, port: g.port}
		g.serve(context.Background(), m, line)
		out := m.b.String()
		switch {
		case strings.HasPrefix(line, selectURL) && strings.HasPrefix(out, "<!DOCTYPE html>"):
			return
		case !strings.HasSuffix(out, "\r\n.\r\n") && out != ".\r\n":
			t.Fatalf("%q: no end: %q", line, out)
		}
		for l := range strings.SplitSeq(strings.TrimSuffix(out, ".\r\n"), "\r\n") {
			switch {
			case l == ".", strings.ContainsAny(l, "\r\n\x00\x1b"):
				t.Fatalf("%q: a line %q", line, l)
			case l != "" && !strings.HasPrefix(line, selectText) && strings.Count(l, "\t") != 3:
				t.Fatalf("%q: a line %q", line, l)
			}
		}
	})
}

// Whatever a user enters, a link in the explanation is safe to follow, and the page leads on only
// for a name.
func FuzzExplain(f *testing.F) {
	for _, s := range []string{
		"urn:dns:here.example:one", "<URL:http://a.example/?b#c>", "web+urn:ietf:rfc:1", "javascript:alert(1)", "urn:isbn:", "x", "", "//a.example/", "gopher://a/1",
		"urn:dns:here.example:one?+r?=q#f", "URL:URL:web+web+urn:a23:b",
	} {
		f.Add(s)
	}
	e := explainer(f, Access{Policy: All, Burst: 1 << 30}, nil)
	f.Fuzz(func(t *testing.T, s string) {
		x, err := e.Explain(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if x.Link != "" {
			u, err := uri.Parse(x.Link)
			own, _ := u.Scheme()
			if err != nil || location.Runs(own) || x.Leads() {
				t.Errorf("%q: a link %q", s, x.Link)
			}
		}
		if x.Fault != nil && (x.Leads() || x.Fault.Offset > max(len(x.Text), maxExplained) || x.Fault.Message == "") {
			t.Errorf("%q: %+v", s, x)
		}
	})
}
