package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// examined runs doctor and returns the lines that are not ok, as "STATE CHECK: TEXT; NEXT", and
// the exit status.
func examined(t *testing.T, args ...string) (lines []string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), append([]string{"doctor", "--json"}, args...), streams{out: &out, err: &errs})
	in := bufio.NewScanner(&out)
	seen := map[string]bool{}
	for in.Scan() {
		var f diagnosis
		if err := json.Unmarshal(in.Bytes(), &f); err != nil {
			t.Fatalf("%s: %v", in.Text(), err)
		}
		seen[f.Check] = true
		depends := f.Check == "clock" || f.Check == "space" || strings.HasPrefix(f.Text, "no background verification") // on the machine and its speed
		if f.State != stateOK && !depends {
			lines = append(lines, fmt.Sprintf("%s %s: %s; %s", f.State, f.Check, f.Text, f.Next))
		}
	}
	for _, check := range []string{"configuration", "server", "clock", "open files", "memory", "space", "permissions", "admin listener", "store", "verification", "backups", "public URL"} {
		if !seen[check] {
			t.Errorf("no line about %s: %s%s", check, out.String(), errs.String())
		}
	}
	return lines, status
}

// expect checks that each of the expected texts is in a line, and that there are no other lines.
func expect(t *testing.T, lines []string, want ...string) {
	t.Helper()
	ok := len(lines) == len(want)
	for _, text := range want {
		found := false
		for _, line := range lines {
			found = found || strings.Contains(line, text)
		}
		ok = ok && found
	}
	if !ok {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// A front is a listener in front of a server that is started later.
type front struct {
	url    string
	target chan string
}

// newFront starts a front that handles each connection with pass.
func newFront(t *testing.T, pass func(client, server net.Conn)) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	f := &front{"http://" + l.Addr().String(), make(chan string, 1)}
	go func() {
		target := <-f.target
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer server.Close()
				pass(client, server)
			}()
		}
	}()
	return f
}

// copying passes everything on.
func copying(client, server net.Conn) {
	go func() { _, _ = io.Copy(server, client) }()
	_, _ = io.Copy(client, server)
}

// cleaning does what a badly configured proxy does: it decodes and cleans the path, drops the
// query and speaks HTTP/1.0.
func cleaning(client, server net.Conn) {
	req, err := http.ReadRequest(bufio.NewReader(client))
	if err != nil {
		return
	}
	clean := (&url.URL{Path: path.Clean(req.URL.Path)}).EscapedPath()
	fmt.Fprintf(server, "GET %s HTTP/1.0\r\nHost: %s\r\nAccept: %s\r\n\r\n", clean, req.Host, req.Header.Get("Accept"))
	_, _ = io.Copy(client, server)
}

func TestDoctorOfServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	lines, status := examined(t, "--data", data)
	expect(t, lines, "warning backups: no backups are scheduled")
	if status != exitYes {
		t.Errorf("status %d", status)
	}

	// The server is asked at its public URL.
	lines, status = examined(t, "--data", data, "--public-url", "http://"+p.public, "--admin", "0.0.0.0:4501", "--backup.to", "/backup")
	expect(t, lines, "warning backups: no backup was made yet", "warning configuration: serve: --admin: 0.0.0.0:4501", "problem admin listener: other machines can reach 0.0.0.0:4501 without TLS")
	if status != exitNo {
		t.Errorf("status %d", status)
	}
	if err := os.Chmod(filepath.Join(data, tokenFile), 0o644); err != nil {
		t.Fatal(err)
	}
	lines, _ = examined(t, "--data", data, "--public-url", "http://127.0.0.1:1")
	expect(t, lines, "problem permissions: other users can read the administrator's token", "problem public URL: http://127.0.0.1:1 cannot be reached: ", "warning backups")
}

func TestDoctorOfFront(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pass func(client, server net.Conn)
		want []string
	}{
		"copying": {copying, nil},
		"cleaning": {cleaning, []string{
			"problem proxy: a proxy changes queries: sent /-/readyz?doctor=https://a//b%2Fc%3F, arrived /-/readyz;",
			"problem proxy: a proxy speaks HTTP/1.0 to the server",
			"problem proxy: names with %2F are changed: urn:-doctor:a%2Fb arrives as urn:-doctor:a/b",
			"problem proxy: names with // are changed: urn:-doctor:a//b arrives as urn:-doctor:a/b",
			"problem proxy: names with https:// are changed: https://[-doctor]//a arrives as",
			"problem proxy: names with ./ and ../ are changed: urn:-doctor:a/./b/../c arrives as urn:-doctor:a/c",
			"problem proxy: redirects are changed",
		}},
		"other": {func(client, _ net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(client))
			_, _ = io.WriteString(client, "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Welcome to nginx!</h1>")
		}, []string{"problem public URL: no nomen server answers at http://"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, c.pass)
			data := t.TempDir()
			p := start(t, data, "--public-url", f.url)
			f.target <- p.public
			lines, _ := examined(t, "--data", data, "--public-url", f.url)
			expect(t, lines, append(c.want, "warning backups")...)
		})
	}
}

// Another server at the public URL is not this one.
func TestDoctorOfOther(t *testing.T) {
	t.Parallel()
	data, other := t.TempDir(), t.TempDir()
	start(t, data)
	p := start(t, other)
	lines, _ := examined(t, "--data", data, "--public-url", "http://"+p.public)
	expect(t, lines, "warning public URL: another nomen server answers at http://", "warning backups")
}

// Without a server, doctor reads what the last one left.
func TestDoctorWithoutServer(t *testing.T) {
	data := t.TempDir()
	if status := run(t.Context(), []string{"put", "--data", data, "urn:example:a", "https://example.org/a"}, streams{out: io.Discard, err: io.Discard}); status != exitYes {
		t.Fatal(status)
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(data, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	zeros := strings.Repeat("0", 64)
	write("scrub.json", `{"version":1,"head":"5:`+zeros+`","last":{"ended":"2026-01-01T00:00:00Z","size":5,"faults":2}}`)
	write("backups.json", `{"version":1,"plan":"every 24h to /backup","to":"/backup","problem":"disk full","failures":3,"backups":[]}`)
	write("nomen.toml", "listn = 1\n")
	t.Setenv("NOMEN_LISTN", "4500")
	lines, status := examined(t, "--data", data, "--config", filepath.Join(data, "nomen.toml"))
	expect(t, lines,
		`problem configuration: `+filepath.Join(data, "nomen.toml")+`:1:1: unknown key "listn"`,
		"warning configuration: environment: NOMEN_LISTN is not the variable of an option",
		"warning server: no server runs on",
		"problem store: the history does not continue that of the background verification: changes are missing: the log has 1 changes, the head 5",
		"problem verification: 2 faults found in the store",
		"problem backups: the last attempt failed: disk full")
	if status != exitNo {
		t.Errorf("status %d", status)
	}
	write("scrub.json", `{"version":1,"head":"1:`+zeros+`","last":{"ended":"2026-01-01T00:00:00Z"}}`)
	lines, _ = examined(t, "--data", data)
	expect(t, lines, "the log does not begin with the log of the head 1:", "warning server", "warning verification: the last background verification ended", "warning configuration", "problem backups")
	write("backups.json", `{"version":1,"problem":"disk full","failures":3,"backups":[]}`) // not scheduled any more
	lines, _ = examined(t, "--data", data)
	expect(t, lines, "the log does not begin", "warning server", "warning verification", "warning configuration", "warning backups: no backups are scheduled any more; no backup was made")
	write("backups.json", `{"version":1,"plan":"every 24h to /backup","to":"/backup","problem":"disk full","failures":3,"backups":[]}`)
	write("admin.url", "http://127.0.0.1:1\n")
	write("admin.token", "a.b\n")
	lines, _ = examined(t, "--data", data)
	expect(t, lines, "problem server: the server of "+data+" does not answer", "the log does not begin", "warning verification", "warning configuration", "problem backups")
}

func TestDoctorOfCertificate(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, c := range []struct {
		what           string
		begins, ends   time.Duration
		hosts          []string
		states, wanted string
	}{
		{"new", -day, 89 * day, nil, "ok", "valid for 89 days"},
		{"should have been renewed", -80 * day, 10 * day, nil, "warning", "expires in 10 days"},
		{"a short one", -3 * day, 3 * day, nil, "ok", "valid for 3 days"},
		{"expired", -90 * day, -time.Hour, nil, "problem", "expired at"},
		{"another host", -day, 89 * day, []string{"names.example.org", "other.example.org"}, "ok warning", "the certificate lacks other.example.org, the host of an authority"},
	} {
		d := &doctor{cli: &cli{}}
		d.certificate("certificate", testCertificate(t, clock().Add(c.begins), clock().Add(c.ends)).Leaf, c.hosts)
		var states, texts []string
		for _, f := range d.all {
			states, texts = append(states, f.State), append(texts, f.Text)
		}
		if got := strings.Join(states, " "); got != c.states || !strings.Contains(strings.Join(texts, " "), c.wanted) {
			t.Errorf("%s: %s %q", c.what, got, texts)
		}
	}
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	lines, _ := examined(t, "--data", t.TempDir(), "--public-url", s.URL)
	expect(t, lines, "warning server", "problem store", "warning backups", "problem certificate: clients do not accept it", "problem public URL: no nomen server answers")
}

// testCertificate returns a certificate for names.example.org that it signs itself.
func testCertificate(t *testing.T, begins, ends time.Time) tls.Certificate {
	t.Helper()
	return sign(t, &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begins, NotAfter: ends, DNSNames: []string{"names.example.org"}}, nil)
}

// A support bundle says what is wrong, but has no names, addresses and secrets.
func TestSupportBundle(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	if status := run(t.Context(), []string{"put", "--data", data, "urn:example:hidden-name", "https://hidden.example/a"}, streams{out: io.Discard, err: io.Discard}); status != exitYes {
		t.Fatal(status)
	}
	file := filepath.Join(t.TempDir(), "support.tar.gz")
	args := []string{
		"--data", data, "--bundle", file, "--public-url", "http://" + p.public, "--admin", "192.0.2.77:4501", "--host", "hidden.example",
		"--rate", "23", "--backup.to", "/hidden-dir", "--backup.hook", "hidden-program", "--tls-cert", "/hidden-cert",
	}
	examined(t, args...)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	uncompressed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for in := tar.NewReader(uncompressed); ; {
		head, err := in.Next()
		if err == io.EOF {
			break
		}
		text, err2 := io.ReadAll(in)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		all += "== " + head.Name + "\n" + string(text)
	}
	for _, want := range []string{"problem\tadmin listener\tother machines can reach … without TLS", "ok\tstore\t", "rate = 23\n", "host = …\n", "process_open_fds ", `"go": "go`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	token, err := os.ReadFile(filepath.Join(data, tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hidden", "192.0.2", "127.0.0.1", data, strings.TrimSpace(string(token))} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in\n%s", secret, all)
		}
	}
	if status := run(t.Context(), append([]string{"doctor"}, args...), streams{out: io.Discard, err: io.Discard}); status != exitFailure {
		t.Errorf("a bundle over another: status %d", status)
	}
}

// The limit of open files is that of the server if one runs.
func TestDoctorOfOpenFiles(t *testing.T) {
	for _, c := range []struct {
		metrics map[string]float64
		want    string
	}{
		{map[string]float64{"process_max_fds": 1024, "process_open_fds": 10}, "warning the limit of the server is 1024"},
		{map[string]float64{"process_max_fds": 65536, "process_open_fds": 10}, "ok the limit of the server is 65536"},
		{map[string]float64{"process_max_fds": 65536, "process_open_fds": 65000}, "problem 65000 of 65536 are in use"},
		{map[string]float64{"process_max_fds": math.MaxUint64, "process_open_fds": 10}, "ok no limit of the server is known"},
	} {
		d := &doctor{cli: &cli{}, metrics: c.metrics}
		d.checkDescriptors(t.Context())
		if got := d.all[0].State + " " + d.all[0].Text; len(d.all) != 1 || got != c.want {
			t.Errorf("%v: got %q, want %q", c.metrics, got, c.want)
		}
	}
}
