package handle

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// visit sends a request to the proxy with header fields.
func (h *harness) visit(target string, fields ...string) (status int, to, body string, header http.Header) {
	h.Helper()
	r := httptest.NewRequestWithContext(h.Context(), "GET", "/", http.NoBody)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	resp := h.send(r, target)
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Location"), string(text), resp.Header
}

// keep writes a handle with values of the given types and data.
func (h *harness) keep(handle string, pairs ...string) {
	h.Helper()
	var values []string
	for i := 0; i+1 < len(pairs); i += 2 {
		values = append(values, `{"index":`+string(rune('1'+i/2))+`,"type":"`+pairs[i]+`","data":`+quoted(pairs[i+1])+`,"ttl":60}`)
	}
	if resp := h.do("PUT", base+handle, asEditor, "["+strings.Join(values, ",")+"]"); resp.StatusCode != 201 {
		body, _ := io.ReadAll(resp.Body)
		h.Fatalf("%s: %d %s", handle, resp.StatusCode, body)
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// The body of a redirect is byte for byte that of Handle.Net's proxy.
func TestRedirect(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/r", "EMAIL", "a@example.org", "URL", "https://example.org/r?a=1&b=2", "URL", "https://example.org/second")
	const want = "<html><head><title>Handle Redirect</title></head>\n<body><a href=\"https://example.org/r?a=1&amp;b=2\">https://example.org/r?a=1&amp;b=2</a></body></html>"
	h.keep("20.500.9999/sub", "URL.x", "https://example.org/sub")
	status, to, body, header := h.visit("/20.500.9999/r")
	if status != 302 || to != "https://example.org/r?a=1&b=2" || body != want {
		t.Errorf("got %d to %q with body %q", status, to, body)
	}
	if ct, expires := header.Get("Content-Type"), header.Get("Expires"); ct != "text/html; charset=utf-8" || expires != "Sun, 22 Nov 2026 04:01:00 GMT" {
		t.Errorf("got Content-Type %q, Expires %q", ct, expires)
	}
	for target, want := range map[string]struct {
		status int
		to     string
	}{
		"/info:hdl/20.500.9999/r?index=3":                   {302, "https://example.org/second"},
		"/20.500.9999/r?type=URL;index=x;index=3&type=NONE": {302, ""},
		"/20.500.9999/r?noredirect":                         {200, ""},
		"/20.500.9999/r?action=showvalues":                  {200, ""},
		"/20.500.9999/r?type=NONE":                          {200, ""},
		"/20.500.9999/r?index=1":                            {200, ""},
		"/20.500.9999/none":                                 {404, ""},
		"/20.500.9999/sub":                                  {302, "https://example.org/sub"},
		"/20.500.7777/none":                                 {403, ""},
		"/20.500.1/r":                                       {http.StatusTeapot, ""},
		"/hdl:20.500.9999/r":                                {http.StatusTeapot, ""},
		"/":                                                 {http.StatusTeapot, ""},
		"/20.500.9999/r?index=2&urlappend=%26c%3D3+4":       {302, "https://example.org/r?a=1&b=2&c=3+4"},
		"/20.500.9999/r?index=3&urlappend=%0D%0AX:y":        {302, "https://example.org/second%0D%0AX:y"},
	} {
		if status, to, _, _ := h.visit(target); status != want.status || want.to != "" && to != want.to {
			t.Errorf("GET %s: got %d to %q, want %d to %q", target, status, to, want.status, want.to)
		}
	}
	if status, _, body, _ := h.visit("/20.500.9999/r%22/"); status != 404 || !strings.Contains(body, `<a href="https://hdl.example.org/20.500.9999/r%22">20.500.9999/r&#34;</a>`) {
		t.Errorf("a slash at the end: got %d %s", status, body)
	}
	if _, _, body, _ := h.visit("/20.500.9999/r?action=api&index=1"); !strings.HasPrefix(body, `{"responseCode":1,"handle":"20.500.9999/r","values":[{"index":1,`) {
		t.Errorf("action=api: got %s", body)
	}
	if _, _, body, _ := h.visit("/20.500.9999/r?action=showurls&index=2"); body != `<locations><location href="https://example.org/r?a=1&amp;b=2" weight="1.0" mode="legacy"/></locations>` {
		t.Errorf("action=showurls: got %s", body)
	}
}

// The parameter urlappend cannot lead to another server.
func TestNoOpenRedirect(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/o", "URL", "https://example.org")
	for _, s := range []string{".evil.example", "@evil.example", ":8080", ":x@evil.example/", "%2540evil.example", "%5C@evil.example"} {
		if status, to, _, _ := h.visit("/20.500.9999/o?urlappend=" + s); status != 400 && !strings.HasPrefix(to, "https://example.org/") {
			t.Errorf("urlappend=%s: got %d to %q", s, status, to)
		}
	}
	if status, to, _, _ := h.visit("/20.500.9999/o?urlappend=/a"); status != 302 || to != "https://example.org/a" {
		t.Errorf("got %d to %q", status, to)
	}
	for _, target := range []string{"javascript:alert(1)", "data:text/html,x", "//evil.example/", "https:evil"} {
		p := placesOf("1/x", []nomen.Value{{Index: 1, Type: typeLocations, Data: `<locations><location href="` + target + `"/></locations>`}}, alone())
		if len(p.all) != 0 {
			t.Errorf("%s is a location", target)
		}
	}
}

func TestAliases(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/end", "URL", "https://example.org/end")
	h.keep("20.500.9999/b", "HS_ALIAS", "20.500.9999/end")
	h.keep("20.500.9999/a", "HS_ALIAS", "20.500.9999/b", "URL", "https://example.org/own")
	h.keep("20.500.9999/loop", "HS_ALIAS", "20.500.9999/loop")
	h.put(&store.Record{Spelling: "hdl:20.500.9999/gone", Status: nomen.Retired, Reason: "new", Successors: []string{"hdl:20.500.9999/end"}})
	for target, want := range map[string]struct {
		status int
		to     string
	}{
		"/20.500.9999/a?urlappend=/x":    {301, "https://hdl.example.org/20.500.9999/end?urlappend=/x"},
		"/20.500.9999/a?ignore_aliases":  {302, "https://example.org/own"},
		"/20.500.9999/loop":              {404, ""},
		"/20.500.9999/gone":              {301, "https://hdl.example.org/20.500.9999/end"},
		"/20.500.9999/gone?noredirect":   {200, ""},
		"/20.500.9999/none?noredirect=x": {404, ""},
	} {
		if status, to, _, _ := h.visit(target); status != want.status || to != want.to {
			t.Errorf("GET %s: got %d to %q, want %d to %q", target, status, to, want.status, want.to)
		}
	}
}

// weightedXML is the example of the specification.
const weightedXML = `<locations chooseby="locatt,country,weighted" http_sc="303">
  <location id="0" href="https://uk.example.org/" country="gb" weight="0"/>
  <location id="1" href="https://a.example.org/" weight="1" rel="item" media-type="text/html"/>
  <location id="2" href_template="https://b.example.org/{hdl}" http_role="conneg" ctype="application/json" weight="0"/>
</locations>`

func TestLocations(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/loc", "10320/loc", weightedXML, "URL", "https://example.org/legacy")
	for _, tt := range []struct {
		query, accept, agent, to string
	}{
		{"", "", "curl/8", "https://a.example.org/"},
		{"?country=GB", "", "curl/8", "https://uk.example.org/"},
		{"?country=fr", "", "curl/8", "https://a.example.org/"},
		{"?locatt=id:0", "", "", "https://uk.example.org/"},
		{"?locatt=id:9", "", "", "https://a.example.org/"},
		{"?locatt=mode:legacy", "", "", "https://example.org/legacy"},
		{"", "application/json", "", "https://b.example.org/20.500.9999%2Floc"},
		{"", "application/json;q=0.5, text/html", "", "https://a.example.org/"},
		{"", "text/html", "Mozilla/5.0", "https://a.example.org/"},
		{"", "application/pdf, application/json;q=0.5", "", "https://a.example.org/"},
	} {
		status, to, _, header := h.visit("/20.500.9999/loc"+tt.query, "Accept", tt.accept, "User-Agent", tt.agent)
		if status != 303 || to != tt.to || header.Get("Vary") != "Accept" {
			t.Errorf("%s with Accept %q: got %d to %q, Vary %q; want 303 to %q", tt.query, tt.accept, status, to, header.Get("Vary"), tt.to)
		}
	}
}

// Each method of choice, without chance.
func TestChoice(t *testing.T) {
	set := func(data string) places {
		return placesOf("1/x", []nomen.Value{{Index: 1, Type: "10320/LOC", Data: data}, {Index: 2, Type: "URL", Data: "https://url.example/"}}, alone())
	}
	const three = `<location href="https://a.example/" weight="1" score="2" addresses="192.0.2.0/24"/><location href="https://b.example/" weight="3" score="5"/><location href="https://c.example/" weight="0"/>`
	for _, tt := range []struct {
		data   string
		random float64
		from   string
		want   string
	}{
		{`<locations chooseby="weighted" no_legacy="yes">` + three + `</locations>`, 0, "", "https://a.example/"},
		{`<locations chooseby="weighted">` + three + `</locations>`, 0.24, "", "https://a.example/"},
		{`<locations chooseby="weighted">` + three + `</locations>`, 0.26, "", "https://b.example/"},
		{`<locations chooseby="weighted">` + three + `</locations>`, 0.99, "", "https://b.example/"},
		{`<locations choose_by="score">` + three + `</locations>`, 0, "", "https://b.example/"},
		{`<locations choose_by="address">` + three + `</locations>`, 0.9, "192.0.2.7", "https://a.example/"},
		{`<locations chooseby="weighted"><location href="https://a.example/" weight="0"/><location href="https://b.example/" weight="-1"/></locations>`, 0.4, "", "https://b.example/"},
		{`<locations chooseby="weighted" urlWeight="4">` + three + `</locations>`, 0.6, "", "https://url.example/"},
		{`<locations chooseby="weighted" urlWeight="x">` + three + `</locations>`, 0.99, "", "https://b.example/"},
		{`<locations no_legacy="yes"></locations>`, 0, "", ""},
		{`<locations`, 0, "", "https://url.example/"},
	} {
		p := set(tt.data)
		from, _ := netip.ParseAddr(tt.from)
		got, _ := p.pick(&visitor{address: from}, func() float64 { return tt.random })
		if got.url != tt.want {
			t.Errorf("%s with %v: got %q, want %q", tt.data, tt.random, got.url, tt.want)
		}
	}
}

// The URL of a redirect is the URI for an IRI.
func TestToURI(t *testing.T) {
	for given, want := range map[string]string{
		"https://bücher.example/ä b?ö=%C3%A4#ü": "https://xn--bcher-kva.example/%C3%A4%20b?%C3%B6=%C3%A4#%C3%BC",
		"https://bücher.example/ä?ö":            "https://xn--bcher-kva.example/%C3%A4?%C3%B6",
		"https://example.org/%2F+a b":           "https://example.org/%2F+a%20b",
		"https://\u202e.example/":               "https://%E2%80%AE.example/",
	} {
		if got := toURI(given); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

// alone returns an includer that finds no other handles.
func alone() *includer {
	return newIncluder("", func(string) (string, []nomen.Value, error) { return "", nil, nil })
}
