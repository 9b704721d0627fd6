package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/health"
)

// A health check says which server answers, and which request arrived there.
func TestInstance(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, func(o *Options) { o.Instance = "abc" })
	l := listen(t, s)
	for line, want := range map[string]string{
		"GET /-/readyz?a=https://b//c%2Fd HTTP/1.1":               "",
		"HEAD /-/healthz? HTTP/1.0":                               "",
		"GET /-/readyz?" + strings.Repeat("x", 600) + " HTTP/1.1": "GET /-/readyz?" + strings.Repeat("x", 498),
	} {
		if want == "" {
			want = line
		}
		conn, err := net.Dial("tcp", l.Public.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, line+"\r\nHost: example.org\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get(health.RequestHeader); resp.Header.Get(health.InstanceHeader) != "abc" || got != want {
			t.Errorf("%q: %q; fields %v", line, got, resp.Header)
		}
	}
}

// A health check says what the server takes for the address and the host of the client.
func TestInstanceClient(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, func(o *Options) {
		o.Instance, o.TrustedProxies = "abc", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	for _, tt := range []struct {
		from, fields, want string
	}{
		{"192.0.2.7:1234", "Host: example.org", "192.0.2.7 example.org"},
		{"[2001:db8::7]:1234", "Host: example.org:81", "2001:db8::7 example.org:81"},
		{"192.0.2.7:1234", "Host: example.org\r\nX-Forwarded-For: 203.0.113.1\r\nX-Forwarded-Host: other.example", "192.0.2.7 example.org"},
		{"10.0.0.1:1234", "Host: example.org\r\nX-Forwarded-For: 203.0.113.1\r\nX-Forwarded-Host: other.example", "203.0.113.1 other.example"},
		{"10.0.0.1:1234", "Host: example.org\r\nX-Forwarded-For: 203.0.113.1\r\nForwarded: for=203.0.113.2", "unknown example.org"},
		{"10.0.0.1:1234", "Host: example.org\r\nX-Forwarded-Host: a b", "10.0.0.1 example.org"},
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET /-/readyz HTTP/1.1\r\n" + tt.fields + "\r\n\r\n")))
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = tt.from
		w := httptest.NewRecorder()
		s.Public().ServeHTTP(w, r)
		got := w.Header().Get(health.ClientHeader)
		if got != tt.want {
			t.Errorf("from %s, %q: got %q, want %q", tt.from, tt.fields, got, tt.want)
		}
		from, host, ok := health.ParseClient(got)
		if address, rest, _ := strings.Cut(tt.want, " "); !ok || host != rest || from.IsValid() != (address != "unknown") || from.IsValid() && from.String() != address {
			t.Errorf("%q is parsed as %v %q %v", got, from, host, ok)
		}
	}
	for _, wrong := range []string{"", " ", "example.org", "unknown2 x"} {
		if _, _, ok := health.ParseClient(wrong); ok {
			t.Errorf("%q is parsed", wrong)
		}
	}
}
