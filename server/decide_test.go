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

func speaking(tag string) func(*request) { return func(r *request) { r.languages = tag } }

func hosted(host string) func(*request) { return func(r *request) { r.host = host } }

func inHTTP10(r *request) { r.version = version{1, 0} }

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

// For I2L, Accept ranks the locations. The response is a description only if the client prefers a
// type that no location has.
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

// Browsers get a page in place of the redirect, so that the policy of the home page does not apply
// to the redirects that follow.
func TestResolveFormInBrowser(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for entered, want := range map[string]string{
		"%3Curn%3Aietf%3A%0D%0A%20rfc%3A2648%3E":  "/urn%3Aietf%3Arfc%3A2648",
		"%2F%2Fevil.example%2F%22%3E%3Cscript%3E": "/evil.example/%22%3E%3Cscript%3E",
		"%5C%5Cevil.example":                      "/%5C%5Cevil.example",
		"'":                                       "/'",
	} {
		p := ask(s, "/-/resolve?name="+entered, accepting("text/html,application/xhtml+xml,*/*;q=0.8"))
		if p.status != 200 || p.get("Location") != "" || p.get("Refresh") != "0;url="+want || p.get("Content-Security-Policy") != redirectPolicy || p.get("Vary") != "Accept" {
			t.Errorf("%s: got %d %v, want a page that leads to %s", entered, p.status, p.fields, want)
		}
		if link := `<A HREF="` + html.EscapeString(want) + `">`; !bytes.Contains(p.body, []byte(link)) {
			t.Errorf("%s: no %s in %s", entered, link, p.body)
		}
	}
}

func TestHomePage(t *testing.T) {
	s, _ := newTestServer(t, nil)
	page := ask(s, "/", accepting("text/html"))
	if !bytes.Contains(page.body, []byte("urn:dns:example.org")) || !bytes.Contains(page.body, []byte(`href="mailto:names@example.org"`)) {
		t.Errorf("got %s", page.body)
	}
	if policy := page.get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self';") || strings.Contains(policy, "unsafe") {
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
			contact, want := contact, want
			if accept == "text/html" { // all pages about names of an authority say whom to ask
				want = strings.HasPrefix(target, "/urn:dns:example.org:")
				contact = `You can ask them: <a href="mailto:names@example.org">names@example.org</a>.`
			}
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
