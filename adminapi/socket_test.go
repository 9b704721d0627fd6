package adminapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A client speaks to a server on a Unix socket, and sends the token nowhere else.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "localhost" || r.Header.Get("Authorization") != "Bearer id.secret" || r.URL.Path != Root+"version" {
			t.Errorf("got %s for %s with %q", r.URL, r.Host, r.Header)
		}
		w.Write([]byte(`{"version":"1"}`))
	}))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	c := &Client{URL: "unix:" + path, Token: "id.secret", HTTP: Direct()}
	if v, err := c.Version(t.Context()); err != nil || v.Version != "1" {
		t.Errorf("got %v, %v", v, err)
	}
	dialed := ""
	other := &Client{URL: c.URL, Token: "id.secret", HTTP: &http.Client{Transport: &http.Transport{
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = address
			return nil, net.ErrClosed
		},
	}}}
	if _, err := other.Version(t.Context()); err == nil || !strings.HasSuffix(dialed, ".invalid:80") {
		t.Errorf("a client that knows no sockets connects to %q: %v", dialed, err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	server.Close()
	if _, err := c.Version(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the socket: %v", err)
	}
}
