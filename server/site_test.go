package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/site"
	"github.com/nomen-project/nomen/store"
)

// browserAccept is the Accept field of a browser.
const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

const testLogo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>`

// ofLibrary makes a server show a site with all settings.
func ofLibrary(t testing.TB) func(*Options) {
	t.Helper()
	library, err := site.New(site.Settings{
		Name: "Library & <Archive>", Logo: []byte(testLogo), Footer: "The footer", Contact: "mailto:desk@example.org",
		Links: []site.Link{{Text: "Privacy", URL: "https://example.org/privacy"}}, Light: site.Colours{Accent: "#7a1fa2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Site = library }
}

// pageFaults returns what is wrong with the common part and the policy of a page.
func pageFaults(p *reply) (all []string) {
	if !strings.HasPrefix(p.get("Content-Type"), "text/html") {
		return []string{"not a page: " + p.get("Content-Type")}
	}
	doc, err := html.Parse(bytes.NewReader(p.body))
	if err != nil {
		return []string{err.Error()}
	}
	elements, policy := map[string]int{}, p.get("Content-Security-Policy")
	ids := map[string]bool{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Namespace == "" {
			elements[n.Data]++
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				all = append(all, "attribute "+a.Key)
			}
			if a.Key == "id" && ids[a.Val] {
				all = append(all, "two elements "+a.Val)
			}
			ids[a.Val] = ids[a.Val] || a.Key == "id"
		}
		if n.Data == "style" && !strings.Contains(policy, "style-src "+site.Digest(n.FirstChild.Data)+";") {
			all = append(all, "a style that the policy forbids: "+policy)
		}
		if n.Data == "script" && len(n.Attr) == 0 && !strings.Contains(policy, "script-src "+site.Digest(n.FirstChild.Data)+";") {
			all = append(all, "a script that the policy forbids")
		}
	}
	for _, want := range []string{"h1", "main", "title", "style", "img"} {
		if elements[want] != 1 {
			all = append(all, fmt.Sprintf("%d elements %s", elements[want], want))
		}
	}
	for _, want := range []string{
		`<html lang="en">`, `<a class="skip" href="#main">`, `<main id="main">`, "<bdi>Library &amp; &lt;Archive&gt;</bdi></a>", "The footer",
		`href="https://example.org/privacy"`, `href="mailto:desk@example.org"`, "--accent: #7a1fa2;", " · Library &amp; &lt;Archive&gt;</title>",
	} {
		if !bytes.Contains(p.body, []byte(want)) {
			all = append(all, "no "+want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "img-src 'self'") {
		all = append(all, "the policy "+policy)
	}
	return all
}

// sitePages are requests whose responses are pages, with their status.
func sitePages() map[string]int {
	return map[string]int{
		"/": 200, "/?name=urn:ietf:rfc:2648": 200, "/?name=none": 200, "/-/handler?uri=javascript:alert(1)": 200,
		"/urn:ietf:rfc:2648?s=I2C": 200, "/urn:ietf:rfc:2648?s=I2Ls": 200, "/urn:ietf:rfc:2648?s=I2Ns": 200, "/urn:ietf:rfc:2648?s=I2C&at=2026-11-20": 200,
		"/urn:dns:example.org:none": 404, "/urn:dns:example.org:secret": 404, "/urn:dns:example.org:alb002?s=I2C&at=1999-01-01": 404,
		"/urn:dns:example.org:bare": 404, "/urn:dns:example.org:split": 410, "/urn:dns:example.org:split?s=I2C": 410, "/urn:dns:example.org:a%0": 400,
		"/urn:isbn:0451450523": 404, "/urn:dns:example.org:urn+m": 200, "/urn:dns:example.org:urn+c": 200,
		"/-/nothing": 404, "/-/problems/retired": 200, "/-/problems/none": 404, "/-/registry/": 200, "/-/registry/schemes": 200, "/-/registry/schemes/http": 200,
		"/-/registry/none": 404, "/-/list/urn:x-none": 404, "/-/timemap/urn:example:none": 404, "/-/site/logo.0.svg": 404,
		"/" + strings.Repeat("x", maxTarget): 414, "/uri-res/N2C?urn:ietf:rfc:2648": 200, "/uri-res/N2R?urn:dns:example.org:none": 404,
	}
}

// TestSiteOnAllPages: every page has the common part, in every version of HTTP and below a path.
func TestSiteOnAllPages(t *testing.T) {
	s, _ := newTestServer(t, ofLibrary(t))
	for target, status := range sitePages() {
		for door, change := range map[string]func(*request){
			"HTTP/1.1": func(*request) {}, "HTTP/1.0": inHTTP10, "HTTP/2": func(r *request) { r.version, r.secure = version{2, 0}, true },
			"below a path": func(r *request) { r.mount = "/names" },
		} {
			p := ask(s, target, accepting(browserAccept), change)
			if p.status == http.StatusOK && !strings.HasPrefix(p.get("Content-Type"), "text/html") { // descriptions are Y95-45
				p = ask(s, target, accepting("text/html"), change)
			}
			if faults := pageFaults(p); p.status != status || len(faults) > 0 {
				t.Errorf("%.80s, %s: %d, want %d: %q", target, door, p.status, status, faults)
			}
			if door == "below a path" && (bytes.Contains(p.body, []byte(`src="/-/site/`)) || bytes.Contains(p.body, []byte(`action="/"`)) || !bytes.Contains(p.body, []byte(`<a class="home" href="/names/">`))) {
				t.Errorf("%.80s: a link that leaves the path of the server:\n%s", target, p.body)
			}
			head := ask(s, target, accepting("text/html"), change, func(r *request) { r.method = http.MethodHead })
			if head.status != p.status || head.get("Content-Length") == "" || head.get("Content-Type") != p.get("Content-Type") {
				t.Errorf("HEAD %.80s, %s: %d %q", target, door, head.status, head.fields)
			}
		}
	}
}

// A page at the URL of another server has no paths on that server.
func TestSiteElsewhere(t *testing.T) {
	library := ofLibrary(t)
	s, _ := newTestServer(t, func(o *Options) { library(o); o.PublicURL = "https://names.example/n" })
	body := string(ask(s, "http://elsewhere.example/", accepting(browserAccept)).body)
	if strings.Contains(body, "<img") || !strings.Contains(body, `<a class="home" href="https://names.example/n/">`) {
		t.Errorf("got %s", body)
	}
}

// The settings do not change responses to programs.
func TestSiteIsForPeople(t *testing.T) {
	plain, _ := newTestServer(t, nil)
	library, _ := newTestServer(t, ofLibrary(t))
	for target := range sitePages() {
		for _, accept := range []string{"", "*/*", "text/plain", "application/json", "application/problem+json", "text/urc-0", "application/ld+json", "text/uri-list"} {
			if strings.HasPrefix(target, "/-/registry/") && (accept == "" || accept == "*/*" || strings.HasPrefix(accept, "application/p") || strings.HasPrefix(accept, "text/u") || accept == "application/ld+json") || accept != "text/plain" && (strings.HasPrefix(target, "/?") || strings.HasPrefix(target, "/-/handler")) {
				continue // these are pages unless the client excludes HTML
			}
			a, b := ask(plain, target, accepting(accept)), ask(library, target, accepting(accept))
			if a.status != b.status || !slices.Equal(a.fields, b.fields) || !bytes.Equal(a.body, b.body) {
				t.Errorf("%.80s, %q: %d %q\n%s\nwith a site %d %q\n%s", target, accept, a.status, a.fields, a.body, b.status, b.fields, b.body)
			}
		}
	}
}

// The bodies of responses to programs that are not HTML, as they were before pages had settings.
func TestErrorsForPrograms(t *testing.T) {
	s, _ := newTestServer(t, ofLibrary(t))
	for target, want := range map[string]string{
		"/-/registry/none":                   "Registry or entry not found. See /-/registry/ for the list.\r\n",
		"/-/problems/none":                   "Problem type not found.\r\n",
		"/" + strings.Repeat("x", maxTarget): "The request target is longer than 8192 bytes.\r\n",
	} {
		if p := ask(s, target); string(p.body) != want || p.get("Vary") != "" || p.get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%.80s: %q %q", target, p.fields, p.body)
		}
	}
	s, _ = newTestServer(t, func(o *Options) {
		o.Clock = func() *registrar.ClockError { return &registrar.ClockError{} }
	})
	if p := ask(s, "/-/readyz", accepting(browserAccept)); p.status != http.StatusServiceUnavailable || !strings.HasPrefix(p.get("Content-Type"), "text/plain") {
		t.Errorf("a health check is a page: %q", p.fields)
	}
}

// An entity tag changes with the settings, so that browsers do not keep old pages.
func TestSiteTags(t *testing.T) {
	plain, _ := newTestServer(t, nil)
	library, _ := newTestServer(t, ofLibrary(t))
	const target = "/urn:ietf:rfc:2648?s=I2C"
	before, after := ask(plain, target, accepting("text/html")), ask(library, target, accepting("text/html"))
	if before.get("ETag") == "" || before.get("ETag") == after.get("ETag") {
		t.Errorf("%s and %s", before.get("ETag"), after.get("ETag"))
	}
	for tag, want := range map[string]int{before.get("ETag"): 200, after.get("ETag"): 304} {
		if p := ask(library, target, accepting("text/html"), func(r *request) { r.ifNoneMatch = tag }); p.status != want {
			t.Errorf("%s: %d, want %d", tag, p.status, want)
		}
	}
}

func TestSiteLogo(t *testing.T) {
	s, _ := newTestServer(t, ofLibrary(t))
	_, after, _ := strings.Cut(string(ask(s, "/", accepting("text/html")).body), `<img src="`)
	path, _, _ := strings.Cut(after, `"`)
	p := ask(s, path)
	if p.status != 200 || string(p.body) != testLogo || p.get("Content-Type") != "image/svg+xml" || p.get("Cache-Control") != "public, max-age=31536000, immutable" ||
		!strings.HasPrefix(p.get("Content-Security-Policy"), "sandbox; default-src 'none'; ") || p.get("X-Content-Type-Options") != "nosniff" || p.get("Cross-Origin-Resource-Policy") != "same-origin" {
		t.Errorf("%s: %d %q %s", path, p.status, p.fields, p.body)
	}
	if p := ask(s, path, func(r *request) { r.ifNoneMatch = "*" }); p.status != 304 {
		t.Errorf("conditional: %d", p.status)
	}
	plain, _ := newTestServer(t, nil)
	for _, wrong := range []string{path + "x", "/-/site/", "/-/site/../../etc/passwd", path + "/"} {
		if p := ask(s, wrong); p.status != 404 {
			t.Errorf("%s: %d", wrong, p.status)
		}
	}
	if p := ask(plain, path); p.status != 404 {
		t.Errorf("a server without a logo: %d", p.status)
	}
}

// pageAt returns the page at a target, without its head.
func pageAt(s *Server, target string) string {
	_, body, _ := strings.Cut(string(ask(s, target, accepting(browserAccept)).body), "<main id=\"main\">")
	return body
}

// put writes records into the store of a server.
func put(t *testing.T, st store.Store, records ...*store.Record) {
	t.Helper()
	for _, r := range records {
		r.Name = name.MustParse(r.Spelling)
		if _, err := st.Apply(t.Context(), []store.Change{{Record: r, Expected: store.AnyRevision, Time: modified}}); err != nil {
			t.Fatal(err)
		}
	}
}

// The page of an unknown name suggests registered names, and nothing about reserved or restricted
// ones.
func TestUnknownName(t *testing.T) {
	s, st := newTestServer(t, nil)
	active := func(key string) *store.Record { return &store.Record{Spelling: key, Status: nomen.Active} }
	reserved := func(key string) *store.Record { return &store.Record{Spelling: key, Status: nomen.Reserved} }
	put(t, st,
		active("urn:dns:example.org:report-7"), active("urn:dns:example.org:book"), active("urn:dns:example.org:book/1/2"),
		reserved("urn:dns:example.org:book/1/2/3"), reserved("urn:dns:example.org:hidden-1"), active("urn:x-closed:doc-1"),
	)
	closed := &store.Authority{Prefix: name.MustParsePrefix("urn:x-closed"), Owners: []string{"a", "b"}}
	closed.Access = store.AccessDenied
	open := &store.Authority{Prefix: name.MustParsePrefix("urn:x-closed:doc-1"), Owners: []string{"a", "b"}}
	if _, err := st.Apply(t.Context(), []store.Change{{Authority: closed, Time: modified}, {Authority: open, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		target    string
		want, not []string
	}{
		{"/urn:dns:example.org:Report-7", []string{`HREF="/urn:dns:example.org:report-7"`, "Did you mean", `href="mailto:names@example.org"`, "Albums of all kinds", "No name with this spelling is registered here."}, nil},
		{"/urn:dns:example.org:report_7", []string{`HREF="/urn:dns:example.org:report-7"`}, nil},
		{"/urn:dns:example.org:report-7.", []string{`HREF="/urn:dns:example.org:report-7"`}, nil},
		{"/urn:dns:example.org:report-7%22", []string{`HREF="/urn:dns:example.org:report-7"`}, nil},
		{"/urn:dns:example.org:book/1/2/3/4", []string{`HREF="/urn:dns:example.org:book/1/2"`}, []string{"book/1/2/3\"", "Did you mean"}},
		{"/urn:dns:example.org:book/1", []string{`HREF="/urn:dns:example.org:book"`}, nil},
		{"/urn:dns:example.org:Hidden-1", nil, []string{"hidden-1", "Did you mean"}},
		{"/urn:x-closed:doc-1:none", []string{"The name was not found"}, []string{"A shorter name"}},
		{"/urn:x-closed:Doc-1", []string{"Access to this name is denied"}, []string{"doc-1"}},
		{"/urn:dns:example.org:report-7?at=1999-01-01", []string{"No name with this spelling was registered here on <time", `datetime="1999-01-01T23:59:59.999Z"`}, nil},
		{"/urn:dns:example.org:Report-7?at=1999-01-01", nil, []string{"Did you mean"}},
	} {
		body := pageAt(s, tt.target)
		for _, want := range tt.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in\n%s", tt.target, want, body)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(body, not) {
				t.Errorf("%s: %s in\n%s", tt.target, not, body)
			}
		}
	}
	// A reserved name and an unknown one have the same page, but for the name.
	secret, unknown := pageAt(s, "/urn:dns:example.org:book/1/2/3"), pageAt(s, "/urn:dns:example.org:book/1/2/9")
	if strings.ReplaceAll(secret, "2/3", "2/9") != unknown {
		t.Errorf("the page of a reserved name:\n%s\nof an unknown one:\n%s", secret, unknown)
	}
}

// If the store fails while a page is completed, the page is shown without suggestions.
func TestUnknownNameWithoutStore(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Store = failing{o.Store} })
	if p := ask(s, "/urn:dns:example.org:Alb002", accepting(browserAccept)); p.status != 404 || !bytes.Contains(p.body, []byte("Whom to ask")) {
		t.Errorf("%d %s", p.status, p.body)
	}
}

// A failing reader fails to read records.
type failing struct{ store.Reader }

func (failing) Get(context.Context, name.Name, time.Time) (*store.Record, error) {
	return nil, errors.New("broken")
}

// The page of a retired name says since when and why, what to use instead, and where a copy is.
func TestTombstonePage(t *testing.T) {
	s, st := lived(t)
	n := name.MustParse("urn:dns:example.org:life")
	r := &store.Record{
		Name: n, Status: nomen.Retired, Reason: "sold <out>", ShowLocations: true, Successors: []string{"urn:dns:example.org:alb002", "urn:dns:example.org:bare"},
		Locations: []nomen.Location{{URL: "https://archive.example/copy", Rel: "archive"}, {URL: "https://example.org/second"}},
	}
	if _, err := st.Apply(t.Context(), []store.Change{{Record: r, Expected: store.AnyRevision, Time: retiredAt.Add(time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	body := pageAt(s, "/urn:dns:example.org:life")
	at := 0
	for _, want := range []string{
		"<h1 lang=\"en\">The name was retired</h1>", "urn:dns:example.org:life", "This name was retired on <time datetime=\"2026-11-19T10:30:00Z\">19 November 2026, 10:30 UTC</time>.",
		`Reason: <span lang=""><bdi>sold &lt;out&gt;</bdi></span>`, "Use instead:", `HREF="/urn:dns:example.org:alb002"`, `HREF="/urn:dns:example.org:bare"`,
		"A preserved copy:", "https://archive.example/copy", "Where it led before:", "https://example.org/second", "History", `<A HREF="/urn:dns:example.org:life?s=I2C&amp;at=2026-11-19T09:30:00.25Z">`, "Whom to ask",
	} {
		i := strings.Index(body[at:], want)
		if i < 0 {
			t.Fatalf("no %s after %q in\n%s", want, body[max(0, at-40):at], body)
		}
		at += i
	}
	if old := pageAt(s, "/urn:dns:example.org:life?s=I2C&at=2026-11-19T10:00:00Z"); strings.Contains(old, "This name was retired on") || !strings.Contains(old, "This page shows the record as of") {
		t.Errorf("before: %s", old)
	}
	if restored := (&store.Record{Name: n, Status: nomen.Active}); true {
		if _, err := st.Apply(t.Context(), []store.Change{{Record: restored, Expected: store.AnyRevision, Time: retiredAt.Add(2 * time.Hour)}}); err != nil {
			t.Fatal(err)
		}
	}
	between := pageAt(s, "/urn:dns:example.org:life?s=I2C&at="+retiredAt.Add(90*time.Minute).Format(time.RFC3339))
	if !strings.Contains(between, `This name was retired on <time datetime="2026-11-19T10:30:00Z">`) {
		t.Errorf("between: %s", between)
	}
}

// The page of a name says how to cite it, and has it as a QR code.
func TestCitingPage(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.PublicURL = "https://names.example/n" })
	body := string(ask(s, "/urn:ietf:rfc:2648?s=I2C", accepting("text/html")).body)
	for _, want := range []string{
		"How to cite it", `<A HREF="https://names.example/n/urn:ietf:rfc:2648">`, "QR code of https://names.example/n/urn:ietf:rfc:2648</title>",
		`<a href="/n/urn:ietf:rfc:2648?s=I2C&amp;format=bibtex" type="application/x-bibtex">`, `href="/n/urn:ietf:rfc:2648?s=I2C&amp;format=json"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if body := string(ask(s, "/urn:ietf:rfc:2648?s=I2Ls", accepting("text/html")).body); strings.Contains(body, "How to cite") {
		t.Errorf("a list: %s", body)
	}
	put := "/urn:dns:example.org:" + strings.Repeat("x", 400)
	if body := string(ask(s, put, accepting("text/html")).body); strings.Contains(body, "<svg") {
		t.Errorf("a long name: %s", body)
	}
}

// A browser that sends too many requests gets a page, a program gets text.
func TestBusyPage(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.Limits.Rate, o.Limits.Burst = 1, 1 })
	ctx := gateway.WithClient(context.Background(), &gateway.Client{Addr: netip.MustParseAddr("192.0.2.1")})
	r := &request{method: "GET", target: "/?name=x", version: version{1, 1}, host: "example.org", accept: browserAccept}
	s.decide(ctx, r)
	p := s.decide(ctx, &request{method: "GET", target: "/?name=x", version: version{1, 1}, host: "example.org", accept: browserAccept})
	if p.status != 429 || !bytes.Contains(p.body, []byte("<h1 lang=\"en\">Too many requests</h1>")) || p.get("Retry-After") == "" || !strings.HasPrefix(p.get("Vary"), "Accept, ") || p.get("Cache-Control") != "no-store" {
		t.Errorf("%d %q %s", p.status, p.fields, p.body)
	}
	p = s.decide(ctx, &request{method: "GET", target: "/?name=x", version: version{1, 1}, host: "example.org"})
	if string(p.body) != "Too many requests. Please try again later.\r\n" {
		t.Errorf("%d %q %s", p.status, p.fields, p.body)
	}
}

// The proxy says as a page to browsers why it does not forward a request.
func TestProxyPage(t *testing.T) {
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.All})
	if err != nil {
		t.Fatal(err)
	}
	forward := gateway.NewForward(gateway.ForwardOptions{Access: door})
	defer forward.Close()
	library := ofLibrary(t)
	s, _ := newTestServer(t, func(o *Options) { library(o); o.Forward = forward })
	for accept, want := range map[string]string{
		browserAccept: "port not allowed: must be 80, 443 or at least 1024</bdi>", "*/*": "port not allowed: must be 80, 443 or at least 1024\r\n",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://there.example:25/", nil)
		r.RequestURI = "http://there.example:25/"
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.Public().ServeHTTP(w, r)
		isPage := strings.Contains(w.Body.String(), "Library &amp; &lt;Archive&gt;") && strings.Contains(w.Header().Get("Content-Security-Policy"), "style-src 'sha256-") && w.Header().Get("Content-Type") == "text/html; charset=utf-8"
		if w.Code != 403 || !strings.Contains(w.Body.String(), want) || isPage != (accept == browserAccept) || strings.Contains(w.Body.String(), "<img") {
			t.Errorf("%s: %d %v %s", accept, w.Code, w.Header(), w.Body)
		}
	}
}

// A client of 1995 that prefers HTML gets the same page as one of today, but without the choice of
// a language.
func TestSiteIn1995(t *testing.T) {
	s, _ := newTestServer(t, ofLibrary(t))
	l := listen(t, s)
	_, fields, body := cutAnswer(exchange(t, l.Public, "GET urn:dns:example.org:none HTTP/1.0\r\nAccept: text/html\r\n\r\n"))
	if faults := pageFaults(&reply{body: []byte(body), fields: []field{{"Content-Type", fieldOf(fields, "Content-Type")}, {"Content-Security-Policy", fieldOf(fields, "Content-Security-Policy")}}}); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} { // the second one is answered by the shortcut
		_, _, again := cutAnswer(exchange(t, l.Public, "GET /urn:dns:example.org:none "+version+"\r\nHost: example.org\r\nConnection: close\r\nAccept: text/html\r\n\r\n"))
		if withoutLanguages(again) != body || again == body {
			t.Errorf("%s: %s\nwant %s", version, again, body)
		}
	}
}

// withoutLanguages returns a page without the choice of a language, which clients of 1995 cannot
// use.
func withoutLanguages(page string) string {
	before, after, _ := strings.Cut(page, `<form action="/-/language"`)
	_, after, _ = strings.Cut(after, "</form>\n")
	return before + after
}

// The home page shows a bounded number of authorities.
func TestManyAuthorities(t *testing.T) {
	s, st := newTestServer(t, nil)
	var all []store.Change
	for i := range shownAuthorities {
		all = append(all, store.Change{Authority: &store.Authority{Prefix: name.MustParsePrefix(fmt.Sprintf("urn:x-many-%d", i)), Owners: []string{"a", "b"}}, Time: modified})
	}
	if _, err := st.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	body := pageAt(s, "/")
	if n := strings.Count(body, "<dt>"); n != shownAuthorities || !strings.Contains(body, "This page leaves out 5 naming authorities.") {
		t.Errorf("%d authorities: %s", n, body)
	}
	if text := string(ask(s, "/").body); strings.Count(text, "urn:x-many-") != shownAuthorities {
		t.Errorf("programs: %s", text)
	}
}
