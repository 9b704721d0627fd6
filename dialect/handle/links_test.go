package handle

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Links and a few other fields of values are in the header of a redirect. None of them can do harm.
func TestFieldsOfValues(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/l",
		"10320/loc", `<locations><location href="https://a.example.org/" rel="item" media-type="text/html" title="Say &quot;a\b&quot;"/></locations>`,
		"10320/links", `<locations><location href="https://b.example.org/{}" rel="license" title="Größe" language="de" hreflang="de" media="print" anchor="#x"/>`+
			`<location href="https://c.example.org/"/><location href="javascript:alert(1)" rel="x"/><location href="https://d.example.org/&gt;;" rel="a&#10;Set-Cookie: b=c"/></locations>`,
		"10320/headers", "link: <https://e.example.org/>; rel=next\nSunset:  Sat, 31 Dec 2050 23:59:59 GMT\r\nSet-Cookie: a=b\nX-Accel-Redirect: /etc\nLocation: https://evil.example/\n<meta name=a>\nLink: \x00\nX-Robots-Tag: noindex")
	status, to, _, header := h.visit("/20.500.9999/l")
	want := []string{
		`<https://e.example.org/>; rel=next`,
		`<https://a.example.org/>; rel="item"; type="text/html"; title="Say \"a\\b\""`,
		`<https://b.example.org/%7B%7D>; anchor="#x"; rel="license"; media="print"; hreflang="de"; title*=UTF-8'de'Gr%C3%B6%C3%9Fe`,
	}
	if got := header.Values("Link"); status != 302 || to != "https://a.example.org/" || !slices.Equal(got, want) {
		t.Errorf("got %d to %q with links\n%s\nwant\n%s", status, to, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if a, b, c, d := header.Get("Sunset"), header.Get("Set-Cookie"), header.Get("X-Accel-Redirect"), header.Get("X-Robots-Tag"); a != "Sat, 31 Dec 2050 23:59:59 GMT" || b != "" || c != "" || d != "noindex" {
		t.Errorf("got Sunset %q, Set-Cookie %q, X-Accel-Redirect %q, X-Robots-Tag %q", a, b, c, d)
	}
	h.keep("20.500.9999/many", "URL", "https://example.org/", "10320/headers", strings.Repeat("Link: <https://example.org/>; rel=next\n", 1000))
	_, _, _, header = h.visit("/20.500.9999/many")
	if n := len(strings.Join(header.Values("Link"), "")); n == 0 || n > maxFields {
		t.Errorf("%d bytes of links", n)
	}
}

// The labels that can be before a handle, and the form of a page.
func TestLabels(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/a:b", "URL", "https://example.org/a")
	for target, want := range map[string]int{
		"/info:hdl/20.500.9999/a:b":            302,
		"/INFO:DOI/20.500.9999/a:b":            302,
		"//20.500.9999/a:b":                    302,
		"/urn:hdl:20.500.9999/a:b":             302,
		"/urn:hdl:20.500.9999:a:b":             302,
		"/URN:EIDR:20.500.9999:a:b":            302,
		"/urn:doi:20.500.9999%3Aa:b":           302,
		"/urn:hdl:20.500.1:a":                  http.StatusTeapot,
		"/urn:isbn:20.500.9999:a:b":            http.StatusTeapot,
		"/hdl:20.500.9999/a:b":                 http.StatusTeapot, // answered as a name
		"/hdl:20.500.9999/a:b?s=I2Ls":          http.StatusTeapot,
		"/hdl:20.500.9999/a:b?noredirect":      200,
		"/doi:20.500.9999/a:b?x=y;index=1":     302,
		"/hdl:20.500.9999/none?ignore_aliases": 404,
	} {
		if status, to, _, _ := h.visit(target); status != want || status == 302 && to != "https://example.org/a" {
			t.Errorf("GET %s: got %d to %q, want %d", target, status, to, want)
		}
	}
	for body, want := range map[string]int{
		"hdl=20.500.9999%2Fa%3Ab": 302, "hdl=+hdl%3A20.500.9999/a:b+": 302, "hdl=20.500.9999/none": 404, "hdl=20.500.1/x": 400,
		"hdl=": 400, "": 400, "hdl=%zz": 400, "hdl=" + strings.Repeat("a", maxForm): 400,
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if resp := h.send(r, "/"); resp.StatusCode != want {
			t.Errorf("POST %.40s: got %d, want %d", body, resp.StatusCode, want)
		}
	}
	if resp := h.do("POST", "/", "", "{}"); resp.StatusCode != http.StatusTeapot {
		t.Errorf("POST of JSON: got %d", resp.StatusCode)
	}
}
