package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// cited is the element of a name with metadata, in urn:dns:example.org.
const cited = "data_set"

// newLibrary serves names with metadata and a history on a socket.
func newLibrary(t *testing.T) string {
	t.Helper()
	srv, s := newTestServer(t, nil)
	srv.now = time.Now
	srv.resolver = resolve.New(s, resolve.Options{})
	put := func(r *store.Record, at time.Time) {
		r.Name = name.MustParse(r.Spelling)
		if _, err := s.Apply(context.Background(), []store.Change{{Record: r, Expected: store.AnyRevision, Time: at}}); err != nil {
			t.Fatal(err)
		}
	}
	data := func(title string) *store.Record {
		return &store.Record{
			Spelling: "urn:dns:example.org:" + cited, Status: nomen.Active,
			Locations: []nomen.Location{
				{URL: "https://example.org/data.csv", Type: "text/csv"},
				{URL: "https://example.org/data.pdf", Type: "application/pdf", Lang: "en", Priority: 2},
				{URL: "https://example.org/licence", Rel: "license"},
			},
			Metadata: nomen.Metadata{
				"title": {title}, "creator": {"Moats, Ryan", "https://orcid.org/0000-0001-2345-6789"}, "date": {"1999-08-05"}, "publisher": {"An Archive"},
				"type": {"Dataset"}, "rights": {"https://spdx.org/licenses/CC-BY-4.0"}, "description": {"What was measured"},
			},
		}
	}
	put(data("Draft"), modified)
	put(data("Measured"), modified.Add(time.Hour))
	put(data("Measured & checked"), modified.Add(2*time.Hour))
	return listen(t, srv).Public.String()
}

// says sends the bytes of a request and reads the response.
func says(t *testing.T, addr, request string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, strings.ReplaceAll(request, "HOST", addr)); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return r, string(b)
}

// The fields that the Python library requests sends with HEAD.
const (
	pythonHead   = "HEAD %s HTTP/1.1\r\nHost: HOST\r\nUser-Agent: python-requests/2.32.3\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
	pythonHeadAt = "HEAD %s HTTP/1.1\r\nHost: HOST\r\nUser-Agent: python-requests/2.32.3\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\nAccept-Datetime: Thu, 19 Nov 2026 09:45:00 GMT\r\n\r\n"
)

// A typedLink is a link as read by clients that split fields at commas and do not resolve
// references.
type typedLink struct{ url, rel, kind, anchor, datetime string }

var linkValue = regexp.MustCompile(`<([^>]*)>((?:; *[a-z*]+="[^"]*")*)`)

func typedLinks(field string) (all []typedLink) {
	for _, m := range linkValue.FindAllStringSubmatch(field, -1) {
		l := typedLink{url: m[1]}
		for _, p := range regexp.MustCompile(`([a-z*]+)="([^"]*)"`).FindAllStringSubmatch(m[2], -1) {
			switch p[1] {
			case "rel":
				l.rel = p[2]
			case "type":
				l.kind = p[2]
			case "anchor":
				l.anchor = p[2]
			case "datetime":
				l.datetime = p[2]
			}
		}
		all = append(all, l)
	}
	return all
}

func ofRel(all []typedLink, rel string) (some []typedLink) {
	for _, l := range all {
		if slices.Contains(strings.Fields(l.rel), rel) {
			some = append(some, l)
		}
	}
	return some
}

// path returns the target of a URL of the server.
func path(t *testing.T, addr, url string) string {
	t.Helper()
	p, ok := strings.CutPrefix(url, "http://"+addr)
	if !ok {
		t.Fatalf("%s is not a URL of http://%s", url, addr)
	}
	return p
}

// py-memento-client 0.6.1: get_memento_info of a URL with timegate_uri
// "http://HOST/-/timegate/". It reads the status, Vary, Location and the link "original"
// of the TimeGate, follows the redirect, and expects Memento-Datetime and "original"
// there; first, last, prev and next need a date.
func TestPyMementoClient(t *testing.T) {
	addr := newLibrary(t)
	for _, original := range []string{
		"http://HOST/urn:dns:example.org:" + cited, "http%3A%2F%2FHOST%2Furn%3Adns%3Aexample.org%3A" + cited, "http:/HOST/urn:dns:example.org:" + cited,
		"urn:dns:example.org:" + cited, "urn%3Adns%3Aexample.org%3A" + cited, "http://example.org/" + cited, "http://HOST/URN:DNS:example.org:" + cited + "?s=I2C",
	} {
		gate, _ := says(t, addr, fmt.Sprintf(pythonHeadAt, "/-/timegate/"+original))
		links := typedLinks(gate.Header.Get("Link"))
		if gate.StatusCode != 302 || gate.Header.Get("Memento-Datetime") != "" || !strings.Contains(strings.ToLower(gate.Header.Get("Vary")), "accept-datetime") || len(ofRel(links, "original")) != 1 {
			t.Errorf("%s: no TimeGate: %d %v", original, gate.StatusCode, gate.Header)
			continue
		}
		if want := strings.ReplaceAll(original, "HOST", addr); strings.HasPrefix(want, "http://") && ofRel(links, "original")[0].url != want {
			t.Errorf("%s: the original is %s", original, ofRel(links, "original")[0].url)
		}
		for rel, want := range map[string]string{
			"first": "Thu, 19 Nov 2026 08:30:00 GMT", "prev": "Thu, 19 Nov 2026 08:30:00 GMT", "next": "Thu, 19 Nov 2026 10:30:00 GMT", "last": "Thu, 19 Nov 2026 10:30:00 GMT",
		} {
			found := ofRel(links, rel)
			if len(found) != 1 || found[0].datetime != want || !slices.Contains(strings.Fields(found[0].rel), "memento") {
				t.Errorf("%s: %s is %v, want that of %s", original, rel, found, want)
				continue
			}
			m, _ := says(t, addr, fmt.Sprintf(pythonHead, path(t, addr, found[0].url)))
			if m.StatusCode != 200 || m.Header.Get("Memento-Datetime") != want {
				t.Errorf("%s: %d of %q", found[0].url, m.StatusCode, m.Header.Get("Memento-Datetime"))
			}
		}
		memento, _ := says(t, addr, fmt.Sprintf(pythonHeadAt, gate.Header.Get("Location")))
		if memento.StatusCode != 200 || memento.Header.Get("Memento-Datetime") != "Thu, 19 Nov 2026 09:30:00 GMT" || len(ofRel(typedLinks(memento.Header.Get("Link")), "original")) != 1 {
			t.Errorf("%s: no memento: %d %v", original, memento.StatusCode, memento.Header)
		}
		// The TimeMap (RFC 7089, 5) is where the TimeGate says, and lists the same
		// mementos.
		maps := ofRel(links, "timemap")
		if len(maps) != 1 || maps[0].kind != "application/link-format" {
			t.Fatalf("%s: TimeMaps %v", original, maps)
		}
		tm, body := says(t, addr, "GET "+path(t, addr, maps[0].url)+" HTTP/1.1\r\nHost: HOST\r\n\r\n")
		listed := typedLinks(body)
		if tm.StatusCode != 200 || tm.Header.Get("Content-Type") != "application/link-format" || len(ofRel(listed, "memento")) != 3 ||
			len(ofRel(listed, "original")) != 1 || ofRel(listed, "original")[0].url != ofRel(links, "original")[0].url ||
			ofRel(listed, "timegate")[0].url != ofRel(links, "timegate")[0].url || ofRel(listed, "first")[0].url != ofRel(links, "first")[0].url {
			t.Errorf("%s: TimeMap %d\n%s", original, tm.StatusCode, body)
		}
	}
	// Without a time it is the last memento; for a time before all of them, the first.
	last, _ := says(t, addr, fmt.Sprintf(pythonHead, "/-/timegate/http://HOST/urn:dns:example.org:"+cited))
	if l := typedLinks(last.Header.Get("Link")); !strings.HasSuffix(ofRel(l, "last")[0].url, last.Header.Get("Location")) || len(ofRel(l, "next")) != 0 {
		t.Errorf("without a time: %v", last.Header)
	}
	early, _ := says(t, addr, strings.Replace(fmt.Sprintf(pythonHeadAt, "/-/timegate/urn:dns:example.org:"+cited), "2026", "1999", 1))
	if l := typedLinks(early.Header.Get("Link")); early.StatusCode != 302 || len(ofRel(l, "first")) != 1 || !strings.HasSuffix(ofRel(l, "first")[0].url, early.Header.Get("Location")) || ofRel(l, "next")[0].datetime != "Thu, 19 Nov 2026 09:30:00 GMT" {
		t.Errorf("before all: %v", early.Header)
	}
	for target, status := range map[string]int{
		"/-/timegate/http://elsewhere.example/x": 404, "/-/timegate/https://elsewhere.example/urn:dns:example.org:" + cited: 404, "/-/timegate/": 404, "/-/timegate/urn:dns:example.org:none": 404,
		"/-/timegate/urn:dns:example.org:secret": 404, "/-/timegate/http://HOST/-/healthz": 404, "/-/timegate/http://HOST/urn:dns:example.org:urn+m": 404,
		"/-/timegate/urn:x": 400, "/-/timemap/link/urn:dns:example.org:none": 404, "/-/timemap/link/http://elsewhere.example/x": 404, "/-/timegate/http://HOST/-/timegate/urn:dns:example.org:" + cited: 404,
		"/-/timegate/%0D%0ASet-Cookie:x": 404, "/-/timegate/http://HOST/urn:dns:example.org:a%0D%0AX": 404,
	} {
		if got, _ := says(t, addr, fmt.Sprintf(pythonHeadAt, target)); got.StatusCode != status {
			t.Errorf("%s: %d, want %d", target, got.StatusCode, status)
		}
	}
	bad, _ := says(t, addr, strings.Replace(fmt.Sprintf(pythonHeadAt, "/-/timegate/urn:dns:example.org:"+cited), "Thu, 19 Nov 2026 09:45:00 GMT", "yesterday", 1))
	if bad.StatusCode != 400 { // RFC 7089, 4.5.3
		t.Errorf("an invalid time: %d", bad.StatusCode)
	}
}

// fujiGet is the request that F-UJI sends.
const fujiGet = "GET %s HTTP/1.1\r\nAccept-Encoding: identity\r\nHost: HOST\r\nUser-Agent: F-UJI\r\nAccept: %s\r\nConnection: close\r\n\r\n"

// F-UJI reads the Link field of the page on which it lands, and takes the context whose
// anchor is the URL of the page from the first linkset.
func TestFUJI(t *testing.T) {
	addr := newLibrary(t)
	for _, target := range []string{"/urn:dns:example.org:" + cited + "?s=I2C", "/URN:dns:Example.Org:" + cited + "?s=I2C"} {
		page, body := says(t, addr, fmt.Sprintf(fujiGet, target, "text/html, application/xhtml+xml"))
		if page.StatusCode != 200 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: %d %v", target, page.StatusCode, page.Header)
		}
		home := "http://" + addr + "/urn:dns:example.org:" + cited
		want := map[string]int{"cite-as": 1, "describedby": 5, "linkset": 2, "type": 2, "author": 1, "license": 1, "item": 2}
		for where, links := range map[string][]typedLink{"Link": typedLinks(page.Header.Get("Link")), "HTML": htmlLinks(t, body), "linkset": landed(t, addr, target, page)} {
			for rel, n := range want {
				if found := ofRel(links, rel); len(found) != n {
					t.Errorf("%s, %s: %d links of %s, want %d: %v", target, where, len(found), rel, n, found)
				}
			}
			if got := ofRel(links, "cite-as")[0].url; got != home {
				t.Errorf("%s: cite-as is %s", where, got)
			}
			for _, l := range append(ofRel(links, "describedby"), ofRel(links, "item")...) {
				if l.kind == "" || !strings.Contains(l.url, "://") {
					t.Errorf("%s: %v", where, l)
				}
			}
			types := ofRel(links, "type")
			if types[0].url != "https://schema.org/AboutPage" || types[1].url != "https://schema.org/Dataset" {
				t.Errorf("%s: types %v", where, types)
			}
			if got := ofRel(links, "license")[0].url + ofRel(links, "author")[0].url; got != "https://spdx.org/licenses/CC-BY-4.0https://orcid.org/0000-0001-2345-6789" {
				t.Errorf("%s: %s", where, got)
			}
		}
	}
	// The first format requested is not available, the second is.
	for accept, want := range map[string]string{
		"application/vnd.schemaorg.ld+json, application/ld+json":                                                                            "application/ld+json",
		"text/ttl, text/turtle, application/turtle, application/x-turtle;q=0.6, text/n3;q=0.3, text/rdf+n3;q=0.3, application/rdf+n3;q=0.3": "text/turtle; charset=utf-8",
	} {
		got, _ := says(t, addr, fmt.Sprintf(fujiGet, "/urn:dns:example.org:"+cited, accept))
		if got.StatusCode != 200 || got.Header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s, want %s", accept, got.StatusCode, got.Header.Get("Content-Type"), want)
		}
	}
	if got, _ := says(t, addr, fmt.Sprintf(fujiGet, "/urn:dns:example.org:"+cited, "application/vnd.datacite.datacite+json")); got.StatusCode != 303 {
		t.Errorf("DataCite JSON: %d", got.StatusCode)
	}
}

// landed reads the first linkset of a page. It returns the links of the context whose anchor is the
// URL of the page.
func landed(t *testing.T, addr, target string, page *http.Response) (links []typedLink) {
	t.Helper()
	set := ofRel(typedLinks(page.Header.Get("Link")), "linkset")[0]
	_, body := says(t, addr, fmt.Sprintf(fujiGet, path(t, addr, set.url), "application/linkset+json, application/json, application/linkset"))
	var o struct{ Linkset []map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		t.Fatal(err, body)
	}
	for _, context := range o.Linkset {
		var anchor string
		if json.Unmarshal(context["anchor"], &anchor); anchor != "http://"+addr+target {
			continue
		}
		for rel, raw := range context {
			var targets []struct{ Href, Type string }
			if json.Unmarshal(raw, &targets) != nil {
				continue
			}
			for _, to := range targets {
				links = append(links, typedLink{url: to.Href, rel: rel, kind: to.Type})
			}
		}
		return links
	}
	t.Fatalf("no context of %s in %s", target, body)
	return nil
}

// htmlLinks returns the links in the head of a page, by relation.
func htmlLinks(t *testing.T, body string) (links []typedLink) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Data != "link" {
			continue
		}
		var l typedLink
		for _, a := range n.Attr {
			switch a.Key {
			case "href":
				l.url = a.Val
			case "rel":
				l.rel = a.Val
			case "type":
				l.kind = a.Val
			}
		}
		links = append(links, l)
	}
	return links
}

// stain/signposting, COAR and others send HEAD, and this Accept field for linksets. Every
// link to this server can be followed, also without an Accept field, and returns its
// type. FAIR Signposting, level 2: content has collection, metadata describes.
func TestEverySignpostLeads(t *testing.T) {
	addr := newLibrary(t)
	for _, target := range []string{
		"/urn:dns:example.org:" + cited, "/urn:dns:example.org:" + cited + "?s=I2C", "/urn:dns:example.org:" + cited + "?s=I2Ls", "/urn:dns:example.org:old?s=I2C", "/ark:12345/x", "/https://purl.example/net/x",
	} {
		r, _ := says(t, addr, fmt.Sprintf(pythonHead, target))
		all := typedLinks(r.Header.Get("Link"))
		for _, kind := range []string{"application/linkset+json", "application/linkset"} {
			r, body := says(t, addr, "GET "+target+" HTTP/1.1\r\nHost: HOST\r\nUser-Agent: python-requests/2.32.3\r\nAccept-Encoding: gzip, deflate\r\nAccept: "+kind+"\r\nConnection: keep-alive\r\n\r\n")
			if r.StatusCode == 200 && kind == "application/linkset" {
				all = append(all, typedLinks(body)...)
			}
		}
		if len(all) < 5 {
			t.Errorf("%s: %d links", target, len(all))
		}
		for _, l := range all {
			if !strings.HasPrefix(l.url, "http://"+addr) {
				continue
			}
			got, _ := says(t, addr, "GET "+path(t, addr, l.url)+" HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n")
			gone := strings.Contains(target, ":old")
			ok := got.StatusCode == 200 || got.StatusCode == 303 && l.kind == "" || gone && (got.StatusCode == 410 || got.StatusCode == 301)
			if contentType, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";"); !ok || got.StatusCode == 200 && l.kind != "" && contentType != l.kind {
				t.Errorf("%s: %v leads to %d %s", target, l, got.StatusCode, got.Header.Get("Content-Type"))
			}
		}
	}
	_, body := says(t, addr, "GET /urn:dns:example.org:"+cited+"?s=I2C&format=linkset HTTP/1.1\r\nHost: HOST\r\n\r\n")
	set := typedLinks(body)
	home := "http://" + addr + "/urn:dns:example.org:" + cited
	for _, want := range []typedLink{
		{url: home, rel: "collection", anchor: "https://example.org/data.csv"},
		{url: home, rel: "cite-as", anchor: "https://example.org/data.pdf"},
		{url: "https://spdx.org/licenses/CC-BY-4.0", rel: "license", anchor: "https://example.org/data.csv"},
		{url: home, rel: "describes", anchor: home + "?s=I2C&format=turtle"},
		{url: "https://example.org/data.csv", rel: "item", kind: "text/csv", anchor: home},
		{url: "https://example.org/data.csv", rel: "item", kind: "text/csv", anchor: home + "?s=I2C"},
		{url: "https://example.org/data.csv", rel: "item", kind: "text/csv", anchor: "urn:dns:example.org:" + cited},
	} {
		if !slices.Contains(set, want) {
			t.Errorf("no %v in\n%s", want, body)
		}
	}
	for _, l := range set {
		if l.anchor == "https://example.org/licence" {
			t.Errorf("the licence is content: %v", l)
		}
	}
}

// If names are requested by element at a host of the authority, the linkset is about the
// requested URL and available there.
func TestSignpostsOfElements(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) { o.PublicURL = "https://names.example" })
	at := func(r *request) { r.host, r.accept = "example.org", "text/html" }
	p := ask(s, "/alb002", at)
	set := ofRel(typedLinks(p.get("Link")), "linkset")
	if p.status != 200 || len(set) != 2 || set[0].url != "http://example.org/alb002?s=I2C&format=linkset-json" {
		t.Fatalf("%d, linksets %v", p.status, set)
	}
	body := string(ask(s, "/alb002?s=I2C&format=linkset-json", func(r *request) { r.host = "example.org" }).body)
	for _, want := range []string{`"anchor":"http://example.org/alb002"`, `"anchor":"https://names.example/urn:dns:example.org:alb002"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	// A Host field chosen by a proxy is not repeated.
	p = ask(s, "/urn:dns:example.org:alb002?s=I2C", func(r *request) { r.host = "localhost:4500" })
	if strings.Contains(p.get("Link"), "localhost") {
		t.Errorf("links %s", p.get("Link"))
	}
}

// The requests that Zotero's translator for DOIs sends, and those in the documentation of
// Crosscite.
func TestReferenceManagers(t *testing.T) {
	addr := newLibrary(t)
	const encoded = "/urn%3Adns%3Aexample.org%3A" + cited // encodeURIComponent
	for _, tt := range []struct {
		request string
		status  int
		kind    string
		want    string
	}{
		{
			"GET " + encoded + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Zotero/7.0.11\r\nAccept: application/vnd.datacite.datacite+json, application/vnd.crossref.unixref+xml, application/vnd.citationstyles.csl+json\r\nAccept-Language: en-US,en;q=0.5\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n\r\n",
			200, "application/vnd.citationstyles.csl+json", `"title":"Measured & checked","author":[{"family":"Moats","given":"Ryan"}],"issued":{"date-parts":[[1999,8,5]]}`,
		},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: application/x-bibtex\r\n\r\n", 200, "application/x-bibtex; charset=utf-8", `title = {Measured \& checked}`},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: application/x-research-info-systems\r\n\r\n", 200, "application/x-research-info-systems; charset=utf-8", "TY  - DATA\r\n"},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: text/turtle\r\n\r\n", 200, "text/turtle; charset=utf-8", "<urn:dns:example.org:" + cited + "> a schema:CreativeWork"},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: application/cbor\r\n\r\n", 200, "application/cbor", "Measured & checked"},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: application/vnd.schemaorg.ld+json\r\n\r\n", 200, "application/vnd.schemaorg.ld+json", `"@context":["https://schema.org"`},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: application/rdf+xml;q=0.5, application/vnd.citationstyles.csl+json;q=1.0\r\n\r\n", 200, "application/vnd.citationstyles.csl+json", `"type":"dataset"`},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: text/x-bibliography; style=apa; locale=en-US\r\n\r\n", 406, "text/plain; charset=utf-8", "application/x-bibtex"},
		{"GET /urn:dns:example.org:" + cited + "?s=I2C HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: text/x-bibliography\r\n\r\n", 406, "text/plain; charset=utf-8", "application/x-bibtex"},
		{"GET /urn:dns:example.org:none HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: text/x-bibliography\r\n\r\n", 404, "text/plain; charset=utf-8", "not found"},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: curl/8.5.0\r\nAccept: text/x-bibliography, text/html;q=0.5\r\n\r\n", 303, "text/html; charset=utf-8", "data.csv"},
		{"GET /urn:dns:example.org:" + cited + " HTTP/1.1\r\nHost: HOST\r\nUser-Agent: Mozilla/5.0\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\r\n", 303, "text/html; charset=utf-8", "data.csv"},
		{"GET " + cited + "?s=I2C&format=bibtex HTTP/1.1\r\nHost: example.org\r\n\r\n", 200, "application/x-bibtex; charset=utf-8", "@misc{urn:dns:example.org:" + cited},
		{"GET /uri-res/N2C?urn:dns:example.org:" + cited + " HTTP/1.0\r\nAccept: application/x-bibtex\r\n\r\n", 200, "application/x-bibtex; charset=utf-8", "@misc{"},
		{"GET /urn:dns:example.org:split HTTP/1.1\r\nHost: HOST\r\nAccept: application/x-bibtex\r\n\r\n", 410, "text/plain; charset=utf-8", "a new edition"},
	} {
		got, body := says(t, addr, tt.request)
		if got.StatusCode != tt.status || got.Header.Get("Content-Type") != tt.kind || !strings.Contains(body, tt.want) {
			t.Errorf("%s\ngot %d %s\n%s\nwant %d %s with %s", tt.request, got.StatusCode, got.Header.Get("Content-Type"), body, tt.status, tt.kind, tt.want)
		}
	}
	// Conditional requests and HEAD work as for other descriptions.
	first, body := says(t, addr, "GET /urn:dns:example.org:"+cited+" HTTP/1.1\r\nHost: HOST\r\nAccept: application/x-bibtex\r\n\r\n")
	head, _ := says(t, addr, "HEAD /urn:dns:example.org:"+cited+" HTTP/1.1\r\nHost: HOST\r\nAccept: application/x-bibtex\r\n\r\n")
	if head.StatusCode != 200 || head.Header.Get("Content-Length") != fmt.Sprint(len(body)) || head.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
	again, _ := says(t, addr, "GET /urn:dns:example.org:"+cited+" HTTP/1.1\r\nHost: HOST\r\nAccept: application/x-bibtex\r\nIf-None-Match: "+first.Header.Get("ETag")+"\r\n\r\n")
	if again.StatusCode != 304 || again.Header.Get("Link") != first.Header.Get("Link") {
		t.Errorf("If-None-Match: %d %v", again.StatusCode, again.Header)
	}
}

// A tombstone has no links to the former locations, in any format.
func TestSignpostsOfTombstones(t *testing.T) {
	s, _ := lived(t)
	for _, target := range []string{"/urn:dns:example.org:life", "/life", "/urn:dns:example.org:life?s=I2C&format=linkset", "/urn:dns:example.org:life?s=I2C&format=bibtex", "/uri-res/N2C?urn:dns:example.org:life"} {
		for _, accept := range []string{"", "text/html", "application/json", "application/linkset+json", "application/vnd.citationstyles.csl+json", "text/turtle"} {
			p := ask(s, target, func(r *request) {
				r.accept = accept
				if target == "/life" {
					r.host = "example.org"
				}
			})
			if p.status != 410 || strings.Contains(p.get("Link"), "example.org/second") || strings.Contains(string(p.body), "https://example.org/second") {
				t.Errorf("%s as %q: %d, Link %s\n%s", target, accept, p.status, p.get("Link"), p.body)
			}
		}
	}
}
