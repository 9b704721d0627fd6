package server

import (
	"bytes"
	"context"
	"errors"
	"html"
	"iter"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// ask calls decide for a GET request, without a connection.
func ask(s *Server, target string, change ...func(*request)) *reply {
	r := &request{
		method: "GET", target: target, version: version{1, 1}, host: "example.org",
		local: netip.MustParseAddrPort("192.0.2.1:4500"),
	}
	for _, c := range change {
		c(r)
	}
	return s.decide(context.Background(), r)
}

func accepting(accept string) func(*request) { return func(r *request) { r.accept = accept } }
func speaking(tag string) func(*request)     { return func(r *request) { r.languages = tag } }
func hosted(host string) func(*request)      { return func(r *request) { r.host = host } }
func inHTTP10(r *request)                    { r.version = version{1, 0} }

// Y95-12, Y95-37, Y95-63: the name is determined by the target and the Host field.
func TestTargets(t *testing.T) {
	s, _ := newTestServer(t, nil)
	const rfc, alb = "https://www.rfc-editor.org/rfc/rfc2648.txt", "https://example.org/albums/2"
	for _, tt := range []struct {
		target, host string
		status       int
		want         string // Location, or a part of the body
	}{
		{"/urn:ietf:rfc:2648", "x", 303, rfc},
		{"/URN:IETF:rfc:2648", "x", 303, rfc},
		{"/urn%3Aietf%3Arfc%3A2648", "x", 303, rfc},
		{"/urn%3aietf%3arfc%3a2648", "x", 303, rfc},
		{"/urn%3Adns%3Aexample.org%3Aa%252Fb", "x", 303, "https://example.org/escaped"},
		{"/urn%3Adns%3Aexample.org%3Aa%0D%0Ab", "x", 400, ""}, // contains line breaks after unescaping
		{"/urn:dns:example.org:a%2fb", "x", 303, "https://example.org/escaped"},
		{"/urn:dns:example.org:deep/er", "x", 303, "https://example.org/deeper"},
		{"/urn:example:pipe|ed", "x", 303, "https://example.org/pipe"}, // N12-21
		{"/urn:example:pipe%7ced", "x", 303, "https://example.org/pipe"},
		{"/urn:example:\xc3\xa9", "x", 404, "urn:example:%C3%A9"},
		{"/urn:example:[x]", "x", 400, "NSS"},
		{"/urn:x", "x", 400, "assigned-name"},
		{"/urn:example:none", "x", 404, "urn:example:none"},
		{"/ark:12345/x", "x", 200, "https://example.org/ark"},
		{"/ark:/12345/x", "x", 200, "https://example.org/ark"},
		{"/ARK:/12345/x/", "x", 200, "https://example.org/ark"},
		{"/https://purl.example/net/x", "x", 303, "https://example.org/purl"},
		{"/https://purl.example/net/x?utm=1", "x", 303, "https://example.org/purl"},
		{"/net/x", "purl.example", 303, "https://example.org/purl"},
		{"/net/x?utm=1", "PURL.example.:443", 303, "https://example.org/purl"},
		// A web name with a query is found at its URL.
		{"/cgi?id=7&s=I2C", "purl.example", 303, "https://example.org/by-id"},
		{"/https://purl.example/cgi?id=7&s=I2C", "x", 303, "https://example.org/by-id"},
		{"/https%3A%2F%2Fpurl.example%2Fcgi%3Fid=7&s=I2C", "x", 303, "https://example.org/by-id"},
		{"/https%3A%2F%2Fpurl.example%2Fcgi%3Fid=7&s=I2C?s=I2Ls", "x", 200, "https://example.org/by-id"},
		{"/uri-res/N2Ls?https://purl.example/cgi?id=7&s=I2C", "x", 200, "https://example.org/by-id"},
		{"/uri-res/N2L?https%3A%2F%2Fpurl.example%2Fcgi%3Fid=7%26s=I2C", "x", 303, "https://example.org/by-id"},
		{"/cgi?id=8", "purl.example", 404, "https://purl.example/cgi"},
		{"/net/none", "purl.example", 404, "https://purl.example/net/none"},
		{"/alb002", "example.org", 200, alb},
		{"/alb002", "EXAMPLE.ORG:4500", 200, alb},
		{"/alb002?x=y", "example.org", 200, alb},
		{"/alb002?s=I2L", "example.org", 303, alb},
		{"//x", "example.org", 404, "urn:dns:example.org:/x"},
		{"/deep/er", "example.org", 200, "https://example.org/deeper"},
		{"/..", "example.org", 404, "urn:dns:example.org:.."},
		{"/2648", "unknown.example", 421, "Host field"}, // Y95-21, Y95-37
		{"/2648", "localhost:4500", 200, rfc},
		{"/doi:nothing", "example.org", 404, "urn:dns:example.org:doi:nothing"},
		{"/doi:nothing", "x", 400, "doi"},
		{"/odd:element", "example.org", 404, "urn:dns:example.org:odd:element"},
		{"/a b", "example.org", 404, "urn:dns:example.org:a%20b"},
		{"ark:12345/x", "x", 200, "https://example.org/ark"},
		{"a b", "example.org", 400, "a b"},
		{"http://localhost:4500/urn:ietf:rfc:2648", "x", 303, rfc},
		{"HTTP://EXAMPLE.org/alb002", "x", 200, alb},
		{"http://example.org?x", "x", 200, "nomen 1.2.3"},
		{"http://example.org", "x", 200, "nomen 1.2.3"},
		{"http:///alb002", "x", 421, "not a proxy"},
		{"http://127.0.0.1:4500/urn:ietf:rfc:2648", "x", 303, rfc},
		{"http://192.0.2.1:4500/urn:ietf:rfc:2648", "x", 303, rfc}, // the address of the listener
		{"http://192.0.2.2:4500/urn:ietf:rfc:2648", "x", 421, "not a proxy"},
		{"/old?s=I2L", "example.org", 301, "/urn:dns:example.org:alb002?s=I2L"},
		{"old?s=I2L", "example.org", 301, "urn:dns:example.org:alb002"},
		{"/urn:dns:example.org:old?=q=1", "x", 301, "/urn:dns:example.org:alb002?=q=1"},
		{"/urn:dns:example.org:old?fbclid=1", "x", 301, "/urn:dns:example.org:alb002"},
		{"http://example.org@evil.example/alb002", "x", 421, "not a proxy"},
		{"https://evil.example/urn:ietf:rfc:2648", "example.org", 421, "not a proxy"},
		{"ftp://example.org/x", "example.org", 404, "urn:dns:example.org:ftp://example.org/x"},
		{"/-/list/https%3A%2F%2Fpurl.example", "x", 404, "list not found"},
		{"/-/nothing", "example.org", 404, "page not found"},
		{"/.well-known/security.txt", "example.org", 404, "page not found"},
		{"/robots.txt", "example.org", 200, "Disallow: /-/"},
		{"/favicon.ico", "example.org", 204, ""},
		{"/-/healthz", "example.org", 200, "ok"},
		{"/-/readyz", "example.org", 200, "ready"},
		{"/-/openapi.json", "example.org", 200, `"openapi": "3.1.0"`},
		{"/-/problems/retired", "example.org", 200, "retired"},
		{"/-/problems/none", "example.org", 404, ""},
		{"/-/resolve?name=%3Curn%3Aietf%3A%0A%20rfc%3A2648%3E", "x", 303, "/urn%3Aietf%3Arfc%3A2648"},
		{"/-/resolve?name=a%2F%3Fb", "x", 303, "/a/%3Fb"},
		{"/-/resolve?name=%2F%2Fevil.example%2F", "x", 303, "/evil.example/"},
		{"/-/resolve?name=%5C%5Cevil.example", "x", 303, "/%5C%5Cevil.example"},
		{"/-/resolve", "x", 303, "/"},
		{"", "example.org", 400, ""},
	} {
		p := ask(s, tt.target, hosted(tt.host))
		got := p.get("Location")
		if got == "" {
			got = string(p.body)
		}
		if p.status != tt.status || !strings.Contains(got, tt.want) || p.status/100 == 3 && got != tt.want {
			t.Errorf("%q at %s: got %d %q, want %d %q", tt.target, tt.host, p.status, got, tt.status, tt.want)
		}
	}
}

func TestNoAuthority(t *testing.T) { // Y95-21
	s, st := newTestServer(t, nil)
	a, err := st.Authority(t.Context(), testAuthorities()[0].Prefix, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	a.Default = false
	if _, err := st.Apply(t.Context(), []store.Change{{Authority: a, Expected: a.Revision, Time: testNow}}); err != nil {
		t.Fatal(err)
	}
	for target, status := range map[string]int{"2648": 404, "/2648": 404, "urn+c": 404, "urn+m": 200, "urn:ietf:rfc:2648": 200, "urn:dns:example.com:urn+p": 404} {
		if p := ask(s, target, hosted("unknown.example")); p.status != status {
			t.Errorf("%s: got %d %s, want %d", target, p.status, p.body, status)
		}
	}
}

func TestTHTTP(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range []struct {
		target, accept string
		status         int
		want           string
	}{
		{"/uri-res/N2L?urn:ietf:rfc:2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/URI-RES/n2l?urn:ietf:rfc:2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/uri-res/I2L?urn%3Aietf%3Arfc%3A2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/uri-res/N2L?urn:ietf:rfc:2648?s=I2C", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/uri-res/N2L?urn:ietf:rfc:2648?=a=1", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt?a=1"},
		{"/uri-res/N2Ls?urn:ietf:rfc:2648", "", 200, "https://www.rfc-editor.org/rfc/rfc2648.txt\r\nhttps://www.rfc-editor.org/rfc/rfc2648.html\r\n"},
		{"/uri-res/N2Ls?urn:ietf:rfc:2648", "text/html,*/*;q=0.8", 200, `<UL><LI><A HREF="https://www.rfc-editor.org/rfc/rfc2648.txt">`},
		{"/uri-res/N2Ls?urn:dns:example.org:bare", "", 200, ""},
		{"/uri-res/N2L?urn:dns:example.org:bare", "", 404, "no location"},
		{"/uri-res/N2C?urn:ietf:rfc:2648", "", 200, "title: A URN Namespace"},
		{"/uri-res/I2Cs?urn:ietf:rfc:2648", "application/json", 200, `"A URN Namespace for IETF Documents"`},
		{"/uri-res/N2Ns?urn:ietf:rfc:2648", "", 200, "urn:doi:10.17487/rfc2648\r\n"},
		{"/uri-res/I2N?urn:ietf:rfc:2648", "", 200, "urn:doi:10.17487/rfc2648\r\n"},
		{"/uri-res/I2N?urn:dns:example.org:alb002", "", 404, "no other name"},
		{"/uri-res/L2Ns?https://example.org/albums/2", "application/json", 200, `"same_as":["urn:dns:example.org:alb002"]`},
		{"/uri-res/L2Ns?https://example.org/albums/", "application/json", 200, `"same_as":[]`},
		{"/uri-res/I=I?urn:ietf:rfc:2648", "", 400, "I=I?URI&URI"},
		{"/uri-res/I=I?urn:ietf:rfc:2648&", "", 400, "I=I?URI&URI"},
		{"/uri-res/I=I?urn:ietf:rfc:2648&2648", "", 400, "including its scheme"},
		{"/N2L?urn:ietf:rfc:2648", "", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/n2ls?URN%3Aietf%3Arfc%3A2648", "", 200, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
		{"/N2L?x=urn:ietf:rfc:2648", "", 404, "urn:dns:example.org:N2L"},
		{"/uri-res/<script>?urn:ietf:rfc:2648", "text/html", 404, "&lt;script&gt;"},
		{"/uri-res/N2L", "", 400, "SERVICE?URI"},
		{"/uri-res/N2L?", "", 400, "SERVICE?URI"},
		{"/uri-res/N2L?2648", "", 400, "including its scheme"},
		{"/uri-res/N2L?urn:x", "", 400, "assigned-name"},
		{"/uri-res/N2C?urn:dns:example.org:split", "", 410, "a new edition"},
		{"/uri-res/N2L?urn:dns:example.org:old", "", 301, "/urn:dns:example.org:alb002"},
		{"/uri-res/N2L?urn:dns:example.org:urn+m", "", 200, "mailto:names@example.org"},
		// A client that accepts only text/plain gets 200, Location and the list.
		{"/uri-res/N2L?urn:ietf:rfc:2648", "text/plain", 200, "https://www.rfc-editor.org/rfc/rfc2648.txt\r\nhttps://www.rfc-editor.org/rfc/rfc2648.html\r\n"},
		{"/uri-res/N2L?urn:ietf:rfc:2648", "text/plain, */*;q=0.1", 303, "https://www.rfc-editor.org/rfc/rfc2648.txt"},
	} {
		p := ask(s, tt.target, accepting(tt.accept))
		got := string(p.body)
		if p.status/100 == 3 {
			got = p.get("Location")
		}
		if p.status != tt.status || !strings.Contains(got, tt.want) || p.status/100 == 3 && got != tt.want {
			t.Errorf("%s, Accept: %s: got %d %s, want %d %s", tt.target, tt.accept, p.status, got, tt.status, tt.want)
		}
		if tt.accept == "text/plain" && p.get("Location") != "https://www.rfc-editor.org/rfc/rfc2648.txt" {
			t.Errorf("%s: Location %q", tt.target, p.get("Location"))
		}
	}
}

func TestQueries(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range []struct {
		title, query string
		status       int
		want         string
	}{
		{"N12-32 service", "s=I2C", 200, "name: urn:dns:example.org:queried"},
		{"N12-28 keyword in capitals", "S=I2C", 303, "https://example.org/q?a=1#top"},
		{"N12-61 service in small letters", "s=i2c", 303, "https://example.org/q?a=1#top"},
		{"N12-32 unknown service", "s=XYZ", 303, "https://example.org/q?a=1#top"},
		{"A12-1 I2U", "s=I2U", 303, "https://example.org/q?a=1#top"},
		{"N12-27 I=I is not offered", "s=I=I", 303, "https://example.org/q?a=1#top"},
		{"N12-32 escaped service", "s=I2%43", 200, "name: urn:dns:example.org:queried"},
		{"N12-32 service escaped badly", "s=I2C%", 303, "https://example.org/q?a=1#top"},
		{"N12-27 I=I as a form sends it", "s=I%3DI&with=urn:dns:example.org:queried", 200, "TRUE"},
		{"N12-29 twice", "s=I2C&s=I2N", 303, "https://example.org/q?a=1#top"},
		{"N12-29 twice, the others are kept", "s=I2Ls&c=a&c=b", 200, "https://example.org/q?a=1#top"},
		{"N12-30 unknown keyword", "zz=1&s=I2C", 200, "name: urn:dns:example.org:queried"},
		{"N12-31 unknown component", "c=toc", 303, "https://example.org/q?a=1#top"},
		{"N12-25 no directive", "x", 303, "https://example.org/q?a=1#top"},
		{"N12-25 empty", "", 303, "https://example.org/q?a=1#top"},
		{"N12-25 odd ampersands", "&&s=I2C&", 200, "name: urn:dns:example.org:queried"},
		{"q-component", "=b=2", 303, "https://example.org/q?a=1&b=2#top"},
		{"r-component", "+x", 303, "https://example.org/q?a=1#top"},
		{"both", "+x?=b=2", 303, "https://example.org/q?a=1&b=2#top"},
		{"q with plus", "=b?+c", 303, "https://example.org/q?a=1&b?+c#top"},
		{"empty q", "=", 303, "https://example.org/q?a=1#top"},
		{"malformed q", "=%0", 303, "https://example.org/q?a=1#top"},
		{"q with a line end", "=a%0D%0ASet-Cookie:x", 303, "https://example.org/q?a=1&a%0D%0ASet-Cookie:x#top"},
		{"q with a fragment", "=a#b", 303, "https://example.org/q?a=1#top"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			p := ask(s, "/urn:dns:example.org:queried?"+tt.query)
			got := p.get("Location")
			if got == "" {
				got = string(p.body)
			}
			if p.status != tt.status || !strings.Contains(got, tt.want) || p.status == 303 && got != tt.want {
				t.Errorf("got %d %q, want %d %q", p.status, got, tt.status, tt.want)
			}
		})
	}
}

// For I2L, Accept ranks the locations, and selects a description only if a type is
// preferred that no location has.
func TestAcceptOfLocations(t *testing.T) {
	s, _ := newTestServer(t, nil)
	const plain, page = "https://www.rfc-editor.org/rfc/rfc2648.txt", "https://www.rfc-editor.org/rfc/rfc2648.html"
	for _, tt := range []struct{ target, accept, want string }{
		{"/urn:ietf:rfc:2648", "", plain},
		{"/urn:ietf:rfc:2648", "*/*", plain},
		{"/urn:ietf:rfc:2648", "text/html", page},
		{"/urn:ietf:rfc:2648", "text/html;q=0.2, text/plain;q=0.1", page},
		{"/urn:ietf:rfc:2648", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", page},
		{"/urn:ietf:rfc:2648", "image/png", plain},
		{"/urn:ietf:rfc:2648", "application/json", format.TypeJSON},
		{"/urn:ietf:rfc:2648", "application/json, text/plain, */*", plain}, // the same weight is not preferred
		{"/urn:ietf:rfc:2648", "application/json;q=0.9, */*;q=0.8", format.TypeJSON},
		{"/urn:ietf:rfc:2648", "application/json;q=0.8, text/*", plain},
		{"/urn:ietf:rfc:2648", "application/linkset+json", format.TypeLinksetJSON},
		{"/urn:ietf:rfc:2648", "application/ld+json", format.TypeJSONLD},
		{"/urn:ietf:rfc:2648", "application/linkset", format.TypeLinkset},
		{"/urn:ietf:rfc:2648", "text/uri-list", format.TypeURIList},
		{"/urn:ietf:rfc:2648", "text/urc-0, text/html;q=0.5", format.TypeURC},
		{"/urn:ietf:rfc:2648", "application/*", plain},
		{"/urn:dns:example.org:data", "application/json", "https://example.org/data.json"},
		{"/urn:dns:example.org:bare", "application/json", format.TypeJSON},
		{"/urn:dns:example.org:none", "application/json", format.TypeProblem},
	} {
		p := ask(s, tt.target, accepting(tt.accept), speaking("en"))
		got := p.get("Location")
		if got == "" {
			got, _, _ = strings.Cut(p.get("Content-Type"), ";")
		}
		if got != tt.want {
			t.Errorf("%s, Accept: %s: got %d %s, want %s", tt.target, tt.accept, p.status, got, tt.want)
		}
		if vary := p.get("Vary"); !strings.HasPrefix(vary, "Accept") {
			t.Errorf("%s: Vary is %q", tt.target, vary)
		}
	}
}

// HEAD returns the fields of GET, and 304 the caching fields of 200.
func TestConditions(t *testing.T) {
	s, _ := newTestServer(t, nil)
	full := ask(s, "/alb002")
	tag := full.get("ETag")
	before, after := "Thu, 19 Nov 2026 08:29:59 GMT", "Thu, 19 Nov 2026 08:30:01 GMT"
	for _, tt := range []struct {
		title                                 string
		match, unmodified, noneMatch, changed string
		want                                  int
	}{
		{title: "nothing", want: 200},
		{title: "Y95-68 before", changed: before, want: 200},
		{title: "Y95-68 equal", changed: modifiedText, want: 304},
		{title: "Y95-68 after", changed: after, want: 304},
		{title: "Y95-68 in the form of C", changed: "Thu Nov 19 08:30:00 2026", want: 304},
		{title: "same tag", noneMatch: tag, want: 304},
		{title: "same tag, weak", noneMatch: "W/" + tag, want: 304},
		{title: "same tag among others", noneMatch: `"a,b" , ` + tag, want: 304},
		{title: "other tag", noneMatch: `"x"`, want: 200},
		{title: "other tag goes before the date", noneMatch: `"x"`, changed: after, want: 200},
		{title: "no tag at all", noneMatch: "nonsense", changed: after, want: 200},
		{title: "an unclosed tag", noneMatch: `"x`, want: 200},
		{title: "match", match: tag, want: 200},
		{title: "match is strong", match: "W/" + tag, want: 412},
		{title: "match of another", match: `"x"`, want: 412},
		{title: "match of any", match: "*", want: 200},
		{title: "match and not modified", match: tag, changed: modifiedText, want: 304},
		{title: "unmodified", unmodified: modifiedText, want: 200},
		{title: "modified", unmodified: before, want: 412},
		{title: "match goes before unmodified", match: tag, unmodified: before, want: 200},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			p := ask(s, "/alb002", func(r *request) {
				r.method, r.ifMatch, r.ifUnmodifiedSince = method, tt.match, tt.unmodified
				r.ifNoneMatch, r.ifModifiedSince = tt.noneMatch, tt.changed
			})
			if p.status != tt.want {
				t.Errorf("%s, %s: got %d, want %d", method, tt.title, p.status, tt.want)
			}
			if p.status != 304 {
				continue
			}
			for _, name := range []string{"ETag", "Last-Modified", "Vary", "Cache-Control", "Date"} {
				if p.get(name) == "" || p.get(name) != full.get(name) {
					t.Errorf("%s, %s: %s is %q, want %q", method, tt.title, name, p.get(name), full.get(name))
				}
			}
			if p.get("Content-Type")+p.get("Content-Length") != "" || len(p.body) > 0 {
				t.Errorf("%s, %s: a 304 with a body", method, tt.title)
			}
		}
	}
	if html := ask(s, "/alb002", accepting("text/html")).get("ETag"); html == tag || html == "" {
		t.Errorf("two formats have one tag: %s", html)
	}
}

// A change within the second of the last response is not missed (Y95-67).
func TestLastModifiedWithinASecond(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)).UTC() }
	for _, tt := range []struct{ modified, now, want int }{
		{10_000, 20_000, 10_000},
		{10_200, 20_000, 11_000},
		{10_200, 10_500, 10_000}, // never later than Date
		{10_000, 10_000, 10_000},
	} {
		want := at(tt.want).Format("Mon, 02 Jan 2006 15:04:05 GMT")
		if got := validator.LastModified(at(tt.modified), at(tt.now)); got != want {
			t.Errorf("changed at %d, asked at %d: got %s, want %s", tt.modified, tt.now, got, want)
		}
	}
}

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
	// RFC 7089, 2.2.1: it is its own original, and its history is available here.
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

// A redirect passes on only the parts of a query that were understood.
func TestSuccessorQuery(t *testing.T) {
	s, _ := newTestServer(t, nil)
	const to = "/urn:dns:example.org:alb002"
	for query, want := range map[string]string{
		"":                    to,
		"?s=I2L&c=a%22b":      to + "?s=I2L&c=a%22b",
		`?s=I2L&x="><script>`: to + "?s=I2L",
		`?+r"<?=q`:            to + "?=q",
		"?+a/b?=c=d":          to + "?+a/b?=c=d",
		"?+a":                 to + "?+a",
		"?fbclid=1":           to,
	} {
		if got := ask(s, "/urn:dns:example.org:old"+query).get("Location"); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

// Records that a store should never contain do no harm.
func TestHostileRecord(t *testing.T) {
	evil := nomen.Location{
		URL: "https://example.org/\r\nSet-Cookie: a=b", Type: "text/html\"; rel=\"x", Lang: "en\r\nX: y", Rel: "item>", Note: "=====\r\n\x1b[2J<script>",
	}
	fake := resolverFunc(func(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
		a := &nomen.Answer{Service: q.Service, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{evil}}
		return a, nil
	})
	s, _ := newTestServer(t, func(o *Options) { o.Resolver = fake })
	for _, target := range []string{"/urn:ietf:rfc:1", "/urn:ietf:rfc:1?s=I2C", "/urn:ietf:rfc:1?s=I2Ls", "1"} {
		for _, f := range format.Formats() {
			p := ask(s, target, accepting(f.MediaType))
			for _, field := range p.fields {
				if strings.ContainsAny(field.value, "\r\n\x1b") || field.name == "Link" && strings.Contains(field.value, "Set-Cookie") {
					t.Errorf("%s as %s: %s: %q", target, f.Name, field.name, field.value)
				}
			}
			if f.MediaType != format.TypeCBOR && bytes.Contains(p.body, []byte("\x1b")) || f.MediaType == format.TypeHTML && bytes.Count(p.body, []byte("<script")) != bytes.Count(p.body, []byte(`<script type="application/ld+json">{`)) {
				t.Errorf("%s as %s: %s", target, f.Name, p.body)
			}
		}
	}
}

type resolverFunc func(context.Context, nomen.Question) (*nomen.Answer, error)

func (f resolverFunc) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	return f(ctx, q)
}

func TestErrors(t *testing.T) {
	var err error
	s, _ := newTestServer(t, func(o *Options) {
		o.Resolver = resolverFunc(func(context.Context, nomen.Question) (*nomen.Answer, error) { return nil, err })
	})
	for _, tt := range []struct {
		err    error
		status int
		want   string
	}{
		{&nomen.Error{Kind: nomen.Malformed, Name: "x", Rule: "NSS"}, 400, "/-/problems/malformed"},
		{&nomen.Error{Kind: nomen.Unknown, Name: "x"}, 404, "/-/problems/unknown-name"},
		{&nomen.Error{Kind: nomen.NoResult, Name: "x"}, 404, "/-/problems/no-result"},
		{&nomen.Error{Kind: nomen.Gone, Name: "x"}, 410, "/-/problems/retired"},
		{&nomen.Error{Kind: nomen.Denied, Name: "x"}, 403, "/-/problems/denied"},
		{&nomen.Error{Kind: nomen.Denied, Name: "x", Legal: true}, 451, "/-/problems/denied"},
		{&nomen.Error{}, 500, ""},
		{errors.New("secret of the disk"), 500, "try again"},
		{store.ErrClosed, 503, "try again"},
		{context.Canceled, 503, "try again"},
	} {
		err = tt.err
		p := ask(s, "/urn:ietf:rfc:1", accepting("application/json"))
		if p.status != tt.status || !bytes.Contains(p.body, []byte(tt.want)) || bytes.Contains(p.body, []byte("secret")) {
			t.Errorf("%v: got %d %s, want %d with %s", tt.err, p.status, p.body, tt.status, tt.want)
		}
	}
	// An internal failure is negotiated by Accept like all errors, and is not cached.
	for accept, want := range map[string]string{"text/html": "text/html; charset=utf-8", "application/json": "application/problem+json", "": "text/plain; charset=utf-8"} {
		p := ask(s, "/urn:ietf:rfc:1", accepting(accept))
		if p.get("Content-Type") != want || p.get("Cache-Control") != "no-store" || !strings.HasPrefix(p.get("Vary"), "Accept") {
			t.Errorf("a failure for %q: %+v", accept, p.fields)
		}
	}
}

func TestRedirectStatus(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for _, tt := range []struct {
		target string
		change func(*request)
		want   int
	}{
		{"/urn:ietf:rfc:2648", func(*request) {}, 303},
		{"/urn:ietf:rfc:2648", inHTTP10, 302},
		{"/urn:ietf:rfc:2648", func(r *request) { r.version = version{2, 0} }, 303}, // Y95-75
		{"/urn:dns:other.example:alb002", func(*request) {}, 307},
		{"/urn:dns:other.example:alb002", inHTTP10, 302},
	} {
		if got := ask(s, tt.target, tt.change).status; got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.target, got, tt.want)
		}
	}
}

func TestHomePage(t *testing.T) {
	s, _ := newTestServer(t, nil)
	page := ask(s, "/", accepting("text/html"))
	if !bytes.Contains(page.body, []byte("urn:dns:example.org")) || !bytes.Contains(page.body, []byte(`href="mailto:names@example.org"`)) {
		t.Errorf("got %s", page.body)
	}
	if policy := page.get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if text := ask(s, "/"); !strings.HasPrefix(text.get("Content-Type"), "text/plain") || !bytes.Contains(text.body, []byte("Albums of all kinds")) {
		t.Errorf("got %s", text.body)
	}
}

// A contact is a link on every page if following it only sends a request, whatever
// html/template thinks of its scheme; otherwise it is never a link.
func TestContactLinks(t *testing.T) {
	for contact, isLink := range map[string]bool{
		"mailto:names@example.org": true, "https://example.org/contact": true, "tel:+1-201-555-0123": true, "TEL:+358.9.1234;ext=5": true, "gopher://example.org/1": true,
		"ms-msdt:/id%20x": false, "tel:*%2306%23": false, "javascript:alert(1)": false, "callto:x": false,
	} {
		s, m := newTestServer(t, nil)
		a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-c"), Contact: contact, Revision: 1}
		if _, err := m.Apply(t.Context(), []store.Change{{Authority: a, Time: modified}}); err != nil { // without the registrar, which rejects some
			t.Fatal(err)
		}
		home := string(ask(s, "/", accepting("text/html")).body)
		link := `<a href="` + html.EscapeString(contact) + `">Contact</a>`
		if strings.Contains(html.UnescapeString(home), html.UnescapeString(link)) != isLink || !strings.Contains(html.UnescapeString(home), contact) || strings.Contains(home, "ZgotmplZ") {
			t.Errorf("%s: %s", contact, home)
		}
		for _, accept := range []string{"text/html", "application/json", "application/ld+json", "text/uri-list", "text/turtle", "application/linkset+json"} {
			p := ask(s, "/urn:x-c:urn+m", accepting(accept))
			body := html.UnescapeString(string(p.body))
			asURL := strings.Contains(body, `"`+contact+`"`) || strings.Contains(body, "<"+contact+">") || strings.HasPrefix(body, contact)
			if p.status != http.StatusOK || asURL != isLink || strings.Contains(p.get("Link"), contact) && !isLink {
				t.Errorf("%s, %s: a URL %t, want %t: %d %s", contact, accept, asURL, isLink, p.status, p.body)
			}
		}
	}
}

// The response to a failed lookup names the contact of the authority, if it has one.
func TestContactOfUnknown(t *testing.T) {
	s, _ := newTestServer(t, nil)
	const contact = "contact for urn:dns:example.org: names@example.org"
	for target, want := range map[string]bool{
		"/urn:dns:example.org:none": true, "/urn:dns:example.org:secret": true, "/urn:dns:example.org:split": false,
		"/urn:dns:other.example:none": false, "/urn:dns:example.org:urn+x": false,
	} {
		for _, accept := range []string{"text/html", "text/plain", "application/json"} {
			if p := ask(s, target, accepting(accept)); p.status < 400 || strings.Contains(string(p.body), contact) != want {
				t.Errorf("%s, %s: %d %s", target, accept, p.status, p.body)
			}
		}
	}
}

// A client that accepts HTML and plain text alike gets HTML for pages that are for
// people: the home page, errors, and types of problems. Descriptions are Y95-45.
func TestPagesForPeople(t *testing.T) {
	const lynx = "text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01"
	for _, tt := range []struct{ accept, want string }{
		{"", "text/plain"},
		{"*/*", "text/plain"},
		{"text/plain", "text/plain"},
		{"text/plain, */*;q=0.5", "text/plain"},
		{"text/plain, text/html", "text/html"},
		{"text/html;q=0.5, text/plain;q=0.5", "text/html"},
		{"Text/HTML;q=0.5, text/plain;q=0.6", "text/plain"},
		{"text/html;q=0, text/plain", "text/plain"},
		{lynx, "text/html"},
	} {
		s, _ := newTestServer(t, nil)
		for _, target := range []string{"/", "/urn:example:none", "/urn:x", "/-/nothing", "/-/problems/denied"} {
			if got := ask(s, target, accepting(tt.accept)).get("Content-Type"); got != tt.want+"; charset=utf-8" {
				t.Errorf("%s, Accept: %s: got %s, want %s", target, tt.accept, got, tt.want)
			}
		}
	}
	s, _ := newTestServer(t, nil)
	if got := ask(s, "/urn:example:none", accepting("application/json, text/html;q=0.9, text/plain;q=0.9")).get("Content-Type"); got != "application/problem+json" {
		t.Errorf("got %s", got)
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, o := range []Options{
		{},
		{Resolver: resolverFunc(nil), Store: emptyStore{}, PublicURL: "names.example"},
		{Resolver: resolverFunc(nil), Store: emptyStore{}, PublicURL: "https://names.example/a//b"},
		{Resolver: resolverFunc(nil), Store: emptyStore{}, PublicURL: "https://u@names.example"},
		{Resolver: resolverFunc(nil), Store: emptyStore{}, PublicURL: "https://names example"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("New with %q: no error", o.PublicURL)
		}
	}
}

// emptyStore fails every operation.
type emptyStore struct{ store.Reader }

func (emptyStore) Authorities(context.Context, time.Time) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) { yield(nil, errors.New("out of order")) }
}

func TestStoreFails(t *testing.T) {
	log, text := logged()
	s, err := New(Options{Resolver: resolverFunc(nil), Store: emptyStore{}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/urn:ietf:rfc:1", "alb\n"} {
		if p := ask(s, target); p.status != 500 {
			t.Errorf("%s: got %d", target, p.status)
		}
	}
	if strings.Count(text.String(), "out of order") != 2 || strings.Contains(text.String(), "alb\n") {
		t.Errorf("the log is %s", text)
	}
}

func FuzzDecide(f *testing.F) {
	for _, target := range []string{"2648", "/urn:ietf:rfc:2648?s=I2C&c=x", "urn:dns:example.org:a%2", "/uri-res/N2L?urn:x:y?=b", "http://example.org/x", "/-/list/urn:ietf:rfc", "/urn+m", "//x", "/%75rn+m", "/-/resolve?name=//e", "/uri-res/I=I?urn:a-b:c&urn:a-b:d", "/uri-res/L2Ns?https://example.org/%0d", "/N2Rs?urn:ietf:rfc:1", "/urn:ietf:rfc:2648?fbclid=\x00&s=I=I&with=x"} {
		f.Add(target, "example.org", "text/html;q=0.5, */*", `"x", W/"y"`)
	}
	s, _ := newTestServer(f, nil)
	f.Fuzz(func(t *testing.T, target, host, accept, tags string) {
		p := ask(s, target, hosted(host), accepting(accept), func(r *request) { r.ifNoneMatch, r.byteRange, r.encodings = tags, tags, accept })
		if p.status < 200 || p.status >= 500 {
			t.Errorf("%q: status %d: %s", target, p.status, p.body)
		}
		if strings.HasPrefix(p.get("Location"), "//") {
			t.Errorf("%q leads to another host: %s", target, p.get("Location"))
		}
		for _, field := range p.fields {
			if strings.ContainsAny(field.value, "\r\n\x00") {
				t.Errorf("%q: %s: %q", target, field.name, field.value)
			}
		}
		if strings.ContainsAny(p.reason, "\r\n\x00") {
			t.Errorf("%q: reason phrase %q", target, p.reason)
		}
	})
}
