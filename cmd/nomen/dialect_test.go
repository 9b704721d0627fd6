package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ezidSite = `
[[listen]]
address = "127.0.0.1:0"
dialects = ["ezid"]

[[dialect]]
name = "ezid"
authorities = ["ark:99999"]
`

const handleSite = `
[[listen]]
address = "127.0.0.1:0"
dialects = ["handle"]

[[dialect]]
name = "handle"
authorities = ["hdl:20.500.9999"]
`

// serveEZID starts a server that speaks the dialect of EZID, and registers the authority ark:99999.
func serveEZID(t *testing.T) (p *process, dir string) {
	t.Helper()
	p, f := serveSite(t, ezidSite)
	f.nomen(t, "authority", "put", "ark:99999", "--owner", "archive", "--owner", "library")
	return p, f.dir
}

// serveSite starts a server with a configuration file.
func serveSite(t *testing.T, site string) (p *process, f *fixture) {
	t.Helper()
	f = newFixture(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err = startCommand(exe, "serve", "--data", filepath.Join(f.dir, "data"), "--admin", "127.0.0.1:0", "--config", f.write(t, "site.toml", site))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return p, f
}

// A server with the dialect conforms to the API of Handle servers.
func TestConformHandle(t *testing.T) {
	p, f := serveSite(t, handleSite)
	f.nomen(t, "authority", "put", "hdl:20.500.9999", "--owner", "archive", "--owner", "library")
	f.nomen(t, "put", "hdl:20.500.9999/a", "https://example.org/1")
	if not := conforms(t, "--profile", "handle", "--authority", "hdl:20.500.9999", "--name", "hdl:20.500.9999/a", p.public); len(not) > 0 {
		t.Errorf("not applicable: %q", not)
	}
}

// A server with the dialect conforms to the API of EZID.
func TestConformEZID(t *testing.T) {
	p, dir := serveEZID(t)
	token, err := os.ReadFile(filepath.Join(dir, "data", "admin.token"))
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
