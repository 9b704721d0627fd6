package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
)

// The server passes traceparent on to the resolvers of delegated names and of names of others, also
// when it revalidates an answer in its cache. It drops an invalid traceparent.
func TestTraceparentIsPassedOn(t *testing.T) {
	got := make(chan []string, 8)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header["Traceparent"]
		w.Header().Set("Content-Type", "text/uri-list")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Etag", `"1"`)
		fmt.Fprint(w, "https://example.org/\r\n")
	}))
	defer other.Close()
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, "--allow-private", "--ask-others", "own", "--own-users", "127.0.0.0/8", "--default-resolver", other.URL+"/{name}", "--public-table", "none", "--dns", "127.0.0.1")
	var out bytes.Buffer
	if status := run(t.Context(), []string{"authority", "put", "urn:x-far", "--data", data, "--owner", "a", "--owner", "b", "--delegate", "ask", "--delegate-to", other.URL + "/{name}"}, streams{nil, &out, &out}); status != 0 {
		t.Fatal(out.String())
	}
	for _, tt := range []struct{ path, field, want string }{
		{"/urn:x-far:1?s=I2Ls", parent, parent},
		{"/urn:x-far:2?s=I2Ls", parent + "x", ""},
		{"/urn:x-other:1?s=I2Ls", parent, parent},
		{"/urn:x-other:1?s=I2Ls", "00-00000000000000000000000000000001-00f067aa0ba902b7-01", "00-00000000000000000000000000000001-00f067aa0ba902b7-01"},
	} {
		sendWith(t, "http://"+p.public+tt.path, "Traceparent", tt.field)
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		select {
		case is := <-got:
			if !slices.Equal(is, want) {
				t.Errorf("%s: got %q, want %q", tt.path, is, want)
			}
		default:
			t.Errorf("%s: the other resolver was not asked", tt.path)
		}
	}
}
