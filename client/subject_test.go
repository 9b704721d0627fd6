package client

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, key, subject, r, q string }{
		{in: "urn:dns:example.com:alb002", key: "urn:dns:example.com:alb002", subject: "urn:dns:example.com:alb002"},
		{in: "<urn:dns:exa\n mple.com:alb\t\r\n 002>", key: "urn:dns:example.com:alb002", subject: "urn:dns:example.com:alb002"}, // Y95-05, Y95-06
		{in: " URN:dns:Example.com:a b%2d ", key: "urn:dns:example.com:ab-", subject: "URN:dns:Example.com:ab%2d"},
		{in: "urn:dns:example.com:a?+r?=q", key: "urn:dns:example.com:a", subject: "urn:dns:example.com:a", r: "r", q: "q"},
		{in: "urn:ietf:rfc:2648#section", key: "urn:ietf:rfc:2648", subject: "urn:ietf:rfc:2648#section"}, // N12-38
		{in: "urn:x-y:A%2f?=q#f", key: "urn:x-y:A%2F", subject: "urn:x-y:A%2f#f", q: "q"},
		{in: "ark:/12345/X-1#f", key: "ark:12345/X1", subject: "ark:/12345/X-1#f"},
		{in: "<https://purl.example/\n x>", key: "https://purl.example/x", subject: "https://purl.example/x"},
		{in: "urn:dns:example.com:~a", key: "urn:dns:example.com:%7Ea", subject: "urn:dns:example.com:~a"},
	} {
		q, err := Parse(tt.in)
		if err != nil || q.Name.Key() != tt.key || q.Subject.String() != tt.subject || q.R != tt.r || q.Q != tt.q {
			t.Errorf("Parse(%q) = %+v, %v, want %q %q %q %q", tt.in, q, err, tt.key, tt.subject, tt.r, tt.q)
		}
	}
	for _, tt := range []struct {
		in, name string
		offset   int
		rule     string
	}{
		{"urn:dns:example.com", "urn:dns:example.com", 19, "urn95"},
		{"urn:dns:example.com:a?b", "urn:dns:example.com:a?b", 21, "ElementID"}, // Y95-08
		{"urn:dns:example.com:a#b", "urn:dns:example.com:a#b", 21, "ElementID"}, // Y95-08
		{"urn:dns:example.com:a?=b#c", "urn:dns:example.com:a?=b#c", 21, "ElementID"},
		{"<urn:dns:example .com:%2>", "urn:dns:example.com:%2", 20, "ElementID"},
		{"urn:dns:-bad-.com:x", "urn:dns:-bad-.com:x", 8, "AuthorityID"}, // Y95-20
		{"urn:x-y:a?b", "urn:x-y:a?b", 9, "rq-components"},
		{"alb002", "alb002", 6, "scheme"},
		{"", "", 0, "scheme"},
		{"https://a b", "https://a b", 9, "host"},
	} {
		_, err := Parse(tt.in)
		var e *nomen.Error
		if !errors.As(err, &e) || e.Kind != nomen.Malformed || e.Name != tt.name || e.Offset != tt.offset || e.Rule == "" {
			t.Errorf("Parse(%q): got %+v, want %q at %d by %s", tt.in, e, tt.name, tt.offset, tt.rule)
		}
	}
}

func TestParseDialect(t *testing.T) {
	for _, tt := range []struct {
		d    urn.Dialect
		in   string
		want nomen.Question // without Name and Subject
		id   string
	}{
		{urn.Draft2012, "urn:foo:a", nomen.Question{}, "N12-24"},
		{urn.Draft2012, "urn:foo:a?s=I2Ls&c=ToC#f", nomen.Question{Service: nomen.I2Ls, Component: "ToC"}, "N12-34"},
		{urn.Draft2012, "<urn:foo:\n a?c=T%6fC>", nomen.Question{Component: "ToC"}, "N12-34"},
		{urn.Draft2012, "urn:foo:a?s=I=I", nomen.Question{Service: nomen.IisI}, "N12-27"},
		{urn.Draft2012, "urn:foo:a?s=I2L&c=a&s=I2R", nomen.Question{Component: "a"}, "N12-29"},
		{urn.Draft2012, "urn:foo:a?page=4&s=I2L&zz=", nomen.Question{Service: nomen.I2L, Query: "page=4&zz="}, "N12-30"},
		{urn.Draft2012, "urn:foo:a?s=i2l", nomen.Question{}, "N12-32"},
		{urn.Draft2012, "urn:foo:a?S=I2L", nomen.Question{Query: "S=I2L"}, "N12-28"},
		{urn.RFC8141, "urn:foo:a?+s=I2L?=c=ToC", nomen.Question{R: "s=I2L", Q: "c=ToC"}, "RFC 8141, 2.3"},
		{urn.Draft1995, "urn:dns:example.com:a b", nomen.Question{}, "Y95-05"},
	} {
		q, err := ParseDialect(tt.d, tt.in)
		if q.Name.IsZero() {
			t.Errorf("%s: ParseDialect(%q): %v", tt.id, tt.in, err)
		}
		q.Name, q.Subject = name.Name{}, uri.URI{}
		if err != nil || q != tt.want {
			t.Errorf("%s: ParseDialect(%q) = %+v, %v, want %+v", tt.id, tt.in, q, err, tt.want)
		}
	}
	for in, d := range map[string]urn.Dialect{
		"urn:foo:a/b": urn.Draft2012, "urn:foo:a?x": urn.Draft2012, "urn:foo:a&b": urn.RFC2141, "urn:foo:a?b": urn.RFC2141, "urn:a:b": urn.Draft1995,
	} {
		if q, err := ParseDialect(d, in); err == nil {
			t.Errorf("ParseDialect(%s, %q) = %+v", d, in, q)
		}
	}
}

// The spelling is sent only if it spells the name asked about.
func TestSubjectOf(t *testing.T) {
	alb := name.MustParse("urn:dns:example.com:alb-2")
	for _, tt := range []struct {
		q    nomen.Question
		want string
	}{
		{nomen.Question{Name: alb}, "urn:dns:example.com:alb-2"},
		{nomen.Question{Name: alb, Subject: uri.MustParse("URN:dns:Example.com:alb%2d2")}, "URN:dns:Example.com:alb%2d2"},
		{nomen.Question{Name: alb, Subject: uri.MustParse("urn:dns:example.com:other")}, "urn:dns:example.com:alb-2"},
		{nomen.Question{Subject: uri.MustParse("URN:dns:Example.com:alb%2d2")}, "URN:dns:Example.com:alb%2d2"},
	} {
		if s, _, err := subjectOf(tt.q); err != nil || s.name != alb || s.spelling != tt.want {
			t.Errorf("%+v: got %+v, %v, want %q", tt.q, s, err, tt.want)
		}
	}
}

// A reserved character cannot be sent to a resolver of the 1995 protocol (Y95-08), whether the
// question was parsed or built.
func TestReserved(t *testing.T) {
	n := newInternet(t)
	for _, s := range []string{"urn:dns:example.com:a?=q", "urn:dns:example.com:a?b", "urn:dns:example.com:a#b"} {
		q, err := Parse(s)
		if err == nil {
			_, err = n.client(Options{}).Resolve(t.Context(), q)
		}
		_, made := n.client(Options{}).Resolve(t.Context(), nomen.Question{Subject: uri.MustParse(s)})
		for _, err := range []error{err, made} {
			var e *nomen.Error
			if !errors.As(err, &e) || e.Kind != nomen.Malformed || e.Offset != 21 || e.Name != s || !strings.Contains(e.Message, "reserved character") {
				t.Errorf("%s: got %v", s, err)
			}
		}
	}
}

// The components of a subject are sent with the name.
func TestComponentsOfSubject(t *testing.T) {
	n := newInternet(t)
	n.host("proxy", "192.0.2.1", says(urc("https://example.org/x")))
	q := nomen.Question{Subject: uri.MustParse("urn:x-y:a?+r?=q#f")}
	if _, err := n.client(Options{Via: "proxy"}).Resolve(t.Context(), q); err != nil || n.asked[0].line != "GET urn:x-y:a?+r?=q HTTP/1.0" {
		t.Errorf("%v after %q", err, n.lines())
	}
}

func TestRouteError(t *testing.T) { // Y95-18
	c := newClient(t, Options{})
	for _, s := range []string{"urn:isbn:whoever:123", "ark:/12345/x", "https://purl.example/x", "urn:ietf:rfc:1"} {
		_, err := c.Resolve(t.Context(), ask(t, s, ""))
		var e *RouteError
		if !errors.As(err, &e) || e.Name != s {
			t.Errorf("%s: got %v", s, err)
		}
	}
}

func TestVia(t *testing.T) {
	for in, want := range map[string]way{
		"example.com":                  proxy{host: "example.com", port: 4500},
		"example.com:80":               proxy{host: "example.com", port: 80},
		"[::1]:80":                     proxy{host: "::1", port: 80},
		"[::1]":                        proxy{host: "::1", port: 4500},
		"localhost":                    proxy{host: "localhost", port: 4500},
		"http://Example.com":           site{"http://example.com/"},
		"https://example.com:8443/a/":  site{"https://example.com:8443/a/"},
		"https://example.com/a%2Fb/~c": site{"https://example.com/a%2Fb/~c/"},
	} {
		c := newClient(t, Options{Via: in})
		if c.via != want {
			t.Errorf("%q: got %#v, want %#v", in, c.via, want)
		}
	}
	for _, in := range []string{
		":80", "example.com:", "example.com:0", "example.com:65536", "example.com:http", "a/b", "a b", "user@example.com", "[::1",
		"ftp://example.com", "http://", "http:///x", "http://u:p@example.com/", "http://example.com/?q", "http://example.com/?", "http://example.com/#f", "http://[x",
	} {
		if c, err := New(Options{Via: in}); err == nil {
			t.Errorf("%q became %#v", in, c.via)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"<urn:dns:example.com:a\n b>", "urn:x-y:a?+r?=q#f", "ark:/12345/x", "https://purl.example/a?b", "urn:dns:a:b?c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s)
		if err != nil {
			var e *nomen.Error
			if !errors.As(err, &e) || e.Kind != nomen.Malformed || e.Offset < 0 || e.Offset > len(e.Name) || e.Rule == "" {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		sub, _, err := subjectOf(q)
		if err != nil || sub.name != q.Name || !validTarget(sub.spelling+components(q)) {
			t.Fatalf("%q: %+v, %+v, %v", s, q, sub, err)
		}
	})
}
