package server

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A client of 1995 is redirected from a retired name to its only successor by the status
// line, and sees what became of the name (1995, 3.4.1 and 4).
func TestSuccessorOf1995(t *testing.T) {
	s, st := newTestServer(t, nil)
	retired := func(element string, successors ...string) store.Change {
		return store.Change{Time: modified, Record: &store.Record{
			Name: name.MustParse("urn:dns:example.org:" + element), Status: nomen.Retired, Reason: "a new edition", Successors: successors,
		}}
	}
	if _, err := st.Apply(t.Context(), []store.Change{
		retired("ring1", "urn:dns:example.org:ring2"), retired("ring2", "urn:dns:example.org:ring1"),
		retired("self", "urn:dns:example.org:self"), retired("afar", "urn:dns:afar.example:x"), retired("none"),
	}); err != nil {
		t.Fatal(err)
	}
	l := listen(t, s)
	const host = "Host: example.org\r\n"
	const alb = "urn:dns:example.org:alb002"
	for _, tt := range []struct{ request, status, location, body string }{
		{"GET old HTTP/1.0\r\n" + host, "301 " + alb, alb, "a new edition"}, // Y95-43
		{"GET urn:dns:example.org:old HTTP/1.0\r\n", "301 " + alb, alb, "a new edition"},
		{"GET /old HTTP/1.0\r\n" + host, "301 " + alb, "/" + alb, "a new edition"},
		{"GET old HTTP/1.1\r\nConnection: close\r\n" + host, "301 " + alb, alb, "a new edition"},
		{"GET old HTTP/1.0\r\nAccept: text/html\r\n" + host, "301 " + alb, alb, "<html"},
		{"GET old HTTP/1.0\r\nAccept: application/json\r\n" + host, "301 " + alb, alb, `"status":301`},
		{"GET afar HTTP/1.0\r\n" + host, "301 urn:dns:afar.example:x", "urn:dns:afar.example:x", "a new edition"},
		// A request with a service is about this very name, or its target.
		{"GET old?s=I2C HTTP/1.0\r\n" + host, "410 Retired name", "", "a new edition"},
		{"GET old?s=I2L HTTP/1.0\r\n" + host, "301 " + alb, alb + "", ""},
		// With several successors the reader has to choose; there is no loop.
		{"GET split HTTP/1.0\r\n" + host, "410 Retired name", "", "urn:dns:example.org:queried"},
		{"GET none HTTP/1.0\r\n" + host, "410 Retired name", "", "a new edition"},
		{"GET ring1 HTTP/1.0\r\n" + host, "410 Retired name", "", "a new edition"},
		{"GET self HTTP/1.0\r\n" + host, "410 Retired name", "", "a new edition"},
		// Y95-42: the reason phrase of a 302 has the target.
		{"GET alb002?s=I2L HTTP/1.0\r\n" + host, "302 Found at https://example.org/albums/2", "https://example.org/albums/2", ""},
		{"GET /urn:dns:example.org:alb002 HTTP/1.0\r\n", "302 Found at https://example.org/albums/2", "https://example.org/albums/2", ""},
		{"GET /urn:dns:example.org:alb002 HTTP/1.1\r\nConnection: close\r\n" + host, "303 See Other", "https://example.org/albums/2", ""},
		// Y95-36: other fields of HTTP/1.0 are supported or ignored.
		{"GET alb002 HTTP/1.0\r\nPragma: no-cache\r\nFrom: a@example.org\r\nReferer: http://example.org/\r\nUser-Agent: x\r\nAuthorization: Basic eDp5\r\n" + host, "200 OK", "", "albums/2"},
		{"GET alb002 HTTP/1.0\r\nIf-Modified-Since: " + modifiedText + "\r\n" + host, "304 Not Modified", "", ""},
	} {
		status, fields, body := cutAnswer(exchange(t, l.Public, tt.request+"\r\n"))
		_, status, _ = strings.Cut(status, " ")
		if status != tt.status || fieldOf(fields, "Location") != tt.location && !strings.HasPrefix(fieldOf(fields, "Location"), tt.location+"?") || !strings.Contains(body, tt.body) {
			t.Errorf("%q: got %q to %q, %q; want %q to %q", tt.request, status, fieldOf(fields, "Location"), body, tt.status, tt.location)
		}
		if got := fieldOf(fields, "Content-Type"); strings.HasPrefix(tt.status, "301 ") && tt.body == "a new edition" && got != "text/urc-0" { // Y95-45
			t.Errorf("%q: a tombstone in %q", tt.request, got)
		}
	}
	// Y95-32, Y95-39: a Simple-Request gets everything in one message.
	if got := exchange(t, l.Public, "GET urn:dns:example.org:old\r\n"); !strings.Contains(got, "a new edition") || !strings.Contains(got, alb) || strings.HasPrefix(got, "HTTP/") {
		t.Errorf("a Simple-Request: %q", got)
	}
}

// The reason phrase contains a URN only if the client should resolve this URN instead of the
// requested one.
func TestPhrases(t *testing.T) {
	long := "https://h.example/" + strings.Repeat("a", maxPhrase)
	for target, want := range map[string]string{
		"https://h.example/a?b#c":                   "Found at https://h.example/a?b#c",
		"https://h.example/urn:dns:other.example:x": "Found at https://h.example",
		"https://h.example?URN:x":                   "Found at https://h.example",
		"https://urn:x@h.example/":                  "",
		"mailto:a@h.example":                        "Found at mailto:a@h.example",
		"urn:example:a":                             "",
		"/urn:example:a":                            "",
		long:                                        "Found at https://h.example",
	} {
		p := newReply(302)
		if p.setRedirectPhrase(&request{version: version{1, 0}}, formWeb, target); p.reason != want {
			t.Errorf("%.60s: %q, want %q", target, p.reason, want)
		}
	}
	p := newReply(301)
	if p.setRedirectPhrase(&request{version: version{1, 1}}, formElement, "https://h.example/"); p.reason != "Moved to https://h.example/" {
		t.Errorf("301: %q", p.reason)
	}
}

// Y95-21, Y95-37: the default authority is for requests without a host.
func TestHosts(t *testing.T) {
	s, _ := newTestServer(t, func(o *Options) {
		o.PublicURL, o.Hosts = "https://names.example:8443", []string{"Balancer.internal."}
	})
	local := func(addr string) func(*request) {
		return func(r *request) { r.local = netip.MustParseAddrPort(addr + ":4500") }
	}
	for _, tt := range []struct {
		target, host string
		want         int
		change       []func(*request)
	}{
		{"2648", "", 200, []func(*request){inHTTP10}},
		{"2648", "", 200, nil},
		{"2648", "localhost", 200, nil},
		{"2648", "LOCALHOST.:4500", 200, nil},
		{"2648", "node.localhost:4500", 200, nil},
		{"2648", "127.0.0.1:4500", 200, nil},
		{"2648", "192.0.2.1", 200, nil},
		{"2648", "198.51.100.7:4500", 200, nil}, // before address translation
		{"2648", "[2001:db8::1]:4500", 200, nil},
		{"2648", "names.example", 200, nil},
		{"2648", "NAMES.example:8443", 200, nil},
		{"2648", "balancer.internal:80", 200, nil},
		{"2648", "www.unrelated.example", 421, nil},
		{"/2648", "www.unrelated.example:4500", 421, nil},
		{"2648", "www.unrelated.example", 421, []func(*request){inHTTP10}},
		{"/2648?s=I2L", "names.example.evil.example", 421, nil},
		{"urn+c", "www.unrelated.example", 421, nil},
		{"/urn+a", "www.unrelated.example", 421, nil},
		{"2648", "localhost.evil.example", 421, nil},
		// Requests with a full name need no Host field, nor do pages.
		{"/urn:ietf:rfc:2648?s=I2C", "www.unrelated.example", 200, nil},
		{"urn:ietf:rfc:2648", "www.unrelated.example", 200, nil},
		{"/uri-res/N2C?urn:ietf:rfc:2648", "www.unrelated.example", 200, nil},
		{"/-/healthz", "10.0.0.1", 200, nil},
		{"/-/healthz", "www.unrelated.example", 200, nil},
		{"/-/readyz", "probe", 200, nil},
		{"/", "www.unrelated.example", 200, nil},
		// The host or address of an authority determines the authority.
		{"alb002", "example.org", 200, nil},
		{"alb002", "www.unrelated.example", 200, []func(*request){local("127.0.0.9")}},
		{"http://localhost/2648", "www.unrelated.example", 200, nil},
		{"http://balancer.internal/2648", "www.unrelated.example", 200, nil},
		{"http://www.unrelated.example/2648", "localhost", 421, nil}, // not a proxy
	} {
		p := ask(s, tt.target, append([]func(*request){hosted(tt.host)}, tt.change...)...)
		if p.status != tt.want {
			t.Errorf("%s at %q: %d, want %d: %s", tt.target, tt.host, p.status, tt.want, p.body)
		}
		if p.status == 421 && (!strings.Contains(string(p.body), "hosts of the server") || p.get("Cache-Control") != "no-cache") {
			t.Errorf("%s at %q: %s", tt.target, tt.host, p.body)
		}
	}
}
