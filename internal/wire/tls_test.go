package wire

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// certificate returns a certificate for example.org, and a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{"example.org"},
		NotAfter:     time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// startTLS serves what tells how the request came, over TLS.
func startTLS(t *testing.T) (address string, client *tls.Config) {
	t.Helper()
	cert, pool := certificate(t)
	l := listen(t)
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
	serve(t, NewListener(tls.NewListener(l, config), Config{Now: clock, MaxLine: 100}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SetReason(w, r, "Found It")
		fmt.Fprintf(w, "%s tls=%v server=%s\n", view(r), r.TLS != nil && r.TLS.HandshakeComplete, r.TLS.ServerName)
	}))
	return l.Addr().String(), &tls.Config{RootCAs: pool, ServerName: "example.org"}
}

// TestTLS checks that everything works over TLS too.
func TestTLS(t *testing.T) {
	address, config := startTLS(t)
	const trailer = "\n tls=true server=example.org\n"
	tests := []struct{ name, in, status, body string }{
		{"mended", "GET a HTTP/1.0\r\n\r\n", "HTTP/1.0 200 Found It", "GET \"a\" HTTP/1.0 mended" + trailer},
		{"good", "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 Found It", "GET \"/a\" HTTP/1.1" + trailer},
		{"Simple-Request", "GET a\r\n", "GET \"a\"  mended simple", trailer[1:]},
		{"refused", "GET /" + strings.Repeat("a", 100) + "\r\n", "HTTP/1.1 414 Request URI Too Long", "too long.\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tls.Client(dial(t, address), config)
			send(t, c, tt.in)
			got := receive(t, c)
			status, rest, _ := strings.Cut(strings.ReplaceAll(got, "\r\n", "\n"), "\n")
			if status != tt.status || !strings.HasSuffix(rest, strings.ReplaceAll(tt.body, "\r\n", "\n")) {
				t.Errorf("Y95-73: got %q, want %q and %q", got, tt.status, tt.body)
			}
		})
	}
}

// TestHTTP2 checks that HTTP/2 is supported, too, with the same meaning.
func TestHTTP2(t *testing.T) {
	address, config := startTLS(t)
	for _, http2 := range []bool{true, false} {
		transport := &http.Transport{
			TLSClientConfig:   config.Clone(),
			ForceAttemptHTTP2: http2,
		}
		defer transport.CloseIdleConnections()
		request, err := http.NewRequest("GET", "https://"+address+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[http2]
		if got := response.Proto; got != want {
			t.Errorf("Y95-75: got %s, want %s", got, want)
		}
		want = fmt.Sprintf("GET \"/a\" %s\n tls=true server=example.org\n", want)
		if got := receive(t, response.Body); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for name := range response.Header {
			if strings.HasPrefix(strings.ToLower(name), "!reason") {
				t.Errorf("header %q has leaked", name)
			}
		}
	}
}

// TestHandshake checks that clients which do not shake hands are answered by
// net/http, and do not delay others.
func TestHandshake(t *testing.T) {
	address, config := startTLS(t)
	dial(t, address) // says nothing
	plain := dial(t, address)
	send(t, plain, "GET /a HTTP/1.0\r\n\r\n")
	if got, want := receive(t, plain), "HTTP/1.0 400 Bad Request\r\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q and more", got, want)
	}
	c := tls.Client(dial(t, address), config)
	send(t, c, "GET a\r\n")
	if got, err := bufio.NewReader(c).ReadString('\n'); got != "GET \"a\"  mended simple\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestListenerClose checks that a closed listener accepts nothing, and closes
// what it has not handed over.
func TestListenerClose(t *testing.T) {
	inner := newChanListener()
	l := NewListener(inner, Config{})
	first, server := net.Pipe()
	go func() { inner.conns <- server }()
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	second, server := net.Pipe()
	inner.conns <- server
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := second.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection that was not accepted: got %v, want %v", err, io.EOF)
	}
	if _, err := l.Accept(); err != net.ErrClosed {
		t.Errorf("Accept: got %v, want %v", err, net.ErrClosed)
	}
	first.Close()
}
