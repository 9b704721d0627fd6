package handle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// loc returns a value of the type 10320/loc whose set has attributes and content.
func loc(attributes, content string) nomen.Value {
	return nomen.Value{Index: 1, Type: typeLocations, Data: "<locations " + attributes + ">" + content + "</locations>", TTL: "60"}
}

// at returns a location in XML.
func at(host string) string { return `<location href="https://` + host + `.example/"/>` }

// pointer returns an HS_NAMESPACE value that names handles with locations.
func pointer(content string) nomen.Value {
	return nomen.Value{Index: 2, Type: typeNamespace, Data: "<namespace>" + content + "</namespace>"}
}

// TestIncludes checks which locations a handle gets from other handles: the attributes include,
// includeNamespace, nshdl, no_nslocs and overridePrefix of 10320/loc, and HS_NAMESPACE values
// (dialects.md, 1.7).
func TestIncludes(t *testing.T) {
	const self = "20.500.9999/x"
	others := map[string][]nomen.Value{
		"1/a":        {loc("", at("a")), {Index: 3, Type: "URL", Data: "https://url-of-a.example/"}},
		"1/b":        {loc("", at("b"))},
		"1/ab":       {loc(`include="1/a"`, at("ab")+"<include> 1/b </include>")},
		"1/loop":     {loc(`include="1/pool"`, at("loop"))},
		"1/pool":     {loc(`include="1/loop"`, at("pool")+"<include>"+self+"</include>")},
		"1/no":       {loc(`no_legacy="yes"`, at("no"))},
		"1/stop":     {loc(`no_nslocs="1"`, "")},
		"1/over":     {loc(`overridePrefix="0.NA/7"`, "")},
		"1/chooser":  {loc(`choose_by="score" http_sc="307"`, at("chooser"))},
		"1/broken":   {{Index: 1, Type: typeLocations, Data: "<locations"}, {Index: 2, Type: typeLocations, Data: "AAAA", Format: nomen.FormatBase64}},
		"1/template": {loc("", `<location href_template="https://t.example/{hdl:path}?{hdl}"/>`)},
		"1/old":      {loc("", `<LOC_TEMPLATE href="https://old.example/"/><other href="https://other.example/"/>`)},
		"0.NA/7":     {pointer("<locs>1/b</locs>"), loc("", at("seven"))},
		"0.NA/8":     {pointer("<locs>0.NA/8</locs>"), loc("", at("eight"))},
		"0.NA/30.5":  {pointer(`<locs>1/a</locs>`)},
		"0.NA/30":    {pointer(`<locs>1/b</locs>`)},
		"0.NA/31.5":  {pointer(`<locs no_nslocs="yes">1/a</locs>`)},
		"0.NA/31":    {pointer(`<locs>1/b</locs>`)},
		"0.NA/32":    {pointer(`<locs>1/ab</locs>`)},
	}
	url := nomen.Value{Index: 9, Type: "URL", Data: "https://own.example/"}
	for _, tt := range []struct {
		what   string
		handle string
		values []nomen.Value
		want   string // hosts of the locations, in order
	}{
		{"attribute", self, []nomen.Value{loc(`include="1/a"`, at("x")), url}, "x a own"},
		{"elements, in order, each once", self, []nomen.Value{loc("", "<include>1/b</include><include>1/a</include><include>1/b</include>")}, "b a"},
		{"several sets", self, []nomen.Value{loc(`include="1/a"`, at("x")), loc(`include="1/b"`, at("y"))}, "x y a b"},
		{"indirect", self, []nomen.Value{loc(`include="1/ab"`, "")}, "ab a b"},
		{"cycle", self, []nomen.Value{loc(`include="1/loop"`, at("x"))}, "x loop pool"},
		{"itself", self, []nomen.Value{loc(`include="`+self+`"`, at("x"))}, "x"},
		{"missing", self, []nomen.Value{loc(`include="1/none"`, at("x"))}, "x"},
		{"empty", self, []nomen.Value{loc(`include=""`, "<include/>"+at("x"))}, "x"},
		{"not XML", self, []nomen.Value{loc(`include="1/broken"`, at("x"))}, "x"},
		{"settings of an included set", self, []nomen.Value{loc(`include="1/no"`, at("x")), url}, "x no"},
		{"own settings take precedence", self, []nomen.Value{loc(`include="1/no" no_legacy="no"`, at("x")), url}, "x no own"},
		{"template of the handle asked for", "20.500.9999/ä x", []nomen.Value{loc(`include="1/template"`, "")}, "t"},
		{"names of elements", self, []nomen.Value{loc(`include="1/old"`, "")}, "old"},
		{"only URL values", self, []nomen.Value{url}, "own"},
		{"includeNamespace", self, []nomen.Value{loc(`includeNamespace="0.NA/7"`, at("x"))}, "x b"},
		{"includeNamespace before include", self, []nomen.Value{loc(`include="1/a"`, "<includeNamespace>0.NA/7</includeNamespace>")}, "b a"},
		{"a prefix handle with locations", self, []nomen.Value{loc(`includeNamespace="0.NA/8"`, "")}, "eight"},
		{"nshdl", self, []nomen.Value{loc(`nshdl="1/a"`, at("x")), url}, "x own a"},
		{"nshdl of an included set has no effect", self, []nomen.Value{loc(`include="1/q"`, at("x"))}, "x"},
		{"no_nslocs", self, []nomen.Value{loc(`nshdl="1/a" no_nslocs="yes"`, at("x"))}, "x"},
		{"no_nslocs included", self, []nomen.Value{loc(`nshdl="1/a" include="1/stop"`, at("x"))}, "x"},
		{"no_nslocs without a meaning", self, []nomen.Value{loc(`nshdl="1/a" no_nslocs=""`, at("x"))}, "x a"},
		{"overridePrefix", self, []nomen.Value{loc(`nshdl="1/a" overridePrefix="0.NA/7"`, at("x"))}, "x b"},
		{"overridePrefix included", self, []nomen.Value{loc(`nshdl="1/a" include="1/over"`, at("x"))}, "x b"},
		{"overridePrefix without locations", self, []nomen.Value{loc(`nshdl="1/a" overridePrefix="0.NA/none"`, at("x"))}, "x"},
		{"namespace and the one around it", "30.5/x", []nomen.Value{url}, "own a b"},
		{"namespace without the one around it", "31.5/x", []nomen.Value{url}, "own a"},
		{"namespace that includes", "32/x", []nomen.Value{url}, "own ab a b"},
		{"namespace before nshdl", "32/x", []nomen.Value{loc(`nshdl="0.NA/8"`, "")}, "ab a b"},
	} {
		in := newIncluder(self, func(handle string) (string, []nomen.Value, error) { return handle, others[handle], nil })
		p := placesOf(tt.handle, tt.values, in)
		var hosts []string
		for _, l := range p.all {
			host, _, _ := strings.Cut(strings.TrimPrefix(l.url, "https://"), ".example")
			hosts = append(hosts, host)
		}
		if got := strings.Join(hosts, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
		if tt.what == "template of the handle asked for" && p.all[0].url != "https://t.example/20.500.9999/%C3%A4%20x?20.500.9999%2F%C3%A4+x" {
			t.Errorf("%s: got %s", tt.what, p.all[0].url)
		}
	}
	// The handle itself says how to choose; after it, its namespace does; an included set does not.
	for _, tt := range []struct{ attributes, choose, status string }{
		{`include="1/chooser"`, "locatt address country score weighted", ""},
		{`nshdl="1/chooser"`, "score", "307"},
		{`nshdl="1/chooser" chooseby=" Weighted, Country" http_sc="303"`, "score", "303"},
	} {
		in := newIncluder(self, func(handle string) (string, []nomen.Value, error) { return handle, others[handle], nil })
		p := placesOf(self, []nomen.Value{loc(tt.attributes, at("x"))}, in)
		if got := strings.Join(p.choose, " "); got != tt.choose || p.status != tt.status {
			t.Errorf("%s: got %q with status %q, want %q with %q", tt.attributes, got, p.status, tt.choose, tt.status)
		}
	}
}

// Links and header fields of included handles are sent. Those of a namespace can be turned off
// (dialects.md, 1.7).
func TestIncludedFields(t *testing.T) {
	others := map[string][]nomen.Value{
		"1/a": {
			{Index: 1, Type: typeLocations, Data: `<locations><location href="https://a.example/" rel="item"/></locations>`},
			{Index: 2, Type: typeLinks, Data: `<locations><location href="https://a.example/l" rel="license"/></locations>`},
			{Index: 3, Type: typeHeaders, Data: "X-Robots-Tag: none\nSet-Cookie: a=b"},
		},
	}
	const everything = "X-Robots-Tag: none, item, license"
	for _, tt := range []struct{ attributes, more, want string }{
		{`include="1/a"`, "", everything},
		{`nshdl="1/a"`, "", everything},
		{`nshdl="1/a" suppressNsHeaders="yes"`, "", ""},
		{`nshdl="1/a" suppressNsHeadersIfLocalHeaders="yes"`, "", everything},
		{`nshdl="1/a" suppressNsHeadersIfLocalHeaders="yes"`, "Sunset: x", ""},
		{`include="1/a" suppressNsHeaders="yes"`, "", everything},
	} {
		values := []nomen.Value{loc(tt.attributes, at("x"))}
		if tt.more != "" {
			values = append(values, nomen.Value{Index: 2, Type: typeHeaders, Data: tt.more})
		}
		p := placesOf("1/x", values, newIncluder("1/x", func(handle string) (string, []nomen.Value, error) { return handle, others[handle], nil }))
		h := http.Header{}
		addFields(h, &p)
		var got []string
		if robots := h.Get("X-Robots-Tag"); robots != "" {
			got = append(got, "X-Robots-Tag: "+robots)
		}
		for _, l := range h.Values("Link") {
			_, rel, _ := strings.Cut(l, `rel="`)
			got = append(got, strings.TrimSuffix(rel, `"`))
		}
		if text := strings.Join(got, ", "); text != tt.want || h.Get("Set-Cookie") != "" {
			t.Errorf("%s: got %q, want %q", tt.attributes, text, tt.want)
		}
	}
}

// What a handle includes has a limit: depth, handles read, bytes, and locations.
func TestIncludeLimits(t *testing.T) {
	for _, tt := range []struct {
		what   string
		values func(handle string) []nomen.Value
		places int
		reads  int
	}{
		{"a chain", func(handle string) []nomen.Value {
			return []nomen.Value{loc(`include="`+handle+`+"`, at("x"))}
		}, 1 + maxIncludeDepth, maxIncludeDepth},
		{"each includes two", func(handle string) []nomen.Value {
			return []nomen.Value{loc("", at("x")+"<include>"+handle+"0</include><include>"+handle+"1</include>")}
		}, 1 + maxIncludeReads, maxIncludeReads},
		{"each includes a thousand that do not exist", func(handle string) []nomen.Value {
			if handle != "1/" {
				return nil
			}
			var b strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&b, "<include>1/%d</include>", i)
			}
			return []nomen.Value{loc("", at("x")+b.String())}
		}, 1, maxIncludeReads},
		{"many bytes", func(handle string) []nomen.Value {
			return []nomen.Value{loc("", at(strings.Repeat("x", 20_000))+"<include>"+handle+"0</include><include>"+handle+"1</include>")}
		}, 1 + maxIncludedBytes/20_100, 1 + maxIncludedBytes/20_100},
		{"many locations", func(handle string) []nomen.Value {
			return []nomen.Value{loc("", strings.Repeat(`<location href="u://x"/>`+at("x"), 700)+"<include>"+handle+"0</include><include>"+handle+"1</include>")}
		}, maxPlaces, 5},
	} {
		in := newIncluder("1/", func(handle string) (string, []nomen.Value, error) { return handle, tt.values(handle), nil })
		p := placesOf("1/", tt.values("1/"), in)
		if len(p.all) != tt.places || in.reads > maxIncludeReads || in.reads < tt.reads || in.bytes > maxIncludedBytes+store.MaxText {
			t.Errorf("%s: got %d locations by reading %d handles with %d bytes, want %d locations, %d handles", tt.what, len(p.all), in.reads, in.bytes, tt.places, tt.reads)
		}
	}
}

// failingStore cannot read certain names.
type failingStore struct {
	store.Reader
	failing string
}

// TestIncludesOfServer checks that an included handle is read like any other: nothing of it is sent
// if it is not public, not active, or outside the dialect, and a change has an effect at once.
func TestIncludesOfServer(t *testing.T) {
	h := newHarness(t)
	shared := func(handle, host string) {
		h.keep(handle, typeLocations, "<locations>"+at(host)+"</locations>", "URL", "https://url.example/")
	}
	shared("20.500.9999/shared", "shared")
	asks := func(handle, attributes string) {
		h.keep(handle, typeLocations, "<locations no_legacy='yes' "+attributes+"/>", "URL", "https://own.example/")
	}
	asks("20.500.9999/i", "include='20.500.9999/shared'")
	want := func(target, where string) {
		t.Helper()
		status, to, _, header := h.visit(target)
		if to != where || (where == "") != (status == 200) {
			t.Errorf("GET %s: got %d to %q, want %q", target, status, to, where)
		}
		if cached := header.Get("Expires"); where != "" && cached != h.clock.Add(time.Minute).Format(http.TimeFormat) {
			t.Errorf("GET %s: got Expires %q", target, cached)
		}
	}
	want("/20.500.9999/i", "https://shared.example/")
	want("/20.500.9999/i?type=URL", "https://own.example/")
	if got := h.text(h.do("GET", "/resolve/20.500.9999/i", "", "")); got != `["https://shared.example/"]` {
		t.Errorf("a repository gets %s", got)
	}
	if _, _, body, _ := h.visit("/20.500.9999/i?action=showurls"); body != `<locations><location href="https://shared.example/" weight="1.0"/></locations>` {
		t.Errorf("action=showurls: got %s", body)
	}
	if body := h.text(h.do("GET", base+"20.500.9999/i", "", "")); strings.Contains(body, "shared.example") || !strings.Contains(body, `include=\"20.500.9999/shared\"`) {
		t.Errorf("the values in the API: got %s", body)
	}

	// A change of the included handle has an effect at once, and so has its end.
	h.want("PUT", base+"20.500.9999/shared?index=1", asEditor, `[{"index":1,"type":"10320/loc","data":"<locations><location href='https://moved.example/'/></locations>","ttl":60}]`, 200, `{"responseCode":1,"handle":"20.500.9999/shared"}`)
	want("/20.500.9999/i", "https://moved.example/")
	h.want("PUT", base+"20.500.9999/shared?index=1", asEditor, `[{"index":1,"type":"10320/loc","data":"<locations><location href='https://hidden.example/'/></locations>","permissions":"1100"}]`, 200, `{"responseCode":1,"handle":"20.500.9999/shared"}`)
	want("/20.500.9999/i", "")
	h.want("DELETE", base+"20.500.9999/shared", asEditor, "", 200, `{"responseCode":1,"handle":"20.500.9999/shared"}`)
	want("/20.500.9999/i", "")

	// Handles that do not exist for the public: reserved, of an authority that denies access, replaced,
	// outside the scope of the dialect. Credentials make no difference.
	secret := []nomen.Location{{URL: "https://secret.example/", Index: 1}}
	set := []nomen.Value{{Index: 1, Type: typeLocations, Data: "<locations/>"}}
	h.put(&store.Record{Spelling: "hdl:20.500.9999/draft", Status: nomen.Reserved, Locations: secret, Values: set})
	h.put(&store.Record{Spelling: "hdl:20.500.7777/closed", Status: nomen.Active, Locations: secret, Values: set})
	h.put(&store.Record{Spelling: "hdl:20.500.6666/elsewhere", Status: nomen.Active, Locations: secret, Values: set})
	h.put(&store.Record{Spelling: "hdl:20.500.9999/old", Status: nomen.Retired, Reason: "x", Successors: []string{"hdl:20.500.9999/i"}, Locations: secret, Values: set})
	for i, other := range []string{"20.500.9999/draft", "20.500.7777/closed", "20.500.6666/elsewhere", "20.500.9999/old", "20.500.9999/none", "", "x", "http://127.0.0.1/"} {
		for k, attribute := range []string{"include", "nshdl", "includeNamespace", "overridePrefix"} {
			handle := fmt.Sprintf("20.500.9999/p%d-%d", i, k)
			asks(handle, attribute+"='"+other+"'")
			want("/"+handle, "")
			resp := h.do("GET", "/"+handle, asEditor, "")
			if text := h.text(resp); strings.Contains(text+fmt.Sprint(resp.Header), "secret.example") {
				t.Errorf("%s=%q: the response has a location of it", attribute, other)
			}
		}
	}
}

// If an included handle cannot be read, the redirect must not be cached.
func TestIncludeFails(t *testing.T) {
	h := newHarness(t)
	h.keep("20.500.9999/f", typeLocations, "<locations include='20.500.9999/gone'>"+at("f")+"</locations>")
	h.server.store = &failingStore{h.store, "hdl:20.500.9999/gone"}
	_, to, _, header := h.visit("/20.500.9999/f")
	if to != "https://f.example/" || header.Get("Cache-Control") != "no-cache" || header.Get("Expires") != "" {
		t.Errorf("got %q with %v", to, header)
	}
}

// TestNamespaceOfServer checks that prefix handles of this server give their handles locations.
func TestNamespaceOfServer(t *testing.T) {
	h := newHarness(t)
	h.server.scope = slices.Concat(h.server.scope, []name.Prefix{name.MustParsePrefix("hdl:0.NA")})
	h.keep("20.500.9999/n", "URL", "https://own.example/n")
	h.put(&store.Record{Spelling: "hdl:0.NA/20.500", Status: nomen.Active, Values: []nomen.Value{
		{Index: 1, Type: typeNamespace, Data: "<namespace><locs>20.500.9999/template</locs></namespace>"},
	}})
	h.keep("20.500.9999/template", typeLocations, `<locations choose_by="locatt"><location href_template="https://mirror.example/{hdl}" id="m"/></locations>`)
	if _, to, _, _ := h.visit("/20.500.9999/n?locatt=id:m"); to != "https://mirror.example/20.500.9999%2Fn" {
		t.Errorf("got %q", to)
	}
}

// errDisk is the error of a failing store.
var errDisk = errors.New("disk")

func (s *failingStore) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	if n.Key() == s.failing {
		return nil, errDisk
	}
	return s.Reader.Get(ctx, n, at)
}
