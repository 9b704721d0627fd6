package server

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/registry"
)

func TestRegistryPages(t *testing.T) {
	own, err := registry.Standard().With(strings.NewReader(
		`{"namespaces": [{"nid": "shelf", "kind": "unregistered", "reference": "ours", "security": "none"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newTestServer(t, func(o *Options) { o.Registries = &own })
	for _, tt := range []struct {
		path, accept string
		status       int
		contentType  string
		want         string
	}{
		{"", "text/html", 200, "text/html; charset=utf-8", `href="namespaces"`},
		{"", "text/plain", 200, "text/plain; charset=utf-8", "namespaces  URN Namespaces"},
		{"namespaces", "", 200, "text/html; charset=utf-8", `"namespaces.xml"`}, // N12-72: from the HTML version
		{"namespaces", "", 200, "text/html; charset=utf-8", `"namespaces.txt"`},
		{"namespaces", "", 200, "text/html; charset=utf-8", `"namespaces/shelf"`},
		{"namespaces", "application/xml", 200, "application/xml", "<nid>isbn</nid>"},
		{"namespaces", "application/pdf", 200, "text/html; charset=utf-8", "isbn"},
		{"namespaces.xml", "text/html", 200, "application/xml", "<note>The NID &#34;urn&#34; is reserved"}, // N12-58
		{"namespaces.txt", "", 200, "text/plain; charset=utf-8", "isbn"},
		{"namespaces.json", "", 200, "application/json", `"nid":"isbn"`},
		{"namespaces/ISBN", "", 200, "text/html; charset=utf-8", "International Standard Book Number"},
		{"namespaces/isbn.json", "", 200, "application/json", `{"nid":"isbn"`},
		{"schemes/iris.beep", "application/json", 200, "application/json", `{"name":"iris.beep"`},
		{"schemes/iris.beep.txt", "", 200, "text/plain; charset=utf-8", "iris.beep"},
		{"services/I=I", "text/plain", 200, "text/plain; charset=utf-8", "I=I"},
		{"services/I%3DI.xml", "", 200, "application/xml", "<name>I=I</name>"},
		{"services/i2l", "", 404, "text/plain; charset=utf-8", "entry not found"},
		{"keywords.txt", "", 200, "text/plain; charset=utf-8", "intended URN resolution service"},
		{"schemes/urn.txt", "", 200, "text/plain; charset=utf-8", "reference   RFC 8141"}, // N12-73
		{"scheme-ids", "text/plain", 200, "text/plain; charset=utf-8", "Domain Name System"},
		{"nothing", "", 404, "text/plain; charset=utf-8", "entry not found"},
		{"namespaces/", "", 404, "text/plain; charset=utf-8", "entry not found"},
		{"namespaces/isbn/x", "", 404, "text/plain; charset=utf-8", "entry not found"},
		{"namespaces/%zz", "", 404, "text/plain; charset=utf-8", "entry not found"},
		{"../", "", 404, "text/plain; charset=utf-8", "entry not found"},
	} {
		p := ask(s, registryPath+tt.path, hosted("example.org"), func(r *request) { r.accept = tt.accept })
		if p.status != tt.status || p.get("Content-Type") != tt.contentType || !strings.Contains(string(p.body), tt.want) {
			t.Errorf("N12-72: %q with Accept %q: got %d %s %.300q, want %d %s and %q", tt.path, tt.accept, p.status, p.get("Content-Type"), p.body, tt.status, tt.contentType, tt.want)
		}
		if html := strings.HasPrefix(tt.contentType, "text/html"); html != strings.Contains(p.get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%q: Content-Security-Policy %q", tt.path, p.get("Content-Security-Policy"))
		}
	}
}

// TestRegistryLinks follows every link of the pages.
func TestRegistryLinks(t *testing.T) {
	s, _ := newTestServer(t, nil)
	seen := map[string]bool{}
	todo := []string{registryPath}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		p := ask(s, path, hosted("example.org"))
		if p.status != http.StatusOK {
			t.Errorf("%s: got %d, want 200", path, p.status)
		}
		if strings.HasPrefix(p.get("Content-Type"), "text/html") {
			todo = append(todo, linksOf(t, path, p.body)...)
		}
	}
	if len(seen) < 4*500 {
		t.Errorf("%d pages, want one in four formats for each of some 500 entries", len(seen))
	}
}

// linksOf returns the targets of the links of a page, resolved against its path.
func linksOf(t *testing.T, base string, page []byte) []string {
	t.Helper()
	var targets []string
	for _, part := range strings.Split(string(page), `href="`)[1:] {
		href, _, _ := strings.Cut(part, `"`)
		u, err := url.Parse(base)
		if err == nil {
			u, err = u.Parse(html.UnescapeString(href))
		}
		if err != nil {
			t.Fatalf("%s: link %q: %v", base, href, err)
		}
		targets = append(targets, u.EscapedPath())
	}
	return targets
}
