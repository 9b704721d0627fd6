package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/adminapi"
)

// TestHostChangeLine checks the lines of the report about links.
func TestHostChangeLine(t *testing.T) {
	for _, tt := range []struct {
		change adminapi.LinkHostChange
		want   string
	}{
		{adminapi.LinkHostChange{Host: "a.example", Failing: true}, "a.example: fails as a whole"},
		{adminapi.LinkHostChange{Host: "a.example", Back: true}, "a.example: answers again"},
		{adminapi.LinkHostChange{Host: "a.example", Dead: 1, URLs: []string{"https://a.example/1"}}, "a.example: 1 location newly dead, such as https://a.example/1"},
		{adminapi.LinkHostChange{Host: "a.example", Dead: 2, Recovered: 3, URLs: []string{"https://a.example/\x1b"}}, `a.example: 2 locations newly dead, such as https://a.example/[U+001B]; 3 dead locations answering again`},
	} {
		if got := hostChangeLine(&tt.change); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestLinksSuggest checks the commands that find and add archived copies.
func TestLinksSuggest(t *testing.T) {
	const copied = "https://archive.example/1"
	var got []adminapi.LinkRequest
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodPost {
			_, _ = w.Write([]byte(`{"version":"1"}`))
			return
		}
		var in adminapi.LinkRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		got = append(got, in)
		_, _ = w.Write([]byte(`{"links":[{"url":"http://a.example/none","names":["urn:example:a"],"verdict":"dead","detail":"the archive has no copy of this location"},` +
			`{"url":"http://a.example/1","names":["urn:example:a"],"verdict":"dead","status":404,"since":"2026-10-01T00:00:00Z","copy":{"url":"` + copied + `","time":"2024-02-29T00:00:00Z"}}]}`))
	}))
	defer api.Close()
	data := t.TempDir()
	for file, text := range map[string]string{urlFile: api.URL, tokenFile: "x"} {
		if err := os.WriteFile(filepath.Join(data, file), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := succeeds(t, "--data", data, "links", "suggest", "urn:example:a")
	for _, want := range []string{"dead\t-\t-\thttp://a.example/none\turn:example:a\t(the archive has no copy of this location)\t", "dead\t2026-10-01\t404\thttp://a.example/1\turn:example:a\t(copy of 2024-02-29: " + copied + ")\t"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %q, want %q", out, want)
		}
	}
	if status, _, log := command(t.Context(), strings.NewReader(""), "--data", data, "links", "accept", "urn:example:a", "https://other.example/"); status != exitFailure || !strings.Contains(log, "does not suggest this copy") {
		t.Errorf("another copy: status %d: %s", status, log)
	}
	got = nil
	succeeds(t, "--data", data, "links", "accept", "urn:example:a", copied, "--why", "seen")
	succeeds(t, "--data", data, "links", "accept", "urn:example:a", copied, "--url", "http://a.example/1")
	if d := cmp.Diff(got, []adminapi.LinkRequest{{Suggest: true}, {URL: "http://a.example/1", Accept: copied, Why: "seen"}, {URL: "http://a.example/1", Accept: copied}}); d != "" {
		t.Errorf("requests: got -, want +:\n%s", d)
	}
}
