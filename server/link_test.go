package server

import (
	"context"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

func TestLinks(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.PublicURL = "https://Names.example/" })
	links := strings.Split(ask(s, "/urn:ietf:rfc:2648?s=I2C").get("Link"), ", ")
	want := []string{
		`<https://names.example/urn:ietf:rfc:2648>; rel="cite-as"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C&format=json-ld>; rel="describedby"; type="application/ld+json"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C&format=turtle>; rel="describedby"; type="text/turtle"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C&format=csl-json>; rel="describedby"; type="application/vnd.citationstyles.csl+json"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C&format=bibtex>; rel="describedby"; type="application/x-bibtex"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C&format=ris>; rel="describedby"; type="application/x-research-info-systems"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C&format=linkset-json>; rel="linkset"; type="application/linkset+json"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C&format=linkset>; rel="linkset"; type="application/linkset"`,
		`<https://schema.org/AboutPage>; rel="type"`,
		`<https://names.example/urn:ietf:rfc:2648?s=I2C>; rel="original timegate"`,
		`<https://names.example/-/timemap/urn:ietf:rfc:2648?s=I2C>; rel="timemap"; type="application/link-format"`,
		`<https://www.rfc-editor.org/rfc/rfc2648.txt>; rel="item"; type="text/plain"`,
		`<https://www.rfc-editor.org/rfc/rfc2648.html>; rel="item"; type="text/html"`,
	}
	if strings.Join(links, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(links, "\n"), strings.Join(want, "\n"))
	}
	if got, _, _ := strings.Cut(ask(s, "/https://purl.example/net/x").get("Link"), ", "); got != `<https://purl.example/net/x>; rel="cite-as"` {
		t.Errorf("a name that is a URL: %s", got)
	}
	// RFC 7089, 2.2.1: a name that is a URL is its own original, and its history is available at
	// this server.
	if got := ask(s, "/https://purl.example/net/x").get("Link"); !strings.Contains(got, `, <https://purl.example/net/x>; rel="original", <https://names.example/https://purl.example/net/x>; rel="timegate", `) {
		t.Errorf("the links in time of a name that is a URL: %s", got)
	}
}

// RFC 8288, 3.4.1: a type is a media type without parameters, a language a tag.
func TestLinkAttributes(t *testing.T) {
	for _, tt := range []struct{ mediaType, lang, want string }{
		{"", "", ""},
		{"text/html", "en", `; type="text/html"; hreflang="en"`},
		{"text/html; charset=utf-8", "de-Latn-DE-1996", `; type="text/html"; hreflang="de-Latn-DE-1996"`},
		{`application/ld+json ;profile="https://example.org/"`, "x-a", `; type="application/ld+json"; hreflang="x-a"`},
		{"text", "en_GB", ""},
		{"text/", "e-", ""},
		{"/x", "-e", ""},
		{"a/b/c", "1a", ""},
		{"a b/c", "en, fr", ""},
		{"text/html\r\nX: y", "en\r\nX: y", ""},
		{"a/\"b", "abcdefghi", ""},
		{"a/b\"; rel=\"x", "en\"; rel=\"x", ""},
		{";", "en--us", ""},
	} {
		var l linkField
		l.addItem(nomen.Location{URL: "https://example.org/x", Type: tt.mediaType, Lang: tt.lang})
		if got := string(l); got != `<https://example.org/x>; rel="item"`+tt.want {
			t.Errorf("%q, %q: got %s", tt.mediaType, tt.lang, got)
		}
	}
}

// Link fields do not make browsers fetch a stylesheet or preload anything.
func TestLinkRelations(t *testing.T) {
	for rel, want := range map[string]string{
		"": "item", "item": "item", "describedby": "describedby", "archive": "archive", "https://example.org/rel": "https://example.org/rel",
		"stylesheet": "item", "preload": "item", "preconnect": "item", "next": "item", "item stylesheet": "item", "x\"; rel=\"preload": "item",
	} {
		var l linkField
		l.addItem(nomen.Location{URL: "https://example.org/x", Rel: rel})
		if got := string(l); got != `<https://example.org/x>; rel="`+want+`"` {
			t.Errorf("relation %q: got %s", rel, got)
		}
	}
}

// A reference with dot segments would resolve to something else (RFC 3986, 5.2.4).
func TestLinksOfNamesWithDotSegments(t *testing.T) {
	s, _ := newTestServer(t, nil)
	s.resolver = resolverFunc(func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active}, nil
	})
	const path = "/urn%3Adns%3Aexample.org%3Aa%2F..%2Fb"
	for _, target := range []string{"/urn:dns:example.org:a/../b?s=I2C", "/a/../b", path + "?s=I2C"} {
		p := ask(s, target)
		if got, _, _ := strings.Cut(p.get("Link"), ", "); p.status != 200 || got != "<http://example.org"+path+`>; rel="cite-as"` {
			t.Errorf("%s: %d, %s", target, p.status, got)
		}
	}
}
