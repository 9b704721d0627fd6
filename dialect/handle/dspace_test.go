package handle

import (
	"io"
	"net/http"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// The requests of the plug-in of Handle.Net servers for remote repositories.
func TestRemoteRepository(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/1", "URL", "https://example.org/1")
	h.keep("20.500.9999/b/c", "DESC", "no URL")
	h.keep("20.500.9999/alias", "HS_ALIAS", "20.500.9999/1")
	h.put(&store.Record{Spelling: "hdl:20.500.7777/a", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/secret"}}})
	h.put(&store.Record{Spelling: "hdl:20.500.9999/reserved", Status: nomen.Reserved, Locations: []nomen.Location{{URL: "https://example.org/secret"}}})
	for _, tt := range []struct {
		path, authorization string
		status              int
		want                string
	}{
		{"/listprefixes", "", 200, `["20.500.7777","20.500.9999"]`},
		{"/resolve/20.500.9999/1", "", 200, `["https://example.org/1"]`},
		{"/hdlresolver/20.500.9999%2F1", "", 200, `["https://example.org/1"]`},
		{"/resolve/20.500.9999/alias", "", 200, `["https://hdl.example.org/20.500.9999/1"]`},
		{"/resolve/20.500.9999/none", "", 200, `null`},
		{"/resolve/20.500.9999/b/c", "", 200, `null`},
		{"/resolve/20.500.9999/reserved", "", 200, `null`},
		{"/resolve/20.500.7777/a", "", 200, `null`},
		{"/resolve/", "", 400, `{"responseCode":102,"message":"Empty handle invalid"}`},
		{"/resolve/20.500.1/a", "", http.StatusTeapot, ``},
		{"/resolve", "", http.StatusTeapot, ``},
		{"/listhandles/20.500.9999", asEditor, 200, `["20.500.9999/1","20.500.9999/alias","20.500.9999/b/c"]`},
		{"/listhandles/20.500.9999", "", 404, `{"responseCode":100,"message":"the list is only for clients with rights on the prefix"}`},
		{"/listhandles/20.500.9999", basic("1:a", "other.secret"), 403, `{"responseCode":401,"message":"permission denied for the prefix \"20.500.9999\""}`},
		{"/listhandles/", asEditor, 400, `{"responseCode":102,"message":"Invalid prefix"}`},
		{"/listhandles", "", 400, `{"responseCode":102,"message":"Invalid prefix"}`},
		{"/listhandlesx", asEditor, http.StatusTeapot, ``},
	} {
		resp := h.do("GET", tt.path, tt.authorization, "")
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != tt.status || string(body) != tt.want {
			t.Errorf("GET %s: got %d %s (%v), want %d %s", tt.path, resp.StatusCode, body, err, tt.status, tt.want)
		}
		if got := resp.Header.Get("Content-Type"); tt.want != "" && got != "application/json;charset=UTF-8" {
			t.Errorf("GET %s: got Content-Type %q", tt.path, got)
		}
	}
	if got := h.do("PUT", "/listprefixes", "", "").StatusCode; got != http.StatusTeapot {
		t.Errorf("PUT: got %d", got)
	}
}
