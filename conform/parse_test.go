package conform

import (
	"slices"
	"strings"
	"testing"
)

func TestParseLinks(t *testing.T) {
	got, ok := parseLinks(`<a,b>; rel="x y"; title="a\"b, <c>" ,<d>;REL=z;type=text/html, <e>; anchor="#f"; rel=x`)
	if !ok || len(got) != 3 || got[0].target != "a,b" || !got[0].is("Y") || got[0].param("title") != `a"b, <c>` || got[1].param("type") != "text/html" || !got[1].is("z") {
		t.Errorf("got %+v, %t", got, ok)
	}
	if got := linksOf(&response{fields: [][2]string{{"link", "<a>; rel=x, <e>; anchor=x; rel=x"}, {"Link", "<b>; rel=x"}}}); len(related(got, "x")) != 2 {
		t.Errorf("without those about others: got %+v", got)
	}
	for _, bad := range []string{`a; rel=x`, `<a; rel=x`, `<a> rel=x`, `<a>; rel="x`} {
		if got, ok := parseLinks(bad); ok {
			t.Errorf("%s: got %+v", bad, got)
		}
	}
}

func TestReadParts(t *testing.T) {
	before, parts := readParts("intro\r\n=====;charset=ISO-8859-1;language=fr\r\n<URL:http://a.example/\r\n  b>\r\nun\r\n===== US-ASCII en\nhttp://c.example/\n===== note: x=y\nurl: no\n")
	if !slices.Equal(before, []string{"intro"}) || len(parts) != 3 {
		t.Fatalf("got %q, %+v", before, parts)
	}
	if got, want := parts[0].locator(), "http://a.example/b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, want := range [][2]string{{"ISO-8859-1", "fr"}, {"US-ASCII", "en"}} {
		if charset, language, odd := parts[i].values(); charset != want[0] || language != want[1] || len(odd) > 0 {
			t.Errorf("part %d: got %s, %s, %q", i, charset, language, odd)
		}
	}
	if _, _, odd := parts[2].values(); len(odd) != 1 || parts[2].url != "" || !slices.Equal(parts[2].meta, []string{"url: no"}) {
		t.Errorf("got %+v, %q", parts[2], odd)
	}
}

func FuzzParseResponse(f *testing.F) {
	f.Add("HTTP/1.0 200 OK\r\nContent-Length: 1\r\nLink: <a>; rel=x\r\n\r\nxy", "GET", "HTTP/1.0")
	f.Add("HTTP/1.1 200\nTransfer-Encoding: chunked\n\n1\r\nx\r\n0\r\n\r\n", "HEAD", "HTTP/1.1")
	f.Add("=====\r\nhttp://a.example/\r\n", "GET", "")
	f.Add("HTTP/1.0 302 x\r\nLocation: ȺȺȺȺȺȺȺȺȺȺurn:\r\nLink: <\xff\xff\xff\xffurn:>; rel=cite-as\r\n\r\n", "GET", "HTTP/1.0") // longer in lower case
	f.Fuzz(func(t *testing.T, raw, method, version string) {
		q := request{method: method, target: "x", version: version}
		r := parseResponse([]byte(raw), q)
		r.complete(q)
		if len(r.body)+len(r.surplus) > len(raw) {
			t.Errorf("%q: more than was read: %q and %q", raw, r.body, r.surplus)
		}
		cited := []string{r.get("Location")}
		for _, l := range linksOf(r) {
			cited = append(cited, l.target)
		}
		for _, s := range cited {
			if !strings.HasSuffix(s, urnAtEnd(s)) {
				t.Errorf("%q does not end with %q", s, urnAtEnd(s))
			}
		}
		_, parts := readParts(r.text())
		for _, p := range parts {
			p.values()
			if strings.Contains(p.locator(), "\n") {
				t.Errorf("%q: the URL %q has a line break", raw, p.locator())
			}
		}
		contexts(r.body)
		firstURL(r)
	})
}
