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

const (
	base  = "/api/handles/"
	urlOf = `{"index":1,"type":"URL","data":{"format":"string","value":"https://example.org/1"},"ttl":86400,"timestamp":"2026-11-22T04:00:00Z"}`
	admin = `{"index":100,"type":"HS_ADMIN","data":{"format":"admin","value":{"handle":"0.NA/20.500.9999","index":200,"permissions":"011111110011"}},"ttl":86400,"timestamp":"2026-11-22T04:00:00Z"}`
)

// created is the body of a request that creates a handle, as pyhandle sends it.
const created = `{"values": [{"index": 100, "type": "HS_ADMIN", "data": {"format": "admin", "value": {"handle": "0.NA/20.500.9999", "index": "200", "permissions": "011111110011"}}}, {"index": 1, "type": "URL", "data": "https://example.org/1"}]}`

// The first example of the specification, with the requests around it.
func TestLifeOfHandle(t *testing.T) {
	h := newHarness(t)
	const at = base + "20.500.9999/abc"
	ok := `{"responseCode":1,"handle":"20.500.9999/abc"}`
	h.want("GET", at, "", "", 404, `{"responseCode":100,"handle":"20.500.9999/abc"}`)
	h.want("PUT", at+"?overwrite=false", asEditor, created, 201, ok)
	h.want("GET", at, "", "", 200, `{"responseCode":1,"handle":"20.500.9999/abc","values":[`+urlOf+`,`+admin+`]}`)
	h.want("PUT", at+"?overwrite=false", asEditor, created, 409, `{"responseCode":101,"handle":"20.500.9999/abc"}`)
	h.want("PUT", at, asEditor, created, 200, ok)
	h.want("GET", at+"?type=EMAIL", "", "", 200, `{"responseCode":200,"values":[],"handle":"20.500.9999/abc"}`)
	h.want("GET", at+"?index=1", "", "", 200, `{"responseCode":1,"handle":"20.500.9999/abc","values":[`+urlOf+`]}`)
	h.want("PUT", at+"?index=5&overwrite=false", asEditor, `[{"index":5,"type":"CHECKSUM","data":"abc"}]`, 200, ok)
	h.want("PUT", at+"?index=5&overwrite=false", asEditor, `[{"index":5,"type":"CHECKSUM","data":"abd"}]`, 409, `{"responseCode":201,"handle":"20.500.9999/abc"}`)
	h.want("GET", at+"?type=CHECKSUM", "", "", 200, `{"responseCode":1,"handle":"20.500.9999/abc","values":[{"index":5,"type":"CHECKSUM","data":{"format":"string","value":"abc"},"ttl":86400,"timestamp":"2026-11-22T04:00:00Z"}]}`)
	h.want("DELETE", at+"?index=5", asEditor, "", 200, ok)
	h.want("DELETE", at+"?index=5", asEditor, "", 400, `{"responseCode":200,"handle":"20.500.9999/abc"}`)
	h.want("GET", at+"?index=100&type=URL", "", "", 200, `{"responseCode":1,"handle":"20.500.9999/abc","values":[`+urlOf+`,`+admin+`]}`)
	h.want("DELETE", at, asEditor, "", 200, ok)
	h.want("DELETE", at, asEditor, "", 404, `{"responseCode":100,"handle":"20.500.9999/abc"}`)
	h.want("GET", at, "", "", 404, `{"responseCode":100,"handle":"20.500.9999/abc"}`)
	if rec := h.record("20.500.9999/abc"); rec.Status != nomen.Retired || rec.Revision != 4 {
		t.Errorf("got status %s and revision %d of the deleted handle, want a tombstone with revision 4", rec.Status, rec.Revision)
	}
	h.want("PUT", at, asEditor, created, 403, `{"responseCode":401,"message":"permission denied for \"hdl:20.500.9999/abc\": it is retired; this needs the role owner; \"editor\" has the role editor","handle":"20.500.9999/abc"}`)
	h.want("PUT", at, basic("0:x", "owner.secret"), created, 201, ok)
}

// The locations of the record are those of the URL values, with the lowest index first.
func TestLocationsOfValues(t *testing.T) {
	h := newHarness(t)
	h.want("PUT", base+"20.500.9999/l", asEditor, `[{"index":9,"type":"URL","data":"https://example.org/9"},{"index":2,"type":"URL","data":"https://example.org/2"}]`, 201, `{"responseCode":1,"handle":"20.500.9999/l"}`)
	rec := h.record("20.500.9999/l")
	if len(rec.Locations) != 2 || rec.Locations[0].URL != "https://example.org/2" || rec.Locations[0].Priority > 1 || rec.Locations[1].Priority != 2 {
		t.Errorf("got locations %+v", rec.Locations)
	}
	h.put(&store.Record{Spelling: "hdl:20.500.9999/own", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/a"}, {URL: "https://example.org/b", Note: "kept"}}})
	h.want("PUT", base+"20.500.9999/own?index=7", asEditor, `{"index":7,"type":"DESC","data":"x"}`, 200, `{"responseCode":1,"handle":"20.500.9999/own"}`)
	if rec := h.record("20.500.9999/own"); len(rec.Locations) != 2 || rec.Locations[1].Note != "kept" || rec.Locations[1].Index != 2 {
		t.Errorf("got locations %+v", rec.Locations)
	}
}

// Locations of a 10320/loc value are locations of the record, and both can be read back.
func TestSetOfLocations(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/set", "10320/loc", `<locations http_sc="303"><location href="https://uk.example.org/" country="gb" weight="0"/><location href="https://a.example.org/"/></locations>`, "URL", "https://example.org/url")
	rec := h.record("20.500.9999/set")
	if len(rec.Locations) != 3 || len(rec.Values) != 2 || strings.Contains(rec.Values[0].Data, "uk.example.org") || rec.Values[1].Data != "" {
		t.Errorf("got locations %+v and values %+v", rec.Locations, rec.Values)
	}
	body, err := io.ReadAll(h.do("GET", base+"20.500.9999/set", "", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`http_sc=\"303\"`, `href=\"https://uk.example.org/\"`, `country=\"gb\"`, `"value":"https://example.org/url"`} {
		if part = strings.ReplaceAll(part, `\`, `\`); !strings.Contains(string(body), part) {
			t.Errorf("%q is missing in %s", part, body)
		}
	}
}

func TestWrongRequests(t *testing.T) {
	h := newHarness(t)
	const at = base + "20.500.9999/abc"
	h.want("PUT", at, asEditor, created, 201, `{"responseCode":1,"handle":"20.500.9999/abc"}`)
	tail := `,"handle":"20.500.9999/abc"}`
	for _, tt := range []struct {
		method, target, body string
		status               int
		want                 string
	}{
		{"GET", "/api/handles", "", 400, `{"responseCode":102,"message":"Empty handle invalid"}`},
		{"GET", "/api/handles/", "", 400, `{"responseCode":102,"message":"Empty handle invalid"}`},
		{"GET", "/api/foo", "", 405, `{"responseCode":4,"message":"Unknown HTTP API endpoint GET /api/foo"}`},
		{"GET", "/api/handlesx", "", 405, `{"responseCode":4,"message":"Unknown HTTP API endpoint GET /api/handlesx"}`},
		{"PATCH", at, "", 501, `{"responseCode":4,"message":"Unknown method PATCH"` + tail},
		{"GET", base + "20.500.1/a", "", 400, `{"responseCode":301,"message":"this server is not responsible for the handle","handle":"20.500.1/a"}`},
		{"GET", base + "nothing", "", 400, `{"responseCode":102,"message":"Invalid handle","handle":"nothing"}`},
		{"GET", at + "?index=x", "", 400, `{"responseCode":4,"message":"java.lang.NumberFormatException: For input string: \"x\""` + tail},
		{"PUT", at + "?index=1&index=2", created, 400, `{"responseCode":4,"message":"java.lang.Exception: Mismatched indexes in PUT request"` + tail},
		{"PUT", base + "20.500.9999/none?index=1", `[{"index":1,"type":"URL","data":"https://example.org/"}]`, 404, `{"responseCode":100,"handle":"20.500.9999/none"}`},
		{"DELETE", at + "?index=various", "", 400, `{"responseCode":4,"message":"java.lang.NumberFormatException: For input string: \"various\""` + tail},
		{"DELETE", base + "20.500.9999/none", "", 404, `{"responseCode":100,"handle":"20.500.9999/none"}`},
		{"DELETE", base + "20.500.9999/none?index=1", "", 404, `{"responseCode":100,"handle":"20.500.9999/none"}`},
		{"PUT", at, `{"handle":"20.500.9999/other","values":[]}`, 400, `{"responseCode":4,"message":"com.google.gson.JsonParseException: the handle \"20.500.9999/other\" in the body is not the handle of the request"` + tail},
		{"PUT", at, `[{"index":1,"type":"URL","data":"https://example.org/","references":[{"handle":"","index":1}]}]`, 400, `{"responseCode":4,"message":"com.google.gson.JsonParseException: each reference of a value must have handle and index"` + tail},
		{"PUT", at, `[{"index":1,"type":"HS_SECKEY","data":"secret"}]`, 400, `{"responseCode":4,"message":"com.google.gson.JsonParseException: a value of the type HS_SECKEY cannot be stored, because the history keeps it for ever: use a token of the server"` + tail},
	} {
		h.want(tt.method, tt.target, asEditor, tt.body, tt.status, tt.want)
	}
	for _, body := range []string{`{}`, `[`, `[{"index":1,"type":"URL"}]`, `[{"index":0,"type":"URL","data":"https://a.example/"}]`, `[{"index":1,"type":"A","data":"x"},{"index":1,"type":"B","data":"x"}]`, `[{"index":1,"type":"A","data":"x","permissions":"12"}]`, `[{"index":1,"type":"A","data":"x","ttl":"soon"}]`, `[{"index":1,"type":"A","data":{"format":"odd","value":"x"}}]`, `[{"index":1,"type":"A","data":{"format":"hex","value":"0g"}}]`, `[{"index":1,"type":"A","data":{"format":"admin","value":{"handle":"a/b","index":"x"}}}]`, "[{\"index\":1,\"type\":\"A\",\"data\":\"\xff\"}]"} {
		if resp := h.do("PUT", at, asEditor, body); resp.StatusCode != 400 {
			t.Errorf("PUT %s: got %d, want 400", body, resp.StatusCode)
		}
	}
	if resp := h.do("PUT", at, asEditor, `[{"index":1,"type":"URL","data":"javascript:alert(1)"}]`); resp.StatusCode != 400 {
		t.Errorf("a URL value with a script: got %d, want 400", resp.StatusCode)
	}
	r := httptest.NewRequest("PUT", "/", strings.NewReader(created))
	r.Header.Set("Authorization", asEditor)
	r.Header.Set("Content-Type", "text/plain")
	body, _ := io.ReadAll(h.send(r, at).Body)
	if want := `{"responseCode":4,"message":"java.lang.Exception: Unsupported media type text/plain"` + tail; string(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}
}

// Names come from the target as it was sent.
func TestNamesFromTarget(t *testing.T) {
	h := newHarness(t)
	for handle, target := range map[string]string{
		"20.500.9999/a/b":   "20.500.9999%2Fa%2fb",
		"20.500.9999/a//b":  "20.500.9999/a//b",
		"20.500.9999/a+b c": "20.500.9999/a+b%20c",
		"20.500.9999/ü?#%":  "20.500.9999/%C3%BC%3F%23%25",
		"20.500.9999/..":    "20.500.9999/..",
	} {
		shown := strings.ReplaceAll(handle, `"`, `\"`)
		h.want("PUT", base+target, asEditor, created, 201, `{"responseCode":1,"handle":"`+shown+`"}`)
		h.want("GET", base+target+"?index=1", "", "", 200, `{"responseCode":1,"handle":"`+shown+`","values":[`+urlOf+`]}`)
	}
	h.want("GET", base+"20.500.9999/a/b?index=1", "", "", 200, `{"responseCode":1,"handle":"20.500.9999/a/b","values":[`+urlOf+`]}`)
}

func TestRights(t *testing.T) {
	h := newHarness(t)
	const at = base + "20.500.9999/abc"
	for _, tt := range []struct {
		name, authorization string
		status              int
		code                string
	}{
		{"anonymous", "", 401, "402"},
		{"wrong password", basic("300:20.500.9999/ADMIN", "wrong horse"), 403, "403"},
		{"token of identity", basic("300:20.500.9999/ADMIN", "editor.secret"), 403, "403"},
		{"token", basic("300:20.500.9999/OTHER", "editor.secret"), 201, "1"},
		{"token not encoded", "Basic " + "MzAwOjIwLjUwMC45OTk5L0FETUlOOmVkaXRvci5zZWNyZXQ=", 403, "403"},
		{"no token", basic("300:20.500.9999/OTHER", "unknown.secret"), 403, "403"},
		{"revoked token", basic("301:20.500.9999/ADMIN", "correct horse"), 403, "403"},
		{"reader", basic("1:a/b", "reader.secret"), 403, "401"},
		{"editor of another prefix", basic("1:a/b", "other.secret"), 403, "401"},
		{"not base64", "Basic ?", 403, "403"},
		{"no colon", "Basic YQ==", 403, "403"},
		{"too long", "Basic " + strings.Repeat("a", maxAuthorization), 403, "403"},
	} {
		resp := h.do("PUT", at+tt.code+tt.name[:2], tt.authorization, created)
		body, _ := io.ReadAll(resp.Body)
		if !strings.HasPrefix(string(body), `{"responseCode":`+tt.code+`,`) || resp.StatusCode != tt.status {
			t.Errorf("%s: got %d %s, want %d with code %s", tt.name, resp.StatusCode, body, tt.status, tt.code)
		}
		if got := resp.Header.Get("WWW-Authenticate"); (tt.status == 401) != (got == `Basic realm="handle"`) {
			t.Errorf("%s: got challenge %q", tt.name, got)
		}
	}
	h.private = false
	h.want("PUT", at, asEditor, created, 403, `{"responseCode":402,"message":"send credentials only over HTTPS","handle":"20.500.9999/abc"}`)
	h.want("DELETE", at, "", "", 403, `{"responseCode":402,"message":"send credentials only over HTTPS","handle":"20.500.9999/abc"}`)
	h.want("GET", "/api/handles?prefix=20.500.9999", asEditor, "", 403, `{"responseCode":402,"message":"send credentials only over HTTPS"}`)
}

// Values without public read are shown only to clients with rights on the handle.
func TestPrivateValues(t *testing.T) {
	h := newHarness(t)
	const at = base + "20.500.9999/abc"
	h.want("PUT", at, asEditor, `[{"index":1,"type":"A","data":"public"},{"index":2,"type":"A","data":"private","permissions":"01100"},{"index":3,"type":"A","data":"hidden","permissions":"00000"}]`, 201, `{"responseCode":1,"handle":"20.500.9999/abc"}`)
	all := func(authorization, query string) (found string) {
		body, _ := io.ReadAll(h.do("GET", at+query, authorization, "").Body)
		for _, m := range regexp.MustCompile(`"index":(\d)`).FindAllStringSubmatch(string(body), -1) {
			found += m[1]
		}
		return found
	}
	for _, tt := range []struct{ authorization, query, want string }{
		{"", "", "1"},
		{"", "?publicOnly=false", "1"},
		{"", "?index=2", ""},
		{asEditor, "", "12"},
		{asEditor, "?callback=f&publicOnly=no", "1"},
		{asEditor, "?publicOnly", "1"},
		{asEditor, "?publicOnly=no", "12"},
		{basic("1:a", "reader.secret"), "", "12"},
		{basic("1:a", "other.secret"), "", "1"},
	} {
		if got := all(tt.authorization, tt.query); got != tt.want {
			t.Errorf("GET %s with %q: got values %q, want %q", tt.query, tt.authorization, got, tt.want)
		}
	}
	h.private = false
	if got := all(asEditor, ""); got != "1" {
		t.Errorf("over plain HTTP: got values %q, want 1", got)
	}
}

// The policy of an authority applies, and reserved names are hidden.
func TestHiddenHandles(t *testing.T) {
	h := newHarness(t)
	h.put(&store.Record{Spelling: "hdl:20.500.9999/reserved", Status: nomen.Reserved, Locations: []nomen.Location{{URL: "https://example.org/secret"}}})
	h.put(&store.Record{Spelling: "hdl:20.500.7777/a", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/secret"}}})
	h.put(&store.Record{Spelling: "hdl:20.500.9999/moved", Status: nomen.Retired, Reason: "new", Successors: []string{"hdl:20.500.9999/New"}})
	h.want("GET", base+"20.500.9999/reserved", "", "", 404, `{"responseCode":100,"handle":"20.500.9999/reserved"}`)
	h.want("GET", base+"20.500.7777/a", "", "", 401, `{"responseCode":402,"message":"Ask the archive.","handle":"20.500.7777/a"}`)
	h.want("GET", base+"20.500.7777/none", "", "", 401, `{"responseCode":402,"message":"Ask the archive.","handle":"20.500.7777/none"}`)
	h.want("GET", base+"20.500.7777/a", asEditor, "", 403, `{"responseCode":401,"message":"Ask the archive.","handle":"20.500.7777/a"}`)
	if resp := h.do("GET", base+"20.500.7777/a", basic("1:a", "closed.secret"), ""); resp.StatusCode != 200 {
		t.Errorf("a client with rights on the handle: got %d, want 200", resp.StatusCode)
	}
	h.want("GET", base+"20.500.9999/moved", "", "", 200, `{"responseCode":1,"handle":"20.500.9999/moved","values":[{"index":1,"type":"HS_ALIAS","data":{"format":"string","value":"20.500.9999/New"},"ttl":86400,"timestamp":"2026-11-22T04:00:00Z"}]}`)
	h.want("PUT", base+"20.500.9999/reserved?overwrite=false", asEditor, created, 201, `{"responseCode":1,"handle":"20.500.9999/reserved"}`)
}

func TestList(t *testing.T) {
	h := newHarness(t)
	for _, s := range []string{"a", "B", "c"} {
		h.want("PUT", base+"20.500.9999/"+s, asEditor, created, 201, `{"responseCode":1,"handle":"20.500.9999/`+s+`"}`)
	}
	h.put(&store.Record{Spelling: "hdl:20.500.9999/d", Status: nomen.Reserved})
	const list = "/api/handles?prefix=20.500.9999"
	h.want("GET", list+"&page=0&pageSize=2", asEditor, "", 200, `{"responseCode":1,"prefix":"20.500.9999","totalCount":"3","page":0,"pageSize":2,"handles":["20.500.9999/B","20.500.9999/a"]}`)
	h.want("GET", list+"&page=1&pageSize=2", asEditor, "", 200, `{"responseCode":1,"prefix":"20.500.9999","totalCount":"3","page":1,"pageSize":2,"handles":["20.500.9999/c"]}`)
	h.want("GET", list+"&pageSize=0", asEditor, "", 200, `{"responseCode":1,"prefix":"20.500.9999","totalCount":"3","handles":[]}`)
	h.want("GET", list, asEditor, "", 200, `{"responseCode":1,"prefix":"20.500.9999","totalCount":"3","handles":["20.500.9999/B","20.500.9999/a","20.500.9999/c"]}`)
	h.want("GET", "/api/handles/?prefix=0.NA/20.500.9999&pageSize=-1", asEditor, "", 200, `{"responseCode":1,"prefix":"0.NA/20.500.9999","totalCount":"3","handles":["20.500.9999/B","20.500.9999/a","20.500.9999/c"]}`)
	h.want("GET", list, "", "", 401, `{"responseCode":402}`)
	h.want("GET", list, basic("1:a", "other.secret"), "", 403, `{"responseCode":401,"message":"permission denied for the prefix \"20.500.9999\""}`)
	h.want("GET", list+"&pageSize=x", asEditor, "", 400, `{"responseCode":4,"message":"java.lang.NumberFormatException: For input string: \"x\""}`)
	h.want("GET", list+"&page=9223372036854775807&pageSize=2", asEditor, "", 400, `{"responseCode":4,"message":"page out of range"}`)
}

func TestMintNewSuffix(t *testing.T) {
	h := newHarness(t)
	for _, path := range []string{"20.500.9999/", "20.500.9999/stem-"} {
		resp := h.do("PUT", base+path+"?overwrite=false&mintNewSuffix=true", asEditor, created)
		body, _ := io.ReadAll(resp.Body)
		if want := regexp.MustCompile(`^{"responseCode":1,"handle":"` + path + `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"}$`); resp.StatusCode != 201 || !want.Match(body) {
			t.Errorf("PUT %s: got %d %s", path, resp.StatusCode, body)
		}
	}
}

func TestFormsOfResponses(t *testing.T) {
	h := newHarness(t)
	const at = base + "20.500.9999/none"
	h.want("GET", at+"?callback=a.b(1&pretty=false", "", "", 404, `a_b_1({"responseCode":100,"handle":"20.500.9999/none"});`)
	h.want("GET", at+"?callback=1é$", "", "", 404, `_é$({"responseCode":100,"handle":"20.500.9999/none"});`)
	h.want("GET", at+"?pretty", "", "", 404, "{\n  \"responseCode\": 100,\n  \"handle\": \"20.500.9999/none\"\n}")
	h.want("GET", base+"20.500.9999/<&>", "", "", 404, `{"responseCode":100,"handle":"20.500.9999/<&>"}`)
	h.want("HEAD", at, "", "", 404, "")
	resp := h.do("GET", at, "", "")
	if got := resp.Header.Get("Content-Type"); got != "application/json;charset=UTF-8" {
		t.Errorf("got Content-Type %q", got)
	}
	if got := h.do("GET", at+"?callback=f", "", "").Header.Get("Content-Type"); got != "application/javascript;charset=UTF-8" {
		t.Errorf("got Content-Type %q of JSONP", got)
	}
	resp = h.do("OPTIONS", at, "", "")
	if got := resp.Header.Get("Allow"); resp.StatusCode != 200 || got != "GET, HEAD, POST, PUT, DELETE, TRACE, OPTIONS" {
		t.Errorf("OPTIONS: got %d, Allow %q", resp.StatusCode, got)
	}
	r := httptest.NewRequest("GET", "/", http.NoBody)
	r.Header.Set("Origin", "https://elsewhere.example")
	resp = h.send(r, at)
	if a, c, e := resp.Header.Get("Access-Control-Allow-Origin"), resp.Header.Get("Access-Control-Allow-Credentials"), resp.Header.Get("Access-Control-Expose-Headers"); a != "*" || c != "" || !strings.HasPrefix(e, "Content-Length") {
		t.Errorf("CORS: got origin %q, credentials %q, exposed %q", a, c, e)
	}
}

// POST resolves, with parameters in the body.
func TestPost(t *testing.T) {
	h := newHarness(t)
	h.want("PUT", base+"20.500.9999/abc", asEditor, created, 201, `{"responseCode":1,"handle":"20.500.9999/abc"}`)
	for _, body := range []string{`{"type":"URL"}`, `{"index":[1]}`, `{"index":1}`, `{"type":["URL","EMAIL"],"index":[]}`} {
		h.want("POST", base+"20.500.9999/abc", "", body, 200, `{"responseCode":1,"handle":"20.500.9999/abc","values":[`+urlOf+`]}`)
	}
	if resp := h.do("POST", base+"20.500.9999/abc", "", `{"index":"x"`); resp.StatusCode != 400 {
		t.Errorf("got %d, want 400", resp.StatusCode)
	}
}

// TestReferences: references of a value are kept, also those of a URL value, until the value is
// replaced (dialects.md, 1.4).
func TestReferences(t *testing.T) {
	h := newHarness(t)
	const at = base + "20.500.9999/ref"
	const list = `[{"handle":"20.500.8888/a&b","index":0},{"handle":"20.500.9999/ref","index":2147483647}]`
	const one = `{"index":1,"type":"URL","data":{"format":"string","value":"https://example.org/"},"ttl":60,"timestamp":"2026-11-22T04:00:00Z","references":` + list + `}`
	const two = `{"index":2,"type":"X","data":{"format":"string","value":"y"},"ttl":60,"timestamp":"2026-11-22T04:00:00Z"}`
	h.want("PUT", at, asEditor, `[{"index":1,"type":"URL","data":"https://example.org/","ttl":60,"references":`+list+`},{"index":2,"type":"X","data":"y","ttl":60,"references":[]}]`, 201, `{"responseCode":1,"handle":"20.500.9999/ref"}`)
	h.want("GET", at, "", "", 200, `{"responseCode":1,"handle":"20.500.9999/ref","values":[`+one+`,`+two+`]}`)
	if got := h.record("20.500.9999/ref").Values[0].References; got != list {
		t.Errorf("the record has %s", got)
	}
	h.want("PUT", at, asEditor, `[`+one+`,`+two+`]`, 200, `{"responseCode":1,"handle":"20.500.9999/ref"}`)
	h.want("GET", at+"?index=1", "", "", 200, `{"responseCode":1,"handle":"20.500.9999/ref","values":[`+one+`]}`)
	h.want("PUT", at+"?index=1", asEditor, `[{"index":1,"type":"URL","data":"https://example.org/","ttl":60}]`, 200, `{"responseCode":1,"handle":"20.500.9999/ref"}`)
	if got := h.record("20.500.9999/ref").Values[0].References; got != "" {
		t.Errorf("after the value was replaced, the record has %s", got)
	}
	for _, bad := range []string{`{}`, `"x"`, `[1]`, `[{"index":1}]`, `[{"handle":"a","index":-1}]`, `[{"handle":"a","index":2147483648}]`, `[{"handle":"a","index":"1"}]`} {
		if resp := h.do("PUT", at, asEditor, `[{"index":1,"type":"X","data":"","references":`+bad+`}]`); resp.StatusCode != 400 {
			t.Errorf("references %s: got %d, want 400", bad, resp.StatusCode)
		}
	}
	many := `[` + strings.Repeat(`{"handle":"20.500.9999/x","index":1},`, 2000) + `{"handle":"a","index":1}]`
	if resp := h.do("PUT", at, asEditor, `[{"index":1,"type":"X","data":"","references":`+many+`}]`); resp.StatusCode != 400 {
		t.Errorf("references longer than one text: got %d, want 400", resp.StatusCode)
	}
}
