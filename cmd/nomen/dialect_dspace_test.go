package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One server asks another as if it were a DSpace repository, and answers at all its doors.
func TestDSpaceBothWays(t *testing.T) {
	repository, source := serveDialect(t, "handle", "hdl:20.500.9999")
	source.nomen(t, "put", "hdl:20.500.9999/1", "https://repository.example/1")
	source.nomen(t, "put", "hdl:20.500.9999/held", "https://repository.example/2", "--status", "reserved")
	p, f := serveDialect(t, "handle", "hdl:20.500.9999")
	f.nomen(t, "authority", "put", "hdl:20.500.9999", "--delegate", "ask", "--delegate-to", "dspace:http://"+repository.public)
	f.nomen(t, "put", "hdl:20.500.9999/own", "https://example.org/own")
	get := func(path string, status int, want string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+p.public+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if all := res.Header.Get("Location") + " " + string(body); res.StatusCode != status || !strings.Contains(all, want) {
			t.Errorf("GET %s: got %d %s, want %d with %q", path, res.StatusCode, all, status, want)
		}
	}
	get("/20.500.9999/1", 302, "https://repository.example/1")
	get("/20.500.9999/own", 302, "https://example.org/own")
	get("/hdl:20.500.9999/1", 303, "https://repository.example/1")
	get("/hdl:20.500.9999/1?s=I2Ls", 200, "https://repository.example/1")
	get("/api/handles/20.500.9999/1", 200, `"values":[{"index":1,"type":"URL","data":{"format":"string","value":"https://repository.example/1"}`)
	get("/resolve/20.500.9999/1", 200, `["https://repository.example/1"]`)
	get("/api/handles/20.500.9999/held", 404, `{"responseCode":100,`)
	get("/hdl:20.500.9999/none", 404, "")
	for _, via := range []string{p.public, "http://" + p.public + "/", "dspace:http://" + p.public} {
		var out bytes.Buffer
		if status := run(t.Context(), []string{"resolve", "--via", via, "--data", filepath.Join(f.dir, "none"), "hdl:20.500.9999/1"}, streams{nil, &out, os.Stderr}); status != 0 || !strings.Contains(out.String(), "https://repository.example/1") {
			t.Errorf("resolve --via %s: got %d with %q", via, status, &out)
		}
	}
	if err := repository.stop(); err != nil {
		t.Fatal(err)
	}
	get("/hdl:20.500.9999/1", 502, "")
	get("/api/handles/20.500.9999/1", 503, `{"responseCode":3,"message":"the resolver of the handle does not answer"`)
	get("/resolve/20.500.9999/1", 503, "the resolver of the handle does not answer")
	get("/20.500.9999/1", 503, "the resolver of the handle does not answer")
	get("/20.500.9999/own", 302, "https://example.org/own")
}
