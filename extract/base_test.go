package extract

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/mail"
	"net/textproto"
	"os"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

// header parses the lines of a header.
func header(t *testing.T, lines []string) mail.Header {
	t.Helper()
	text := strings.Join(lines, "\r\n") + "\r\n\r\n"
	h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(text))).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	return mail.Header(h)
}

// TestBaseVectors runs all rows of base.json, each of which describes its
// purpose.
func TestBaseVectors(t *testing.T) {
	type entity struct{ Headers []string }
	var file struct {
		Vectors []struct {
			ID, Dialect string
			Context     struct {
				entity
				Embedded, Retrieval, Default, HTML string
				Enclosing                          []entity
				EnclosingBase                      string   `json:"enclosing_base"`
				RetrievalChain                     []string `json:"retrieval_chain"`
				OfficialName                       string   `json:"official_name"`
			}
			ExpectBase *string `json:"expect_base"`
			Links      [][2]string
		}
	}
	data, err := os.ReadFile("../docs/spec/vectors/base.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range file.Vectors {
		t.Run(v.ID, func(t *testing.T) {
			d, ok := uri.ParseDialect(v.Dialect)
			if !ok {
				t.Fatalf("no dialect %s", v.Dialect)
			}
			c := v.Context
			read := func(s string) uri.URI {
				if s == "" {
					return uri.URI{}
				}
				u, err := d.ParseReference(s)
				if err != nil {
					t.Fatal(err)
				}
				return u
			}
			var chain []uri.URI
			for _, s := range append(c.RetrievalChain, c.Retrieval) {
				if s != "" {
					chain = append(chain, read(s))
				}
			}
			around := []BaseSource{Encapsulating(DefaultBase(read(c.EnclosingBase))), RetrievalBase(chain...), DefaultBase(read(c.Default))}
			for _, e := range c.Enclosing { // outermost first
				around = append([]BaseSource{Encapsulating(EntityBase(d, header(t, e.Headers)))}, around...)
			}
			sources := append([]BaseSource{OfficialName(read(c.OfficialName)), EmbeddedBase(read(c.Embedded)), EntityBase(d, header(t, c.Headers))}, around...)
			if c.HTML != "" {
				checkHTMLBase(t, c.HTML, Establish(around...), *v.ExpectBase, v.Links)
				return
			}
			got := Establish(sources...)
			switch {
			case v.ExpectBase == nil:
				if got.URI.IsValid() || got.Rule != "" {
					t.Errorf("got base %q by %s, want none", got.URI, got.Rule)
				}
			case got.URI.String() != *v.ExpectBase:
				t.Errorf("got base %q by %s, want %q", got.URI, got.Rule, *v.ExpectBase)
			}
		})
	}
}

// checkHTMLBase checks the base of an HTML document and its links.
func checkHTMLBase(t *testing.T, doc string, outer Base, base string, links [][2]string) {
	t.Helper()
	found, errs := collect(t, doc, Options{Base: outer.URI})
	for _, err := range errs {
		t.Error(err)
	}
	want := map[string]string{}
	for _, l := range links {
		want[l[0]] = l[1]
	}
	for _, f := range found {
		if f.Kind != Reference || f.Where == "base href" {
			continue
		}
		if f.Base != base || f.BaseRule != BaseEmbedded || f.Target.String() != want[f.Spelling] {
			t.Errorf("U97-50, U03-76: %s: got %s in base %s by %s, want %s in %s", f.Spelling, f.Target, f.Base, f.BaseRule, want[f.Spelling], base)
		}
		delete(want, f.Spelling)
	}
	if len(want) > 0 {
		t.Errorf("U97-50, U03-76: not found: %v", want)
	}
}

func TestBaseRules(t *testing.T) {
	u := uri.MustParse
	h := func(lines ...string) BaseSource { return EntityBase(uri.RFC3986, header(t, lines)) }
	retrieval := RetrievalBase(u("http://old.example/"), u("http://r.example/d/e#f"))
	for _, tt := range []struct {
		name       string
		sources    []BaseSource
		base, rule string
	}{
		{"U97-49 the content first", []BaseSource{EmbeddedBase(u("http://c.example/")), h("Content-Base: http://h.example/"), retrieval}, "http://c.example/", BaseEmbedded},
		{"U97-50 a relative one", []BaseSource{EmbeddedBase(mustReference(t, uri.RFC3986, "../x")), retrieval}, "http://r.example/x", BaseEmbedded},
		{"U97-51 in encoded words", []BaseSource{h("Content-Location: =?us-ascii?q?http:/?=\r\n =?us-ascii?q?/w.example/a?="), retrieval}, "http://w.example/a", BaseContentLocation},
		{"U97-51 white space of every kind", []BaseSource{h("Content-Base:\r\n\thttp://w.example/\r\n a\tb /c"), retrieval}, "http://w.example/ab/c", BaseContentBase},
		{"U97-51 without its fragment", []BaseSource{h("Content-Base: http://w.example/a#b"), retrieval}, "http://w.example/a", BaseContentBase},
		{"U97-51 a Content-Location without its fragment", []BaseSource{h("Content-Location: a#b"), retrieval}, "http://r.example/d/a", BaseContentLocation},
		{"U97-50 the content without its fragment", []BaseSource{EmbeddedBase(u("http://c.example/#f"))}, "http://c.example/", BaseEmbedded},
		{"U97-51 a relative Content-Base is invalid", []BaseSource{h("Content-Base: b/"), retrieval}, "http://r.example/d/e", BaseRetrieval},
		{"U97-52 Content-Location beside a broken Content-Base", []BaseSource{h("Content-Base: <>", "Content-Location: x"), retrieval}, "http://r.example/d/x", BaseContentLocation},
		{"U97-54 the entity around", []BaseSource{h("Subject: s"), Encapsulating(h("Content-Location: http://o.example/")), retrieval}, "http://o.example/", BaseEncapsulating},
		{"U97-54 two around", []BaseSource{Encapsulating(h("Content-Location: i")), Encapsulating(h("Content-Base: http://o.example/a/b"))}, "http://o.example/a/i", BaseEncapsulating},
		{"U97-55 the last of the redirects, without its fragment", []BaseSource{retrieval}, "http://r.example/d/e", BaseRetrieval},
		{"U97-56 none", []BaseSource{h("Content-Location: x"), RetrievalBase()}, "", ""},
		{"U03-44 the default", []BaseSource{RetrievalBase(), DefaultBase(u("http://d.example/"))}, "http://d.example/", BaseDefault},
		{"U03-41 an opaque base", []BaseSource{EmbeddedBase(mustReference(t, uri.Draft2003, "x")), DefaultBase(u("mailto:a@b"))}, "mailto:a@b", BaseDefault},
		{"U93-30 an official name is complete", []BaseSource{OfficialName(mustReference(t, uri.RFC3986, "x")), retrieval}, "http://r.example/d/e", BaseRetrieval},
		{"U93-29 the official name", []BaseSource{OfficialName(u("http://n.example/")), retrieval}, "http://n.example/", BaseOfficial},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Establish(tt.sources...); got.URI.String() != tt.base || got.Rule != tt.rule {
				t.Errorf("got %q by %q, want %q by %q", got.URI, got.Rule, tt.base, tt.rule)
			}
		})
	}
}

// Without a base, references must be absolute.
func TestNoBase(t *testing.T) {
	if u, err := (Base{}).resolve(mustReference(t, uri.Draft1997, "g")); !errors.Is(err, uri.ErrNoBase) {
		t.Errorf("U97-56: got %q, %v, want %v", u, err, uri.ErrNoBase)
	}
	found, errs := collect(t, "<a href=g><a href=http://a.example/>", Options{})
	if len(errs) > 0 || len(found) != 2 || found[0].Target.IsValid() || found[0].BaseRule != "" || !found[1].Target.IsValid() {
		t.Errorf("got %+v, %v, want one without a target and one with", found, errs)
	}
}

// A protocol with another form of tagged metainformation can define its own
// source.
func TestBaseSourceOfOthers(t *testing.T) {
	gopherPlus := func(outer Base) Base { return Base{uri.MustParse("gopher://g.example/1"), "+INFO"} }
	got := Establish(EmbeddedBase(mustReference(t, uri.RFC3986, "/0/x")), gopherPlus, RetrievalBase(uri.MustParse("http://r.example/")))
	if want := "gopher://g.example/0/x"; got.URI.String() != want {
		t.Errorf("U97-77, U03-43: got the base %s, want %s", got.URI, want)
	}
}

func mustReference(t *testing.T, d uri.Dialect, s string) uri.URI {
	t.Helper()
	u, err := d.ParseReference(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
