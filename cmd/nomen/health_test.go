package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Health asks a server on a Unix socket like any other, and prints the reason that the server gives
// for not being ready.
func TestHealthOfSocket(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	status, body := http.StatusOK, `{"status":"ready"}`
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	check := func(wantStatus int, want string) {
		t.Helper()
		var out, errs bytes.Buffer
		got := run(t.Context(), []string{"health", "unix:" + socket}, streams{out: &out, err: &errs})
		if said := out.String() + errs.String(); got != wantStatus || !strings.Contains(said, want) {
			t.Errorf("status %d, %q; want %d and %q", got, said, wantStatus, want)
		}
	}
	check(exitYes, "ready\n")
	status, body = http.StatusServiceUnavailable, "{\"status\":\"degraded: storage: no space\"}\n"
	check(exitNo, "degraded: storage: no space\n")
	status, body = http.StatusOK, "<html>Welcome to nginx!</html>"
	check(exitNo, "unexpected response")
}

// A server that accepts connections but does not answer is not healthy.
func TestHealthOfSilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	client, base, err := reach(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if status, healthy := askHealth(ctx, client, base+"/-/readyz"); healthy || status == "" {
		t.Errorf("%q, healthy %t", status, healthy)
	}
}

// Without a server, health says where it looked for one.
func TestHealthOfNone(t *testing.T) {
	t.Parallel()
	if conn, err := net.Dial("tcp", strings.TrimPrefix(defaultPublicURL, "http://")); err == nil {
		conn.Close()
		t.Logf("a server runs at %s: not tested", defaultPublicURL)
		return
	}
	data := filepath.Join(t.TempDir(), "none")
	var errs bytes.Buffer
	status := run(t.Context(), []string{"health", "--data", data}, streams{out: &errs, err: &errs})
	want := "(no server runs on " + data + ", which has no admin.url; health also asked at http://127.0.0.1:4500, the default address of the public listener)\n"
	if status != exitNo || !strings.HasSuffix(errs.String(), want) {
		t.Errorf("status %d, %q; want %q", status, errs.String(), want)
	}
}
