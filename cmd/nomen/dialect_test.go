package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serveDialect starts a server that speaks a dialect for a prefix, and registers this prefix.
func serveDialect(t *testing.T, dialect, prefix string, args ...string) (p *process, f *fixture) {
	t.Helper()
	f = newFixture(t)
	site := fmt.Sprintf("[[listen]]\naddress = \"127.0.0.1:0\"\ndialects = [%[1]q]\n\n[[dialect]]\nname = %[1]q\nauthorities = [%[2]q]\n", dialect, prefix)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"serve", "--data", filepath.Join(f.dir, "data"), "--admin", "127.0.0.1:0", "--config", f.write(t, "site.toml", site)}, args...)
	p, err = startCommand(exe, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	f.nomen(t, "authority", "put", prefix, "--owner", "archive", "--owner", "library")
	return p, f
}

// A server with the dialect conforms to the API of Handle servers.
func TestConformHandle(t *testing.T) {
	p, f := serveDialect(t, "handle", "hdl:20.500.9999")
	f.nomen(t, "put", "hdl:20.500.9999/a", "https://example.org/1")
	if not := conforms(t, "--profile", "handle", "--authority", "hdl:20.500.9999", "--name", "hdl:20.500.9999/a", p.public); len(not) > 0 {
		t.Errorf("not applicable: %q", not)
	}
}

// A server with the dialect conforms to the API of EZID.
func TestConformEZID(t *testing.T) {
	p, f := serveDialect(t, "ezid", "ark:99999")
	token, err := os.ReadFile(filepath.Join(f.dir, "data", "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPut, "http://"+p.public+"/id/ark:/99999/fk4x", strings.NewReader("_target: https://example.org/1\nerc.who: Proust, Marcel"))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("apitest", strings.TrimSpace(string(token)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(res.Body); err != nil || res.StatusCode != http.StatusCreated || body.String() != "success: ark:/99999/fk4x" {
		t.Fatalf("got %d with %q, %v", res.StatusCode, &body, err)
	}
	if not := conforms(t, "--profile", "ezid", "--authority", "ark:99999", "--name", "ark:99999/fk4x", p.public); len(not) > 0 {
		t.Errorf("not applicable: %q", not)
	}
}

// A server with the dialect conforms to the specification of ARKs, also behind nginx, which passes on
// a question mark without a query.
func TestConformARK(t *testing.T) {
	p, f := serveDialect(t, "ark", "ark:99999", "--trusted-proxy", "127.0.0.0/8")
	f.nomen(t, "authority", "put", "ark:99999", "--owner", "archive", "--owner", "library", "--commitment", "Permanent: Stable Content")
	f.nomen(t, "put", "ark:99999/x5", "https://example.org/1", "--title", "Remembrance", "--meta", "creator=Proust, Marcel")
	proxy := f.nginx(t, func(address string) string {
		return fmt.Sprintf(`%s; location / { proxy_pass http://%s; proxy_set_header Host $http_host; }`, address, p.public)
	})
	for _, address := range []string{p.public, proxy} {
		if not := conforms(t, "--profile", "ark", "--authority", "ark:99999", "--name", "ark:99999/x5", address); len(not) > 0 {
			t.Errorf("not applicable at %s: %q", address, not)
		}
	}
}
