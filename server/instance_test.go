package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
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
