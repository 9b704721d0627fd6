package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// Server and engine together, over sockets: resources, ranges of lists, policies, codings
// and loops.
func TestWire(t *testing.T) {
	fetch := func(_ context.Context, location string) (*nomen.Resource, error) {
		switch location {
		case "https://example.org/page":
			return &nomen.Resource{Type: "text/html", Size: 6, URL: location, Body: io.NopCloser(strings.NewReader("<b>x</"))}, nil
		case "https://example.org/short":
			return &nomen.Resource{Type: "text/plain", Size: 60, URL: location, Body: io.NopCloser(strings.NewReader("short"))}, nil
		}
		return nil, errors.New("no route to host")
	}
	s, st := newTestServer(t, func(o *Options) {
		o.Resolver = resolve.New(o.Store, resolve.Options{Now: o.Now, Fetch: fetch})
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		o.CountryHeader = "CF-IPCountry"
	})
	record := func(spelling string, locations ...nomen.Location) store.Change {
		return store.Change{Time: modified, Record: &store.Record{Name: name.MustParse(spelling), Status: nomen.Active, Locations: locations}}
	}
	at := func(url string) nomen.Location { return nomen.Location{URL: url} }
	authority := func(prefix string, p store.Policy) store.Change {
		return store.Change{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{"a", "b"}, Policy: p}}
	}
	if _, err := st.Apply(t.Context(), []store.Change{
		authority("urn:x-a", store.Policy{Fetch: true, MaxAge: 60, Query: store.PassAppend}),
		authority("urn:x-b", store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://other.example/{name}"}}),
		authority("urn:x-c", store.Policy{Delegation: &store.Delegation{Mode: store.ModeAsk, To: "https://other.example/{name}"}}),
		authority("urn:x-d", store.Policy{Access: store.AccessLegal, AccessNote: "a court says so"}),
		record("urn:x-a:1", nomen.Location{URL: "https://example.org/page", Type: "text/html"}), record("urn:x-a:2", at("https://example.org/short")), record("urn:x-a:3", at("https://example.org/gone")),
		record("urn:x-a:4"), record("urn:x-a:5", nomen.Location{URL: "https://fi.example/", Country: "FI"}, nomen.Location{URL: "https://se.example/", Country: "SE"}),
	}); err != nil {
		t.Fatal(err)
	}
	l := listen(t, s)
	for _, tt := range []struct {
		title, target string
		fields        []string
		status        string
		want          []string // lines of the header, or with "~" a part of the body
	}{
		{"resource", "/uri-res/N2R?urn:x-a:1", nil, "200 OK", []string{"Content-Type: text/html", "Content-Disposition: attachment", "Content-Location: https://example.org/page", "X-Content-Type-Options: nosniff", "Cache-Control: max-age=60", "Content-Length: 6", "~<b>x</"}},
		{"Range of a resource is not passed on", "/urn:x-a:1?s=I2R", []string{"Range: bytes=0-1"}, "200 OK", []string{"Accept-Ranges: none", "~<b>x</"}},
		{"resource that cannot be had", "/urn:x-a:3?s=I2R", nil, "502 Bad Gateway", []string{"Retry-After: 5"}},
		{"resource of nothing", "/uri-res/N2R?urn:x-a:4", []string{"Accept: application/json"}, "404 No result for this service", []string{"~no-result"}},
		{"all resources of nothing", "/uri-res/N2Rs?urn:x-a:4", nil, "200 OK", []string{"~--\r\n"}},
		{"all resources", "/uri-res/N2Rs?urn:x-a:1", nil, "200 OK", []string{"~Content-Type: text/html\r\nContent-Location: https://example.org/page\r\n\r\n<b>x</\r\n--"}},
		{"resource where none is offered, N12-32", "/urn:ietf:rfc:2648?s=I2R", nil, "303 See Other", []string{"Location: https://www.rfc-editor.org/rfc/rfc2648.txt"}},
		{"q-component", "/urn:x-a:1?=a=b", nil, "303 See Other", []string{"Location: https://example.org/page?a=b"}},
		{"plain query", "/urn:x-a:1?a=b", nil, "303 See Other", []string{"Location: https://example.org/page?a=b"}},
		{"plain query elsewhere", "/urn:ietf:rfc:2648?a=b", nil, "303 See Other", []string{"Location: https://www.rfc-editor.org/rfc/rfc2648.txt"}},
		{"list service of nothing", "/urn:x-a:4?s=I2Ls", nil, "200 OK", []string{"Content-Type: text/uri-list"}},
		{"delegated", "/urn:x-b:1", nil, "303 See Other", []string{"Location: https://other.example/urn%3Ax-b%3A1"}},
		{"delegated without a resolver", "/urn:x-c:1", nil, "404 No result for this service", nil},
		{"a delegation loop", "/urn:x-c:1", []string{"Via: 1.1 nomen" + strings.Repeat(", 1.1 nomen", 7)}, "508 Loop Detected", []string{"~Delegation loop"}},
		{"legal", "/urn:x-d:1", nil, "451 Unavailable For Legal Reasons", []string{"~a court says so"}},
		{"country", "/urn:x-a:5", []string{"CF-IPCountry: SE"}, "303 See Other", []string{"Location: https://se.example/", "Cache-Control: private, max-age=60"}},
		{"same", "/uri-res/I=I?urn:x-a:1&URN:X-A:1", nil, "200 OK", []string{"~TRUE\r\n"}},
		{"not the same", "/uri-res/I=I?urn:x-a:1&urn:x-a:2", nil, "200 OK", []string{"~FALSE\r\n"}},
		{"part of a list", "/-/list/urn:dns:example.org", []string{"Range: bytes=1-3"}, "206 Partial Content", []string{"Content-Range: bytes 1-3/67", "Content-Length: 3", "~%0D"}},
	} {
		t.Run(tt.title, func(t *testing.T) {
			in := "GET " + tt.target + " HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n" + strings.Join(append(tt.fields, "", ""), "\r\n")
			status, fields, body := cutAnswer(exchange(t, l.Public, in))
			if status != "HTTP/1.1 "+tt.status {
				t.Errorf("got %s, want %s\n%s", status, tt.status, body)
			}
			for _, want := range tt.want {
				if part, ok := strings.CutPrefix(want, "~"); ok && !strings.Contains(body, part) {
					t.Errorf("got the body %q, want one with %q", body, part)
				} else if name, value, _ := strings.Cut(want, ": "); !ok && fieldOf(fields, name) != value {
					t.Errorf("%s: got %q, want %q", name, fieldOf(fields, name), value)
				}
			}
		})
	}
	in := "GET /urn:x-a:2?s=I2R HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"
	if _, fields, body := cutAnswer(exchange(t, l.Public, in)); len(body) >= 60 || fieldOf(fields, "Content-Length") == fmt.Sprint(len(body)) {
		t.Errorf("a resource that ended too early looks whole: %q", body)
	}
}
