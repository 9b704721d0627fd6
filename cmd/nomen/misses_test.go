package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// While a server runs on the data directory, misses asks this server, and does not read the file of
// an earlier server.
func TestMissesOfServer(t *testing.T) {
	var asked []string
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer id.secret" {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/api/v1/version":
			fmt.Fprint(w, `{"version":"1"}`)
		case "/api/v1/misses":
			asked = append(asked, r.Method+" "+r.URL.RawQuery)
			fmt.Fprint(w, `{"since":"2026-11-20T12:00:00Z","asked":7,"other":5,"misses":[{"name":"urn:x-y:a","count":2,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T13:00:00Z"}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer admin.Close()
	data := t.TempDir()
	for file, text := range map[string]string{urlFile: admin.URL + "\n", tokenFile: "id.secret\n", missesFile: "of another server"} {
		if err := os.WriteFile(filepath.Join(data, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ args, want, request string }{
		{"misses --limit 3 --prefix urn:x-y", "2  2026-11-20 13h  urn:x-y:a\n", "GET limit=3&prefix=urn%3Ax-y"},
		{"misses --clear --yes", "cleared 7 failed lookups\n", "DELETE "},
	} {
		asked = nil
		var out, log bytes.Buffer
		status := run(t.Context(), append(strings.Fields(tt.args), "--data", data), streams{in: strings.NewReader(""), out: &out, err: &log})
		if out.String() != tt.want || status != exitYes || strings.Join(asked, ";") != tt.request {
			t.Errorf("%s: status %d, %q, %q, %q; want %q, %q", tt.args, status, out.String(), log.String(), asked, tt.want, tt.request)
		}
	}
	if text, err := os.ReadFile(filepath.Join(data, missesFile)); string(text) != "of another server" {
		t.Errorf("the file of the server was touched: %q, %v", text, err)
	}
}
