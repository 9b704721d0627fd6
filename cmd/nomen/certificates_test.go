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
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

const (
	securedHost = "names.example.org"
	movedHost   = "urn.example.net"
)

// A securedServer is a running server with a plain listener and one with certificates by ACME.
type securedServer struct {
	*process
	plain, secure string // HOST:PORT
	roots         *x509.CertPool
}

// newSecured returns a server that has not started, with its configuration in a directory.
func newSecured(t *testing.T, dir string, a *acmetest.Authority, plain, secure string) *securedServer {
	t.Helper()
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
`, securedHost, a.URL, filepath.Join(dir, "roots.pem"), plain, secure)
	for name, text := range map[string]string{"nomen.toml": config, "roots.pem": string(a.Roots)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &securedServer{plain: plain, secure: secure, roots: x509.NewCertPool()}
	s.roots.AppendCertsFromPEM(a.Chain)
	return s
}

// portOf returns the port of HOST:PORT.
func portOf(t *testing.T, address string) int {
	t.Helper()
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return int(at.Port())
}

// certificate waits until a handshake succeeds, and returns the certificate.
func (s *securedServer) certificate(t *testing.T, host string) *x509.Certificate {
	t.Helper()
	for end := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		c, err := tls.Dial("tcp", s.secure, &tls.Config{ServerName: host, RootCAs: s.roots})
		if err == nil {
			_ = c.Close()
			return c.ConnectionState().PeerCertificates[0]
		}
		if time.Now().After(end) {
			t.Fatalf("%v\n%s", err, s.output())
		}
	}
}

// startSecured starts the program with a configuration file, and waits for a text in its log.
func startSecured(t *testing.T, dir, until string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"serve", "--config", filepath.Join(dir, "nomen.toml"), "--data", filepath.Join(dir, "data")}, args...)
	cmd := exec.Command(exe, args...)
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
	t.Parallel()
	plain, secure := freePort(t), freePort(t)
	authority, err := acmetest.Start(acmetest.Options{Hosts: []string{securedHost, movedHost}, HTTPPort: portOf(t, plain), TLSPort: portOf(t, secure)})
	if err != nil {
		t.Fatal(err)
	}
	defer authority.Close()
	dir := t.TempDir()
	s := newSecured(t, dir, authority, plain, secure)
	s.process = startSecured(t, dir, "a certificate was issued", "--demo")

	const rfc = "/urn:ietf:rfc:2648"
	first := s.get(t, "https://"+securedHost+rfc, http.StatusSeeOther)
	s.checkDoors(t, rfc)
	if _, err := tls.Dial("tcp", s.secure, &tls.Config{ServerName: "other.example.org", InsecureSkipVerify: true}); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("another host: %v, want the alert unrecognized name", err)
	}
	data := filepath.Join(dir, "data")
	s.move(t, dir, securedHost, movedHost)
	s.move(t, dir, movedHost, securedHost)
	log := s.output()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	s.process = startSecured(t, dir, s.secure)
	if again := s.certificate(t, securedHost); !again.Equal(first) || authority.Orders() != 2 {
		t.Errorf("after a restart: %d orders, the same certificate: %v\n%s", authority.Orders(), again.Equal(first), s.output())
	}
	for _, args := range [][]string{{"backup", filepath.Join(dir, "backup")}, {"export", "--output", filepath.Join(dir, "export.jsonl")}} {
		runSecured(t, append(args, "--data", data)...)
	}
	log += s.output()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log, "PRIVATE") {
		t.Errorf("the log has a private key:\n%s", log)
	}
	if got, want := filesWith(t, dir, "PRIVATE KEY"), 3; len(got) != want || !strings.HasPrefix(got[0], filepath.Join("data", "store", "secrets")) {
		t.Errorf("files with a private key: %q, want %d in the store", got, want)
	}
}

// move changes the host of the public URL and reloads: the new host has a certificate without a
// restart, and the old one has none.
func (s *securedServer) move(t *testing.T, dir, from, to string) {
	t.Helper()
	file := filepath.Join(dir, "nomen.toml")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), "https://"+from, "https://"+to, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	runSecured(t, "reload", "--data", filepath.Join(dir, "data"))
	s.certificate(t, to)
	if c, err := tls.Dial("tcp", s.secure, &tls.Config{ServerName: from, InsecureSkipVerify: true}); err == nil {
		_ = c.Close()
		t.Errorf("%s still has a certificate", from)
	}
}

// runSecured runs a command of the program.
func runSecured(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
}

// TestCertificateOfNodes starts two servers of a database at once. One server orders the
// certificate, the authority sends its requests to the other one, and both serve the certificate.
func TestCertificateOfNodes(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{})
	ports := []string{freePort(t), freePort(t), freePort(t), freePort(t)}
	asked := acmetest.Options{Hosts: []string{securedHost}, HTTPPort: portOf(t, ports[0]), TLSPort: portOf(t, ports[1])}
	authority, err := acmetest.Start(asked)
	if err != nil {
		t.Fatal(err)
	}
	defer authority.Close()
	listening := make(chan struct{}) // by both nodes
	authority.Intercept = func(http.ResponseWriter, *http.Request) bool {
		<-listening
		return false
	}
	var nodes [2]*securedServer
	for i := range nodes {
		dir := t.TempDir()
		nodes[i] = newSecured(t, dir, authority, ports[2*i], ports[2*i+1])
		nodes[i].process = startSecured(t, dir, ports[2*i+1], "--store", db.URL())
	}
	close(listening)
	if a, b := nodes[0].certificate(t, securedHost), nodes[1].certificate(t, securedHost); !a.Equal(b) {
		t.Error("the nodes have different certificates")
	}
	if n := authority.Orders(); n != 1 {
		t.Errorf("%d orders, want 1\n%s\n%s", n, nodes[0].output(), nodes[1].output())
	}
	for _, n := range nodes {
		if err := n.stop(); err != nil {
			t.Error(err)
		}
	}
}

// checkDoors checks three things. The listener without TLS answers requests and does not redirect
// them to https. The listener with TLS serves every protocol. Paths of challenges that are not in
// progress are answered like other paths.
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

// TestDoctorOfHosts checks that doctor accepts a host that has a certificate of its own.
func TestDoctorOfHosts(t *testing.T) {
	t.Parallel()
	pair := testCertificate(t, clock().Add(-time.Hour), clock().Add(time.Hour))
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if hello.ServerName == "unknown.example.org" {
			return nil, nil
		}
		return &pair, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { _ = http.Serve(l, http.NotFoundHandler()) }()
	for host, want := range map[string]bool{"names.example.org": true, "Names.Example.org:443": true, "other.example.org": false, "unknown.example.org": false} {
		if got := hasOwnCertificate(t.Context(), l.Addr().String(), host); got != want {
			t.Errorf("%s has a certificate: %v, want %v", host, got, want)
		}
	}
}
