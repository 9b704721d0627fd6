package links

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store/memstore"
)

// loopback is a resolver for which all hosts but those below gone.example are this machine.
type loopback struct{}

func (loopback) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	switch host {
	case "gone.example":
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case "broken.example":
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// TestOneCheck checks the outcome of one check with real connections.
func TestOneCheck(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	var sent atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "huge.") {
			fmt.Fprint(w, "User-agent: *\nDisallow: /page\n"+strings.Repeat("# nothing\n", 100_000))
			return
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, article) })
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for {
			n, err := w.Write(make([]byte, 32<<10))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("a"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "a")
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"?"+r.URL.RawQuery+"x", http.StatusFound)
	})
	mux.HandleFunc("/no-location", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	plain := httptest.NewServer(mux)
	defer plain.Close()
	secure := httptest.NewUnstartedServer(mux)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	old := httptest.NewUnstartedServer(mux)
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	defer old.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	port := func(a net.Addr) string { return fmt.Sprint(a.(*net.TCPAddr).Port) }
	at := func(host, path string) string { return "http://" + host + ":" + port(plain.Listener.Addr()) + path }
	for i, tt := range []struct {
		url    string
		want   Outcome
		detail string
	}{
		{at("a.example", "/page"), OK, "200"},
		{at("a.example", "/none"), Gone, "404"},
		{at("a.example", "/bomb"), OK, ""},
		{at("a.example", "/endless"), OK, ""},
		{at("a.example", "/slow"), Trouble, "deadline"},
		{at("a.example", "/cut"), Trouble, "EOF"},
		{at("a.example", "/long"), Trouble, "more than 10"},
		{at("a.example", "/no-location"), Trouble, "Location"},
		{at("huge.example", "/page"), Refused, "robots.txt"},
		{at("gone.example", "/page"), NoHost, ""},
		{at("broken.example", "/page"), Trouble, ""},
		{"http://a.example:" + port(closed.Addr()) + "/page", Trouble, "refused"},
		{"https://a.example:" + port(secure.Listener.Addr()) + "/page", BadTLS, "certificate"},
		{"https://a.example:" + port(old.Listener.Addr()) + "/page", BadTLS, "version"},
		{"https://a.example:" + port(plain.Listener.Addr()) + "/page", BadTLS, "TLS"},
		{"ftp://a.example/", None, "http"},
	} {
		timeout := time.Minute // so that a busy machine answers in time
		if tt.detail == "deadline" {
			timeout = 500 * time.Millisecond
		}
		w, err := Open(Options{
			Store: memstore.New(), Agent: "nomen/test", DNS: loopback{}, Gap: time.Millisecond,
			Allow: func(netip.Addr) error { return nil }, timeout: timeout, table: &memTable{},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := w.checker.check(t.Context(), &target{url: tt.url, get: true})
		if r.Outcome != tt.want || !strings.Contains(r.Detail, tt.detail) {
			t.Errorf("%d: %s: got %v, %q, want %v with %q", i, tt.url, r.Outcome, r.Detail, tt.want, tt.detail)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := sent.Load(); n > 8<<20 {
		t.Errorf("%d bytes of an endless body were read", n)
	}
}

// TestPrivate checks that nothing is sent to a private address, whatever leads there.
func TestPrivate(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "[::1]", "2130706433", "0x7f.1", "10.0.0.1", "169.254.169.254", "[::ffff:127.0.0.1]", "[64:ff9b::a00:1]", "inside.example", "localhost."} {
		dialed := false
		w, err := Open(Options{
			Store: memstore.New(), Agent: "nomen/test", DNS: loopback{}, table: &memTable{},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				dialed = true
				return nil, errors.New("no network")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := w.checker.check(t.Context(), &target{url: "http://" + host + "/", get: true})
		if dialed || r.Outcome != Private {
			t.Errorf("%s: dialed %v, outcome %v, want false, private", host, dialed, r.Outcome)
		}
	}
}
