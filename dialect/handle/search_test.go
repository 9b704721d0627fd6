package handle

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "abc", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"*b*", "abc", true},
		{"a*c", "abc", true},
		{"ab*bc", "abc", false},
		{"a*b*c", "axxbyyc", true},
		{"a*b*c", "axxcyyb", false},
		{"**", "x", true},
		{"A*", "abc", false},
	} {
		if got := matches(tt.pattern, tt.text); got != tt.want {
			t.Errorf("matches(%q, %q) = %v, want %v", tt.pattern, tt.text, got, tt.want)
		}
	}
}

// A search finds what the client may list and read, by the index of locations and without it.
func TestReverse(t *testing.T) {
	h := newHarness(t)
	const search = "/hrls/handles?"
	h.keep("20.500.9999/b", "URL", "https://example.org/x", "CHECKSUM", "abc", "URL", "https://example.org/xy")
	h.keep("20.500.9999/a", "URL", "https://example.org/x", "CHECKSUM", "xyz")
	h.put(&store.Record{Spelling: "hdl:20.500.9999/loc", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/plain"}}})
	h.put(&store.Record{Spelling: "hdl:20.500.9999/reserved", Status: nomen.Reserved, Locations: []nomen.Location{{URL: "https://example.org/x"}}})
	h.put(&store.Record{Spelling: "hdl:20.500.7777/other", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/x"}}})
	h.put(&store.Record{Spelling: "ark:/12345/x", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/x"}}})
	h.put(&store.Record{Spelling: "hdl:20.500.9999/hidden", Status: nomen.Active, Values: []nomen.Value{{Index: 2, Type: "CHECKSUM", Data: "abc", Permissions: "0000"}}})
	for query, want := range map[string]string{
		"URL=https://example.org/x":             `["20.500.9999/a","20.500.9999/b"]`,
		"URL=https://example.org/x*":            `["20.500.9999/a","20.500.9999/b"]`,
		"URL=*org/x":                            `["20.500.9999/a","20.500.9999/b"]`,
		"url=*org/xy":                           `["20.500.9999/b"]`,
		"URL=https://example.org/plain":         `["20.500.9999/loc"]`,
		"CHECKSUM=abc":                          `["20.500.9999/b"]`,
		"URL=https://example.org/x&CHECKSUM=*z": `["20.500.9999/a"]`,
		"URL=https://EXAMPLE.org/x":             `[]`,
		"URL=%2Aorg/x&limit=1&page=2":           `["20.500.9999/b"]`,
		"URL=*org/x&limit=1&page=3":             `[]`,
		"URL=*org/x&limit=0&page=3":             `["20.500.9999/a","20.500.9999/b"]`,
		"NONE=*":                                `[]`,
		"CHECKSUM=abc&pretty=no":                `["20.500.9999/b"]`,
	} {
		h.want("GET", search+query, asEditor, "", 200, want)
	}
	h.want("GET", "/hrls/handles/?CHECKSUM=abc", asEditor, "", 200, `["20.500.9999/b"]`)
	h.want("GET", search+"CHECKSUM=abc", "", "", 401, `{"responseCode":402}`)
	h.want("GET", search+"CHECKSUM=abc", basic("1:a", "other.secret"), "", 200, `[]`)
	h.want("GET", search+"CHECKSUM=abc", basic("300:20.500.9999/ADMIN", "wrong horse"), "", 403, `{"responseCode":403,"message":"Authentication failed"}`)
	h.want("GET", search, asEditor, "", 400, `{"responseCode":4,"message":"no search terms: add conditions such as URL=*example.org*"}`)
	h.want("GET", search+"CHECKSUM=abc&limit=-1", asEditor, "", 400, `{"responseCode":4,"message":"invalid limit \"-1\": want a number"}`)
	h.want("POST", search+"CHECKSUM=abc", asEditor, "", 405, `{"responseCode":4,"message":"Unknown method POST"}`)
	for range maxLists {
		release, err := h.server.occupy()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	if resp := h.do("GET", search+"CHECKSUM=abc", asEditor, ""); resp.StatusCode != 503 {
		t.Errorf("too many searches: got %d, want 503", resp.StatusCode)
	}
	h.private = false
	if resp := h.do("GET", search+"CHECKSUM=abc", asEditor, ""); resp.StatusCode != 403 {
		t.Errorf("over plain HTTP: got %d, want 403", resp.StatusCode)
	}
	if resp := h.do("GET", search+strings.Repeat("a=*&", 2*maxParameters), "", ""); resp.StatusCode != 403 {
		t.Errorf("many conditions: got %d", resp.StatusCode)
	}
}
