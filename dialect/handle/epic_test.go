package handle

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// epic sends a request to the API of ePIC, with fields of the header.
func (h *harness) epic(method, path, authorization, body string, fields ...string) (status int, location, text string) {
	h.Helper()
	r := httptest.NewRequestWithContext(h.Context(), method, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	resp := h.send(r, "/v2/handles/"+path)
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Location"), string(b)
}

// The life of a handle, with the requests of CLARIN-DSpace.
func TestEpic(t *testing.T) {
	h := newHarness(t)
	const first, second = `[{"type":"URL","parsed_data":"https://example.org/1"}]`, `[{"type":"URL","parsed_data":"https://example.org/2"}]`
	status, at, body := h.epic("POST", testPrefix, asEditor, first)
	m := regexp.MustCompile(`^https://hdl\.example\.org/v2/handles/(20\.500\.9999/[0-9a-f-]{36})$`).FindStringSubmatch(at)
	if status != 201 || m == nil || body != "" {
		t.Fatalf("POST: got %d with Location %q and %q", status, at, body)
	}
	handle := m[1]
	want := `[{"idx":1,"type":"URL","parsed_data":"https://example.org/1","timestamp":"2026-11-22T04:00:00Z","ttl":86400}]`
	if status, _, body := h.epic("GET", handle, "", ""); status != 200 || body != want {
		t.Errorf("GET: got %d %s, want %s", status, body, want)
	}
	for _, tt := range []struct {
		method, path, authorization, body, field, value string
		status                                          int
	}{
		{"PUT", handle, asEditor, second, "If-None-Match", "*", 412},
		{"PUT", handle, asEditor, second, "If-Match", "*", 204},
		{"PUT", handle, asEditor, second, "", "", 204},
		{"PUT", "20.500.9999/new", asEditor, first, "If-Match", "*", 412},
		{"PUT", "20.500.9999/new", asEditor, first, "If-None-Match", "*", 201},
		{"PUT", "20.500.9999/other", asEditor, first, "", "", 201},
		{"PUT", "20.500.9999/no", "", first, "", "", 401},
		{"PUT", "20.500.9999/no", basic("1:a", "other.secret"), first, "", "", 403},
		{"PUT", "20.500.1/no", asEditor, first, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `{}`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"type":"URL"}]`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"parsed_data":"x"}]`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"type":"A","parsed_data":null}]`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"type":"A","parsed_data":{}}]`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"type":"A","parsed_data":"x","idx":-1}]`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"type":"A","parsed_data":"x","idx":3},{"type":"A","parsed_data":"x","idx":3}]`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"type":"HS_SECKEY","parsed_data":"x"}]`, "", "", 400},
		{"PUT", "20.500.9999/no", asEditor, `[{"type":"URL","parsed_data":"javascript:alert(1)"}]`, "", "", 400},
		{"POST", "20.500.1", asEditor, first, "", "", 400},
		{"POST", "", asEditor, first, "", "", 400},
		{"POST", handle, asEditor, first, "", "", 405},
		{"PUT", testPrefix, asEditor, first, "", "", 405},
		{"GET", "20.500.9999/no", "", "", "", "", 404},
		{"OPTIONS", handle, "", "", "", "", 200},
		{"DELETE", "20.500.9999/new", "", "", "", "", 401},
		{"DELETE", "20.500.9999/new", asEditor, "", "", "", 204},
		{"DELETE", "20.500.9999/new", asEditor, "", "", "", 404},
	} {
		if status, _, body := h.epic(tt.method, tt.path, tt.authorization, tt.body, tt.field, tt.value); status != tt.status {
			t.Errorf("%s %s %s with %s: got %d %s, want %d", tt.method, tt.path, tt.body, tt.field, status, body, tt.status)
		}
	}
	if rec := h.record(handle); len(rec.Locations) != 1 || rec.Locations[0].URL != "https://example.org/2" || rec.Locations[0].Index != 1 {
		t.Errorf("got %+v", rec.Locations)
	}
	h.private = false
	if status, _, _ := h.epic("PUT", handle, asEditor, first); status != http.StatusForbidden {
		t.Errorf("over plain HTTP: got %d, want 403", status)
	}
}

// Values keep the indexes and permissions that they have. New ones get free indexes.
func TestEpicIndexes(t *testing.T) {
	h := newHarness(t)
	h.put(&store.Record{Spelling: "hdl:20.500.9999/i", Status: nomen.Active, Values: []nomen.Value{
		{Index: 2, Type: "OLD", Data: "x"},
		{Index: 7, Type: "CHECKSUM", Data: "abc", Permissions: "1100"},
	}})
	body := `[{"type":"TITLE","parsed_data":"t"},{"type":"CHECKSUM","parsed_data":"def"},{"type":"CHECKSUM","parsed_data":"ghi"},{"type":"URL","parsed_data":"https://example.org/"},
		{"type":"HS_ADMIN","parsed_data":{"handle":"0.NA/20.500.9999","index":200,"permissions":"111111111111"}},{"idx":5,"type":"LAST","parsed_data":"x","ttl":60}]`
	if status, _, text := h.epic("PUT", "20.500.9999/i", asEditor, body); status != 204 {
		t.Fatalf("got %d %s", status, text)
	}
	got := ""
	for _, v := range valuesOf(h.record("20.500.9999/i")) {
		got += " " + string(rune('0'+v.Index%10)) + v.Type + v.Permissions
	}
	if want := " 1URL 3TITLE 4CHECKSUM 5LAST 7CHECKSUM1100 0HS_ADMIN"; got != want {
		t.Errorf("got%s, want%s", got, want)
	}
	if _, _, text := h.epic("GET", "20.500.9999/i", "", ""); strings.Contains(text, "def") || !strings.Contains(text, `"parsed_data":{"handle":"0.NA/20.500.9999","index":200,"permissions":"111111111111"}`) {
		t.Errorf("the public sees %s", text)
	}
}

func TestEpicList(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/b/c", "URL", "https://example.org/x")
	h.keep("20.500.9999/a", "URL", "https://example.org/y")
	value := func(url string) string {
		return `[{"idx":1,"type":"URL","parsed_data":"` + url + `","timestamp":"2026-11-22T04:00:00Z","ttl":60}]`
	}
	both := `{"/handles/20.500.9999/a":` + value("https://example.org/y") + `,"/handles/20.500.9999/b/c":` + value("https://example.org/x") + `}`
	for _, tt := range []struct{ path, depth, want string }{
		{"20.500.9999/", "0", `["a","b/c"]`},
		{"20.500.9999", "", `["a","b/c"]`},
		{"20.500.9999/?URL=*x*&limit=1000&page=1", "0", `["a","b/c"]`},
		{"20.500.9999/?URL=*/x&limit=0", "0", `["b/c"]`},
		{"20.500.9999/?limit=1&page=2", "0", `["b/c"]`},
		{"20.500.9999/?URL=*none*", "1", `{}`},
		{"20.500.9999/", "1", both},
		{"20.500.9999/", "infinity", both},
	} {
		if status, _, got := h.epic("GET", tt.path, asEditor, "", "Depth", tt.depth); status != 200 || got != tt.want {
			t.Errorf("GET %s with Depth %s: got %d %s, want %s", tt.path, tt.depth, status, got, tt.want)
		}
	}
	if status, _, _ := h.epic("GET", "20.500.9999/", "", ""); status != 401 {
		t.Errorf("anonymous: got %d, want 401", status)
	}
	if status, _, _ := h.epic("GET", "20.500.9999/", basic("1:a", "other.secret"), ""); status != 403 {
		t.Errorf("another prefix: got %d, want 403", status)
	}
}

// Free indexes are not those of administrators, and a response has a limit.
func TestEpicLimits(t *testing.T) {
	taken := map[int]bool{}
	for n := 2; n < 100; n++ {
		taken[n] = true
	}
	if got := indexFor("TITLE", nil, taken); got != 200 {
		t.Errorf("got index %d, want 200", got)
	}
	many := "[" + strings.Repeat(`{"index":1,"type":"T","parsed_data":""},`, maxGiven) + `{"index":2,"type":"T","data":""}]`
	if _, err := readEpic(strings.NewReader(many)); err == nil || err.(*codeFailure).code != codeInvalidValue {
		t.Errorf("%d values in the API of ePIC: got %v", maxGiven+1, err)
	}
	if _, err := readValues(strings.NewReader(many), "20.500.9999/x"); err == nil || !strings.Contains(err.Error(), "more than 2000 values") {
		t.Errorf("%d values: got %v", maxGiven+1, err)
	}
	if err := (&request{}).epicValues(make([]match, maxShown+1)); err == nil {
		t.Errorf("%d handles are shown", maxShown+1)
	}
}
