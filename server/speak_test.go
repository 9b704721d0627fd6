package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/dialect"
)

// A recordingDialect answers requests below /dialect, and keeps the last call.
type recordingDialect struct {
	last dialect.Call
	body string
	err  error
}

func (d *recordingDialect) Serve(w http.ResponseWriter, r *http.Request, c *dialect.Call) bool {
	if !strings.HasPrefix(c.Target, "/dialect") {
		return false
	}
	body, err := io.ReadAll(r.Body)
	d.last, d.body, d.err = *c, string(body), err
	w.WriteHeader(http.StatusAccepted)
	return true
}

// Only requests that other machines cannot read are private.
func TestPrivateCalls(t *testing.T) {
	d := &recordingDialect{}
	s, _ := newTestServer(t, func(o *Options) {
		o.Dialects = map[string]dialect.Handler{"d": d}
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32"), netip.MustParsePrefix("192.0.2.2/32")}
	})
	for _, tt := range []struct {
		name, scheme, from string
		fields             []string
		want               bool
	}{
		{"TLS", "https", "192.0.2.1:5", nil, true},
		{"plain", "http", "192.0.2.1:5", nil, false},
		{"loopback", "http", "127.0.0.1:5", nil, true},
		{"loopback IPv6", "http", "[::1]:5", nil, true},
		{"loopback through a proxy that is not trusted", "http", "127.0.0.1:5", []string{"X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "https"}, false},
		{"loopback through a proxy that only names itself", "http", "127.0.0.1:5", []string{"Via", "1.1 proxy"}, false},
		{"loopback through a proxy that sends Forwarded", "http", "127.0.0.1:5", []string{"Forwarded", "for=127.0.0.1"}, false},
		{"TLS through a proxy", "https", "127.0.0.1:5", []string{"Via", "1.1 proxy"}, true},
		{"claims TLS without being a proxy", "http", "192.0.2.1:5", []string{"X-Forwarded-Proto", "https"}, false},
		{"claims loopback without being a proxy", "http", "192.0.2.1:5", []string{"X-Forwarded-For", "127.0.0.1"}, false},
		{"proxy with TLS", "http", "192.0.2.2:5", []string{"X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "https"}, true},
		{"proxy without TLS", "http", "192.0.2.2:5", []string{"X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "http"}, false},
		{"proxy that says nothing", "http", "192.0.2.2:5", nil, false},
		{"proxy on this machine", "http", "127.0.0.2:5", []string{"X-Forwarded-For", "192.0.2.7"}, false},
		{"proxy on this machine, client on this machine", "http", "127.0.0.2:5", []string{"X-Forwarded-For", "127.0.0.1"}, false},
	} {
		r := httptest.NewRequest("PUT", tt.scheme+"://names.example.org/dialect//a%2Fb?c", strings.NewReader("body"))
		r.RequestURI = "/dialect//a%2Fb?c"
		r.RemoteAddr = tt.from
		for i := 0; i+1 < len(tt.fields); i += 2 {
			r.Header.Set(tt.fields[i], tt.fields[i+1])
		}
		w := httptest.NewRecorder()
		h := s.publicServer(&Listener{Dialects: []string{"unknown", "d"}})
		h.Handler.ServeHTTP(w, r.WithContext(h.BaseContext(nil)))
		if w.Code != http.StatusAccepted || d.last.Private != tt.want || d.body != "body" {
			t.Errorf("%s: got %d, private %v, body %q (%v); want %v", tt.name, w.Code, d.last.Private, d.body, d.err, tt.want)
		}
		if d.last.Target != "/dialect//a%2Fb?c" {
			t.Errorf("%s: got target %q", tt.name, d.last.Target)
		}
	}
}

// Other requests, and other listeners, are as without dialects; bodies are limited.
func TestOtherRequests(t *testing.T) {
	d := &recordingDialect{}
	s, _ := newTestServer(t, func(o *Options) { o.Dialects = map[string]dialect.Handler{"d": d} })
	l, err := s.Listen(Listener{Address: "127.0.0.1:0", Dialects: []string{"d"}}, Listener{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Shutdown(t.Context())
	with, without := "http://"+l.Addrs[0].String(), "http://"+l.Addrs[1].String()
	for _, tt := range []struct {
		url    string
		status int
	}{
		{with + "/dialect", 202}, {without + "/dialect", 404}, {with + "/urn:ietf:rfc:2648?s=I2C", 200}, {without + "/urn:ietf:rfc:2648?s=I2C", 200}, {with + "/-/healthz", 200},
	} {
		resp, err := http.Get(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.status {
			t.Errorf("GET %s: got %d, want %d", tt.url, resp.StatusCode, tt.status)
		}
	}
	// A URL of the listener stands for its path. That of another listener does not.
	for target, status := range map[string]string{
		with + "/dialect": "202",
		strings.ToUpper(with[:4]) + with[4:] + "/dialect?": "202",
		without + "/dialect": "421",
	} {
		if got := rawStatus(t, l.Addrs[0].String(), target); got != status {
			t.Errorf("GET %s: got %s, want %s", target, got, status)
		}
	}
	resp, err := http.Post(with+"/dialect", "text/plain", strings.NewReader(strings.Repeat("x", maxDialectBody+1)))
	if err == nil {
		resp.Body.Close()
	}
	if len(d.body) != maxDialectBody || d.err == nil {
		t.Errorf("got %d bytes of a long body (%v)", len(d.body), d.err)
	}
}

// rawStatus sends a request with a target in absolute form, and returns the status.
func rawStatus(t *testing.T, address, target string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	host, _, _ := strings.Cut(strings.SplitN(target, "://", 2)[1], "/")
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, host); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(line)[1]
}
