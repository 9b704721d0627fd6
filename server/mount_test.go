package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/store"
)

// Everything that a mounted server links to is below its mount, and exists: redirects,
// signposts, pages, link sets, lists, timemaps and problems.
func TestMountedLinks(t *testing.T) {
	const host, mount = "names.example", "/deep/names"
	for _, tt := range []struct {
		name, public string
		by           func(http.Handler) http.Handler // removes the mount from the path; nil if nothing does
	}{
		{"http.StripPrefix", "", func(h http.Handler) http.Handler { return http.StripPrefix(mount, h) }},
		{"http.StripPrefix and a public URL", "http://names.example/deep/names/", func(h http.Handler) http.Handler { return http.StripPrefix(mount, h) }},
		{"a proxy that removes the path", "http://names.example/deep/names", func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.RequestURI = strings.Replace(r.RequestURI, mount, "", 1)
				http.StripPrefix(mount, h).ServeHTTP(w, r)
			})
		}},
		{"a public URL", "http://names.example/deep/names", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newTestServer(t, func(o *Options) {
				o.PublicURL, o.Limits.Rate = tt.public, 1e6
				o.Hosts = []string{host}
				o.Publication = newPublication(t, o.Store, host+mount+"/-/log")
				o.Explainer = &gateway.Explainer{Authorities: store.NewTable(o.Store, o.Now, authorityLife), Store: o.Store}
			})
			w := walker{t: t, host: host, mount: mount, seen: map[string]bool{}}
			if w.handler = s.Public(); tt.by != nil {
				w.handler = tt.by(w.handler)
			}
			for _, target := range []string{
				"/", "/urn:ietf:rfc:2648", "/urn:ietf:rfc:2648?s=I2C", "/urn:ietf:rfc:2648?s=I2C&at=2026-11-20", "/urn:dns:example.org:old", "/urn:dns:example.org:split",
				"/urn:dns:example.org:urn+m", "/urn:dns:example.org:urn+a", "/urn:dns:example.org:urn+c", "/urn:dns:other.example:urn+p",
				"/-/resolve?name=urn:ietf:rfc:2648", "/?name=urn:ietf:rfc:2648", "/?name=urn:isbn:0451450524", "/-/handler?uri=web%2Burn:ietf:rfc:2648",
				"/-/registry/", "/-/list/urn:dns:example.org", "/-/timemap/urn:ietf:rfc:2648", "/-/timegate/http://names.example/deep/names/urn:ietf:rfc:2648",
				"/-/timemap/link/http://names.example/deep/names/urn:ietf:rfc:2648", "/uri-res/N2C?urn:ietf:rfc:2648", "/uri-res/N2L?urn:ietf:rfc:2648", "/uri-res/L2Ns?https://example.org/albums/2",
				"/urn:dns:example.org:bare?s=I2L", "/robots.txt",
				"/-/log/", "/-/log/checkpoint", "/-/proof/urn:ietf:rfc:2648", "/-/proof/urn:ietf:rfc:2648?format=qr",
			} {
				w.visit(mount+target, "")
			}
			w.visit("http://"+host+mount+"/urn:ietf:rfc:2648?s=I2C", "absolute form")
			w.missing(mount + "/urn:dns:example.org:none")
			if page := w.get(mount+"/urn:ietf:rfc:2648?s=I2C", "text/html").Body.String(); !strings.Contains(page, mount+"/-/proof/urn:ietf:rfc:2648") {
				t.Errorf("the page of a name does not link to its receipt:\n%s", page)
			}
			if len(w.seen) < 40 {
				t.Errorf("followed only %d links", len(w.seen))
			}
		})
	}
}

// A walker follows the links of responses.
type walker struct {
	t           *testing.T
	handler     http.Handler
	host, mount string
	seen        map[string]bool
}

// linked matches links in pages, and URLs of the host anywhere.
var linked = regexp.MustCompile(`(?i)(?:href|(?:form)?action)="(/[^"]*|http://names\.example[^"]*)"|(http://names\.example[^\s"<>,;{}]*)`)

// get answers a request for a target.
func (w *walker) get(target, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = w.host
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, r)
	return out
}

// visit requests a target in several formats, and follows what the responses link to.
func (w *walker) visit(target, from string) {
	if w.seen[target] {
		return
	}
	w.seen[target] = true
	formats := []string{"", "text/html", "application/json", format.TypeLinksetJSON, format.TypeJSONLD, format.TypeURIList, "text/plain"}
	if from != "" {
		formats = formats[:2]
	}
	for _, accept := range formats {
		got := w.get(target, accept)
		if got.Code >= 400 && got.Code != http.StatusNotAcceptable && got.Code != http.StatusGone && !strings.Contains(target, ":bare") {
			w.t.Errorf("%s from %q, Accept %q: %d %.300s", target, from, accept, got.Code, got.Body)
		}
		text := strings.Join(slices.Concat(got.Header()["Link"], got.Header()["Location"]), "\n") + "\n" + got.Body.String()
		if l := got.Header().Get("Location"); strings.HasPrefix(l, "/") {
			text += "\n<a href=\"" + l + "\">"
		}
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			w.follow(target, strings.ReplaceAll(m[1]+m[2], "&amp;", "&"))
		}
	}
}

// follow visits a link if it is on the host.
func (w *walker) follow(from, link string) {
	u, err := url.Parse(link)
	if err != nil {
		w.t.Errorf("%s links to %q: %v", from, link, err)
		return
	}
	path := strings.TrimPrefix(link, "http://"+w.host)
	if path != w.mount && !strings.HasPrefix(path, w.mount+"/") {
		w.t.Errorf("%s links to %q, which is not below the mount", from, link)
		return
	}
	if path, _, _ = strings.Cut(path, "#"); u.Host != "" && u.Host != w.host || strings.Contains(path, "...") || len(w.seen) > 400 {
		return
	}
	w.visit(path, from)
}

// missing checks the problem of an unknown name.
func (w *walker) missing(target string) {
	got := w.get(target, "application/problem+json")
	if want := fmt.Sprintf(`"type":"%s/-/problems/unknown-name"`, w.mount); got.Code != http.StatusNotFound || !strings.Contains(strings.ReplaceAll(got.Body.String(), `": "`, `":"`), want) {
		w.t.Errorf("%s: %d %s, want %s", target, got.Code, got.Body, want)
	}
	w.visit(w.mount+"/-/problems/unknown-name", target)
}

// The mount itself, without a slash, is the home page; a name that equals the URL of the
// request includes the mount.
func TestMountItself(t *testing.T) {
	s, _ := newTestServer(t, nil)
	get := func(h http.Handler, target, host string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := get(http.StripPrefix("/names", s.Public()), "/names", "names.example"); w.Code != 200 || !strings.Contains(w.Body.String(), "http://names.example/names/urn:...") {
		t.Errorf("the mount: %d %s", w.Code, w.Body)
	}
	if w := get(http.StripPrefix("/net", s.Public()), "/net/x", "purl.example"); w.Code != 303 || w.Header().Get("Location") != "https://example.org/purl" {
		t.Errorf("a web name: %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestPublicURL(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "http://h.example": true, "https://h.example/": true, "https://H.example:8443/a/b/": true, "https://h.example/a%20b": true,
		"ftp://h.example": false, "names.example.org": false, "https://u@h.example/": false, "https://h.example/a//b": false, "https://h.example/../b": false,
		"https://h.example/a?b": false, "https://h.example/a?": false, "https://h.example/a#b": false, "https://h.example/a#": false, "//h.example/a": false,
	} {
		s := &Server{}
		if err := s.setPublicURL(text); (err == nil) != ok {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
