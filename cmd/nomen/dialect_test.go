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

// serveEZID starts a server that speaks the dialect of EZID, and registers the authority ark:99999.
func serveEZID(t *testing.T) (p *process, dir string) {
	t.Helper()
	f := newFixture(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err = startCommand(exe, "serve", "--data", filepath.Join(f.dir, "data"), "--admin", "127.0.0.1:0", "--config", f.write(t, "site.toml", ezidSite))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	f.nomen(t, "authority", "put", "ark:99999", "--owner", "archive", "--owner", "library")
	return p, f.dir
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
