package adminapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
)

// Failed lookups are converted to JSON and back.
func TestMisses(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	want := adminapi.Misses{
		Totals: misses.Totals{Since: at, Asked: 5, Other: 2},
		Misses: []misses.Miss{{Name: "urn:x-y:a", Count: 3, First: at, Last: at, Suggestions: []string{"urn:x-y:b"}}},
	}
	const text = `{"since":"2026-11-20T12:00:00Z","asked":5,"other":2,"misses":[{"name":"urn:x-y:a","count":3,"first":"2026-11-20T12:00:00Z","last":"2026-11-20T12:00:00Z","suggestions":["urn:x-y:b"]}]}` + "\n"
	if b, err := adminapi.Encode(want); string(b) != text || err != nil {
		t.Errorf("Encode: %s, %v, want %s", b, err, text)
	}
	var request string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request = r.Method + " " + r.URL.RequestURI()
		w.WriteHeader(status)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	c := &adminapi.Client{URL: server.URL, Token: "id.secret"}
	got, err := c.Misses(t.Context(), "urn:x-y", 7)
	if d := cmp.Diff(got, want); d != "" || err != nil || request != "GET /api/v1/misses?limit=7&prefix=urn%3Ax-y" {
		t.Errorf("%s: %v; got -, want +:\n%s", request, err, d)
	}
	if _, err := c.Misses(t.Context(), "", 0); err != nil || request != "GET /api/v1/misses" {
		t.Errorf("%s: %v", request, err)
	}
	if was, err := c.ClearMisses(t.Context()); err != nil || was != want.Totals || request != "DELETE /api/v1/misses" {
		t.Errorf("%s: %v, %v", request, was, err)
	}
	status = http.StatusForbidden
	var denied *adminapi.StatusError
	if _, err := c.ClearMisses(t.Context()); !errors.As(err, &denied) || denied.Status != status {
		t.Errorf("%v", err)
	}
}
