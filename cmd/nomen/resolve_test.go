package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
)

// An error of standard input is reported, even after names that could not be resolved.
func TestResolveReadingFails(t *testing.T) {
	var out, log bytes.Buffer
	in := io.MultiReader(strings.NewReader("urn:ietf:rfc:1\n"), iotest.ErrReader(errors.New("the wire is cut")))
	status := run(t.Context(), []string{"resolve", "--via", "127.0.0.1:1", "--retries", "0", "-"}, streams{in: in, out: &out, err: &log})
	if status != exitFailure || !strings.Contains(log.String(), "standard input: the wire is cut") || !strings.Contains(log.String(), "127.0.0.1:1") {
		t.Errorf("status %d:\n%s", status, &log)
	}
}

// The token of an administrator is sent only to the server of this administrator.
func TestExplainTellsNobodyElse(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	e := explainer{&adminapi.Client{URL: server.URL, Token: "id.secret"}}
	_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:ietf:rfc:1"), Service: nomen.I2C})
	if err == nil || asked != 0 {
		t.Errorf("another server was asked %d times: %v", asked, err)
	}
}

// A cache that cannot be written is reported once and does not prevent answers.
func TestResolveCannotKeep(t *testing.T) {
	dir := t.TempDir() + "/cache"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		os.RemoveAll(dir)
		w.Header().Set("Last-Modified", "Wed, 14 Jul 1993 12:00:00 GMT")
		w.Header().Set("Content-Type", "text/urc-0")
		io.WriteString(w, "=====\r\nhttps://example.org/x\r\n")
	}))
	defer server.Close()
	var out, log bytes.Buffer
	in := strings.NewReader("urn:ietf:rfc:1\nurn:ietf:rfc:2\nurn:ietf:rfc:3\n")
	status := run(t.Context(), []string{"resolve", "--jobs", "1", "--cache", dir, "--via", server.URL, "-"}, streams{in: in, out: &out, err: &log})
	if got := strings.Count(out.String(), "https://example.org/x"); status != exitYes || got != 3 {
		t.Errorf("status %d, %d answers", status, got)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "3 answers could not be cached: cache: ") {
		t.Errorf("told %q", got)
	}
}
