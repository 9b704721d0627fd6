package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/server/certificates/acmetest"
)

const securedHost = "names.example.org"

// A securedServer is a running server with a plain listener and one with certificates by ACME.
type securedServer struct {
	*process
	plain, secure string // HOST:PORT
	roots         *x509.CertPool
}

// startSecured starts the program with a configuration file, and waits for a text in its log.
func startSecured(t *testing.T, dir, until string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "serve", "--config", filepath.Join(dir, "nomen.toml"), "--data", filepath.Join(dir, "data"), "--demo")
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, ended: make(chan error, 1)}
	go p.watch(out, make(chan struct{}))
	t.Cleanup(func() { _ = p.kill() })
	for end := time.Now().Add(startTimeout); !strings.Contains(p.output(), until); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %q in the log:\n%s", until, p.output())
		}
	}
	return p
}

// client returns a client for which the host leads to the TLS listener.
func (s *securedServer) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: s.roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, s.secure)
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get checks the response to a request, and returns the certificate of the server.
func (s *securedServer) get(t *testing.T, url string, status int) *x509.Certificate {
	t.Helper()
	resp, err := s.client().Get(url)
	if err != nil {
		t.Fatalf("%s: %v\n%s", url, err, s.output())
	}
	resp.Body.Close()
	if resp.StatusCode != status || resp.ProtoMajor != 2 {
		t.Errorf("%s: %s %s, want HTTP/2 and %d", url, resp.Proto, resp.Status, status)
	}
	return resp.TLS.PeerCertificates[0]
}

// TestCertificateOrdered orders a certificate from a test authority through the real program:
// names are then answered over HTTPS in every protocol, as they are without TLS. The
// certificate survives a restart, and its key is in no output, export or backup.
func TestCertificateOrdered(t *testing.T) {
	s := &securedServer{plain: freePort(t), secure: freePort(t), roots: x509.NewCertPool()}
	plain, secure := netip.MustParseAddrPort(s.plain).Port(), netip.MustParseAddrPort(s.secure).Port()
	authority, err := acmetest.Start(acmetest.Options{Hosts: []string{securedHost}, HTTPPort: int(plain), TLSPort: int(secure)})
	if err != nil {
		t.Fatal(err)
	}
	defer authority.Close()
	dir := t.TempDir()
	config := fmt.Sprintf(`public-url = "https://%s"
admin = "127.0.0.1:0"
acme-accept-terms = true
acme-email = "names@example.org"
acme-directory = "%s"
acme-root = "%s"
acme-unchecked = true # port 80 of the host is not this server

[[listen]]
address = "%s"

[[listen]]
address = "%s"
tls = "acme"
`, securedHost, authority.URL, filepath.Join(dir, "roots.pem"), s.plain, s.secure)
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("nomen.toml", []byte(config))
	write("roots.pem", authority.Roots)
	s.roots.AppendCertsFromPEM(authority.Chain)
	s.process = startSecured(t, dir, "a certificate was issued")

	const rfc = "/urn:ietf:rfc:2648"
	first := s.get(t, "https://"+securedHost+rfc, http.StatusSeeOther)
	s.checkDoors(t, rfc)
	if _, err := tls.Dial("tcp", s.secure, &tls.Config{ServerName: "other.example.org", InsecureSkipVerify: true}); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("another host: %v, want the alert unrecognized name", err)
	}
	data := filepath.Join(dir, "data")
	log := s.output()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	s.process = startSecured(t, dir, s.secure)
	var again *x509.Certificate
	for end := time.Now().Add(startTimeout); again == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c, err := tls.Dial("tcp", s.secure, &tls.Config{ServerName: securedHost, RootCAs: s.roots}); err == nil {
			again = c.ConnectionState().PeerCertificates[0]
			_ = c.Close()
		}
	}
	if again == nil || !again.Equal(first) || authority.Orders() != 1 {
		t.Errorf("after a restart: %d orders, the same certificate: %v\n%s", authority.Orders(), again != nil && again.Equal(first), s.output())
	}
	for _, args := range [][]string{{"backup", filepath.Join(dir, "backup")}, {"export", "--output", filepath.Join(dir, "export.jsonl")}} {
		cmd := exec.Command(os.Args[0], append(args, "--data", data)...)
		cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	log += s.output()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log, "PRIVATE") {
		t.Errorf("the log has a private key:\n%s", log)
	}
	if got, want := filesWith(t, dir, "PRIVATE KEY"), 2; len(got) != want || !strings.HasPrefix(got[0], filepath.Join("data", "store", "secrets")) {
		t.Errorf("files with a private key: %q, want %d in the store", got, want)
	}
}

// checkDoors checks the listeners: plain requests are answered, not redirected to https; TLS
// carries every protocol; and paths of challenges that are not in progress are as before.
func (s *securedServer) checkDoors(t *testing.T, path string) {
	t.Helper()
	for _, tt := range []struct {
		secure   bool
		in, want string
	}{
		{false, "GET " + path + " HTTP/1.1\r\nHost: " + securedHost + "\r\nConnection: close\r\n\r\n", "HTTP/1.1 303 "},
		{false, "GET urn:ietf:rfc:2648\r\n", "====="},
		{true, "GET urn:ietf:rfc:2648\r\n", "====="},
		{false, "GET /.well-known/acme-challenge/none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 "},
		{true, "GET /.well-known/acme-challenge/none HTTP/1.1\r\nHost: " + securedHost + "\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 "},
	} {
		var c net.Conn
		var err error
		if tt.secure {
			c, err = tls.Dial("tcp", s.secure, &tls.Config{ServerName: securedHost, RootCAs: s.roots})
		} else {
			c, err = net.Dial("tcp", s.plain)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, tt.in)
		_ = c.SetReadDeadline(time.Now().Add(startTimeout))
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, tt.want) {
			t.Errorf("%q, with TLS %v: %q, %v, want %q", tt.in, tt.secure, line, err, tt.want)
		}
		_ = c.Close()
	}
}

// filesWith returns the files below a directory that contain a text.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			rel, _ := filepath.Rel(dir, path)
			found = append(found, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
