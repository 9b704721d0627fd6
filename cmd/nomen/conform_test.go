package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/conform"
)

// The authority in the tests of conformance has the names that the cases need: names with several
// locations in several languages, one retired name, and one retired name with a successor.
const conformSite = `
[[authority]]
prefix = "urn:dns:names.example"
owners = ["a", "b"]
contact = "mailto:names@names.example"
parents = ["urn:dns:example"]
children = ["urn:dns:sub.names.example"]
list = true
default = true
`

var conformNames = strings.Join([]string{
	`{"name":"urn:dns:names.example:alb002","locations":[{"url":"https://www.names.example/2","type":"text/html","lang":"en"},{"url":"https://www.names.example/2.fr","type":"text/html","lang":"fr"},{"url":"ftp://ftp.names.example/2.au","type":"audio/basic","priority":2,"note":"===== sound =====\nGröße: 中 <b>"}],"metadata":{"title":["Second album & more"],"creator":["https://orcid.org/0000-0002-1825-0097"],"rights":["https://spdx.org/licenses/CC-BY-4.0"],"type":["https://schema.org/MusicAlbum"],"date":["2020-02-03"]},"same_as":["urn:example:second"]}`,
	`{"name":"urn:dns:names.example:alb003","locations":[{"url":"https://www.names.example/3?a=1&b=2"}],"same_as":["urn:example:third"]}`,
	`{"name":"urn:dns:names.example:old7","locations":[{"url":"https://www.names.example/7"}]}`,
	`{"name":"urn:dns:names.example:old1","locations":[{"url":"https://www.names.example/1"}]}`,
}, "\n") + "\n"

// A fixture is a directory, and a server of the authority.
type fixture struct {
	dir, cert, key string
	server         *process
}

// nomen runs a command in this process, which must succeed.
func (f *fixture) nomen(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"--data", filepath.Join(f.dir, "data")}, args...), streams{strings.NewReader(""), &out, &errs}); status != exitYes {
		t.Fatalf("nomen %q: status %d\n%s%s", args, status, out.String(), errs.String())
	}
}

// newFixture makes a directory with a certificate for 127.0.0.1.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir()}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		return f.write(t, name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	f.cert, f.key = write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", private)
	return f
}

func (f *fixture) write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(f.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// serve starts the server with its names.
func (f *fixture) serve(t *testing.T, args ...string) {
	t.Helper()
	site := f.write(t, "site.toml", conformSite)
	names := f.write(t, "names.jsonl", conformNames)
	f.server = start(t, filepath.Join(f.dir, "data"), append([]string{"--config", site}, args...)...)
	f.nomen(t, "import", names)
	f.nomen(t, "retire", "urn:dns:names.example:old7", "--reason", "withdrawn")
	f.nomen(t, "retire", "urn:dns:names.example:old1", "--reason", "a new number", "--successor", "urn:dns:names.example:alb002")
}

// gateway starts another server, which asks the first one at a target, and returns
// its address.
func (f *fixture) gateway(t *testing.T, target string) string {
	t.Helper()
	table := f.write(t, "table", "urn:dns:names.example "+target+"\n")
	return start(t, filepath.Join(f.dir, "other"), "--ask-others", "own", "--own-users", "127.0.0.0/8", "--allow-private", "--table", table).public
}

// nginx starts Debian's nginx with a server block for a free address, and returns the
// address when it listens.
func (f *fixture) nginx(t *testing.T, block func(address string) string) string {
	t.Helper()
	said := ""
	for range 5 { // another process may take the port first
		address := freePort(t)
		if said = f.nginxAt(t, address, block(address)); said == "" {
			return address
		}
	}
	t.Fatalf("nginx does not listen: %s", said)
	return ""
}

// nginxAt starts nginx, and returns what it said if it does not listen.
func (f *fixture) nginxAt(t *testing.T, address, block string) string {
	t.Helper()
	dir := filepath.Join(f.dir, "nginx")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path %[1]s/1; proxy_temp_path %[1]s/2; fastcgi_temp_path %[1]s/3; uwsgi_temp_path %[1]s/4; scgi_temp_path %[1]s/5;
  server { listen %[2]s }
}
`, dir, block)
	cmd := exec.Command("nginx", "-e", "stderr", "-c", f.write(t, "nginx.conf", config))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatalf("nginx: %v (scripts/prepare.sh installs it)", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for last := time.Now().Add(startTimeout); time.Now().Before(last); <-time.After(20 * time.Millisecond) {
		if len(ended) > 0 {
			return fmt.Sprint(<-ended, errs.String())
		}
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				<-ended
			})
			return ""
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	return "it takes too long: " + errs.String()
}

// freePort returns an address on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// conformFlags are the options that describe the authority to the suite.
var conformFlags = []string{
	"--timeout", "1m",
	"--authority", "urn:dns:names.example", "--name", "urn:dns:names.example:alb002", "--name", "alb003",
	"--retired", "old7", "--moved", "old1", "--landing", "/urn:dns:names.example:alb002?s=I2C",
}

// conforms runs the suite, checks that no case fails, and returns the cases that are not
// applicable.
func conforms(t *testing.T, args ...string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(t.Context(), append([]string{"conform", "--json", "--timeout", "10s"}, args...), streams{strings.NewReader(""), &out, &errs})
	if status != exitYes {
		t.Errorf("status %d: %s", status, errs.String())
	}
	var not []string
	total := 0
	for line := range strings.Lines(out.String()) {
		var r struct {
			ID, Detail string
			Verdict    conform.Verdict
			Exchanges  []map[string]any
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		isDialect := strings.HasPrefix(r.ID, "EZID-") || strings.HasPrefix(r.ID, "HDL-") || strings.HasPrefix(r.ID, "ARK-")
		if isDialect && r.Verdict == conform.NotApplicable && !slices.Contains(args, "--profile") {
			continue // the listener does not speak the dialect
		}
		switch r.Verdict {
		case conform.Fail:
			t.Errorf("%s: %s\n%s", r.ID, r.Detail, r.Exchanges)
		case conform.NotApplicable:
			t.Logf("%s: %s", r.ID, r.Detail)
			not = append(not, r.ID)
		}
		total++
	}
	if total < 80 && !slices.Contains(args, "--profile") || total < 10 {
		t.Errorf("only %d cases", total)
	}
	return not
}

// TestConform runs all cases against the server itself, with TLS, behind nginx, and through a
// gateway. In each of these, exactly the expected cases are not applicable.
func TestConform(t *testing.T) {
	// These are never applicable: the server does not fetch resources, and each name is its own
	// TimeGate.
	always := "RFC2169-3.4/N2Rs RFC7089-4.5.3/none"
	// nginx passes paths only.
	behind := "Y95-30/bare Y95-38/urn Y95-02/case Y95-08/query Y95-64/follow Y95-63/reserved " + always + " RFC7089-4.2.1/prefix "
	// For names of others, a gateway has no requests by ElementID, no lists and no earlier answers.
	gateway := "Y95-30/bare Y95-37/host Y95-43/urn Y95-42/where Y95-57/lines Y95-57/known RFC2169-3.4/N2Rs RFC2169-3.7/L2Ns RFC2169-3.8/L2Ls RFC2169-3.9/L2C "
	var memento string
	for _, c := range conform.Cases() {
		if c.Profile == conform.Memento {
			memento += c.ID + " "
		}
	}
	for _, tt := range []struct {
		name  string
		start func(t *testing.T, f *fixture) []string // returns the arguments of conform
		not   string
	}{
		{"demo", func(t *testing.T, f *fixture) []string {
			return []string{start(t, filepath.Join(f.dir, "data"), "--demo").public}
		}, "Y95-13/escapes Y95-43/urn Y95-42/where Y95-64/follow Y95-25/tombstone Y95-78/scripts RFC2483-4/past RFC9110-15.5.11/410 RFC9110-15.4.2/301 RFC7089-4.2.1/prefix RFC9264-4.1/syntax RFC9264-4.1/anchor RFC9264-4/same FAIR-1/type " + always},
		{"serve", func(t *testing.T, f *fixture) []string {
			f.serve(t)
			return append(conformFlags, "--timegate", "http://"+f.server.public+"/-/timegate/", f.server.public)
		}, "Y95-64/follow " + always},
		{"TLS", func(t *testing.T, f *fixture) []string {
			f.serve(t, "--tls-cert", f.cert, "--tls-key", f.key)
			return append(conformFlags, "--ca", f.cert, "https://"+f.server.public)
		}, "Y95-64/follow RFC7089-4.2.1/prefix " + always},
		{"nginx", func(t *testing.T, f *fixture) []string {
			f.serve(t, "--trusted-proxy", "127.0.0.0/8")
			address := f.nginx(t, func(address string) string {
				return fmt.Sprintf(`%s; location / { proxy_pass http://%s; proxy_set_header Host $http_host; }`, address, f.server.public)
			})
			return append(conformFlags, "http://"+address)
		}, behind + "RFC2169-3.1/303"},
		{"nginx, TLS", func(t *testing.T, f *fixture) []string {
			f.serve(t, "--trusted-proxy", "127.0.0.0/8")
			address := f.nginx(t, func(address string) string {
				return fmt.Sprintf(`%s ssl; ssl_certificate %s; ssl_certificate_key %s;
    location / { proxy_pass http://%s; proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto https; proxy_set_header X-Forwarded-For $remote_addr; }`,
					address, f.cert, f.key, f.server.public)
			})
			return append(conformFlags, "--ca", f.cert, "https://"+address)
		}, behind + "RFC2169-3.1/302"},
		{"gateway to paths", func(t *testing.T, f *fixture) []string {
			f.serve(t)
			return append(conformFlags, f.gateway(t, "http://"+f.server.public+"/"))
		}, gateway + memento + "RFC9110-15.4.2/301"},
		{"gateway to 1995", func(t *testing.T, f *fixture) []string {
			f.serve(t)
			return append(conformFlags, "--profile", "1995,thttp,rfc2483", f.gateway(t, f.server.public))
		}, gateway + "RFC2483-4.9/false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := tt.start(t, newFixture(t))
			got, want := conforms(t, args...), strings.Fields(tt.not)
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("not applicable: %q, want %q", got, want)
			}
		})
	}
}
