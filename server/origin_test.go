package server

import (
	"net/netip"
	"strings"
	"testing"
)

// RFC 9110, 7.4 and 15.5.20: a target in absolute form must be of this server's origin. Other
// ports and schemes of its hosts are other servers.
func TestOrigins(t *testing.T) {
	secure := func(r *request) { r.secure = true }
	proxied := func(r *request) { r.proxied = true }
	at := func(local string) func(*request) {
		return func(r *request) { r.local = netip.MustParseAddrPort(local) }
	}
	const public = "https://names.example:8443"
	for _, tt := range []struct {
		public string // public URL
		origin string
		own    bool
		change []func(*request)
	}{
		// The listener is at 192.0.2.1:4500.
		{"", "http://192.0.2.1:4500", true, nil},
		{"", "HTTP://192.0.2.1:04500", true, nil},
		{"", "http://localhost:4500", true, nil},
		{"", "http://localhost:4501", false, nil},
		{"", "http://localhost:8080", false, nil},
		{"", "http://localhost:8080", true, []func(*request){at("192.0.2.1:8080")}},
		{"", "http://localhost:4500", false, []func(*request){at("192.0.2.1:8080")}},
		{"", "https://localhost:4500", false, nil},
		{"", "https://localhost", false, nil},
		{"", "https://localhost:4500", true, []func(*request){secure}},
		{"", "http://localhost:4500", false, []func(*request){secure}},
		// The default port may be mapped to that of the listener.
		{"", "http://localhost", true, nil},
		{"", "http://localhost:", true, nil},
		{"", "http://localhost:80", true, nil},
		{"", "http://localhost:443", false, nil},
		{"", "https://localhost:443", true, []func(*request){secure}},
		{"", "https://localhost:80", false, []func(*request){secure}},
		// Authorities' hosts: 4500 is the default port of 1995 (Y95-29).
		{"", "http://example.org", true, nil},
		{"", "http://example.org:4500", true, []func(*request){at("192.0.2.1:8080")}},
		{"", "http://example.org:4501", false, nil},
		{"", "https://example.org", false, nil},
		// A proxy that terminates TLS, and keeps the absolute form.
		{public, "https://names.example:8443", true, nil},
		{public, "https://NAMES.example.:8443", true, nil},
		{public, "https://names.example", false, nil},
		{public, "http://names.example:8443", false, nil},
		{public, "http://names.example", false, nil},
		{public, "http://names.example:4500", true, nil}, // the listener itself
		{public, "https://example.org", true, nil},
		{public, "https://example.org:8443", true, nil},
		{public, "https://example.org:8444", false, nil},
		{"https://names.example", "https://names.example", true, nil},
		{"https://names.example", "https://names.example:443", true, nil},
		{"https://names.example", "https://names.example:4500", false, nil},
		// A trusted proxy has checked the origin (RFC 9110, 7.4).
		{"", "https://localhost", true, []func(*request){proxied}},
		{"", "http://localhost:8080", true, []func(*request){proxied}},
		{"", "http://far.example", false, []func(*request){proxied}},
	} {
		s, _ := newTestServer(t, func(o *Options) { o.PublicURL = tt.public })
		want := 421
		if tt.own {
			want = 303
		}
		for _, target := range []string{"/urn:ietf:rfc:2648", "/uri-res/N2L?urn:ietf:rfc:2648"} {
			p := ask(s, tt.origin+target, tt.change...)
			if p.status != want && (want != 303 || p.status != 302) {
				t.Errorf("public URL %q: %s: %d, want %d", tt.public, tt.origin+target, p.status, want)
			}
		}
		if p := ask(s, tt.origin+"/", append(tt.change, posted)...); (p.status == 421) == tt.own {
			t.Errorf("public URL %q: POST %s: %d", tt.public, tt.origin, p.status)
		}
	}
}

func posted(r *request) { r.method = "POST" }

// The full URL of a name is a name whatever its origin, and a TimeGate accepts each URL of
// a name.
func TestOriginsOfNames(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for target, want := range map[string]int{
		"https://purl.example/net/x":                                      303,
		"/-/timegate/https://localhost:8443/urn:ietf:rfc:2648?s=I2C":      302,
		"/-/timegate/http://localhost:8080/urn:ietf:rfc:2648?s=I2C":       302,
		"/-/timegate/https://elsewhere.example:8/urn:ietf:rfc:2648?s=I2C": 404,
	} {
		if p := ask(s, target); p.status != want {
			t.Errorf("%s: %d, want %d", target, p.status, want)
		}
	}
	l := listen(t, s)
	for origin, want := range map[string]string{"http://localhost:1": "421", "https://localhost": "421", "http://" + l.Public.String(): "303"} {
		got := exchange(t, l.Public, "GET "+origin+"/urn:ietf:rfc:2648 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+want+" ") {
			t.Errorf("%s: got %q, want %s", origin, got, want)
		}
	}
}
