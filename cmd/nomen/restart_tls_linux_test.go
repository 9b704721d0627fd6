package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Restarts drop no request over TLS either: with HTTP/1.1 and with HTTP/2, on new connections and
// on open ones, of which the server closes those without a request. A client repeats a GET that
// the server cannot have answered, as RFC 9110, 9.2.2 and RFC 9113, 8.7 permit.
func testSecureRestarts(t *testing.T, restarts, requests int) {
	pair := testCertificate(t, clock().Add(-time.Hour), clock().Add(time.Hour))
	dir := t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, addresses := newService(t, fmt.Sprintf("admin = \"off\"\n[[listen]]\naddress = \"fd:web\"\ntls = \"files\"\ncert = %q\nkey = %q\n",
		filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")))
	s.start("--demo", "--no-access-log")
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	var restarted atomic.Bool
	var answered [4]atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		major, once := 1+i%2, i/2%2 == 1
		client := secureRestartClient(roots, major, once)
		wg.Go(func() {
			defer client.CloseIdleConnections()
			for !restarted.Load() || answered[i%4].Load() < int64(requests/4) {
				resp, err := client.Get("https://" + addresses[0] + "/urn:ietf:rfc:2648")
				if err != nil {
					t.Errorf("HTTP/%d, new connections %t: %v", major, once, err)
					continue
				}
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusSeeOther || resp.ProtoMajor != major {
					t.Errorf("HTTP/%d, new connections %t: %s %s, %v", major, once, resp.Proto, resp.Status, err)
				}
				answered[i%4].Add(1)
			}
		})
	}
	slowest := time.Duration(0)
	for i := range restarts {
		for answered[0].Load() < int64(i*requests/restarts/4) { // spreads the requests
			time.Sleep(time.Millisecond)
		}
		slowest = max(slowest, s.stop())
		s.start("--no-access-log")
	}
	restarted.Store(true)
	wg.Wait()
	s.stop()
	t.Logf("%d, %d, %d and %d requests were answered during %d restarts; the slowest stop took %v",
		answered[0].Load(), answered[1].Load(), answered[2].Load(), answered[3].Load(), restarts, slowest)
}

// secureRestartClient returns a client of one version of HTTP, which follows no redirects.
func secureRestartClient(roots *x509.CertPool, major int, once bool) *http.Client {
	tr := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "names.example.org"},
		Protocols:       new(http.Protocols), DisableKeepAlives: once,
	}
	tr.Protocols.SetHTTP1(major == 1)
	tr.Protocols.SetHTTP2(major == 2)
	return &http.Client{Transport: tr, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestRestartUnderSecureLoad(t *testing.T) { testSecureRestarts(t, 3, 400) }
