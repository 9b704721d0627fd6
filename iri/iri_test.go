package iri

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

// The examples of 3.1, 3.2.1 and 5.3.2.
func TestToURI(t *testing.T) {
	tests := []struct{ in, uri, ascii string }{
		{"http://résumé.example.org", "http://r%C3%A9sum%C3%A9.example.org", "http://xn--rsum-bpad.example.org"},
		{"http://example.com/\U00010300\U00010301\U00010302", "http://example.com/%F0%90%8C%80%F0%90%8C%81%F0%90%8C%82", "http://example.com/%F0%90%8C%80%F0%90%8C%81%F0%90%8C%82"},
		{"http://r%C3%A9sum%C3%A9.example.org/é%20", "http://r%C3%A9sum%C3%A9.example.org/%C3%A9%20", "http://xn--rsum-bpad.example.org/%C3%A9%20"},
		{"http://example.org/a", "http://example.org/a", "http://example.org/a"},
		{"http://[::1]/é", "http://[::1]/%C3%A9", "http://[::1]/%C3%A9"},
		{"urn:é:ß", "urn:%C3%A9:%C3%9F", "urn:%C3%A9:%C3%9F"},
		{"http://納豆.example.org/‐", "http://%E7%B4%8D%E8%B1%86.example.org/%E2%80%90", "http://xn--99zt52a.example.org/%E2%80%90"},
	}
	for _, tt := range tests {
		i, err := Parse(tt.in)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := i.URI().String(); got != tt.uri {
			t.Errorf("URI of %q: got %q, want %q", tt.in, got, tt.uri)
		}
		if got, err := i.ASCIIURI(); err != nil || got.String() != tt.ascii {
			t.Errorf("ASCIIURI of %q: got %q, %v, want %q", tt.in, got, err, tt.ascii)
		}
	}
}

func TestFromURI(t *testing.T) {
	tests := []struct{ in, want string }{
		{"http://www.example.org/D%C3%BCrst", "http://www.example.org/Dürst"},
		{"http://www.example.org/D%FCrst", "http://www.example.org/D%FCrst"},
		{"http://xn--99zt52a.example.org/%e2%80%ae", "http://xn--99zt52a.example.org/%E2%80%AE"},
		{"http://www.example.org/r%E9sum%E9.html", "http://www.example.org/r%E9sum%E9.html"},
		{"http://r%C3%A9sum%C3%A9.example.org/", "http://résumé.example.org/"},
		{"http://a/%2f%25%41%20%7E%5B", "http://a/%2F%25A%20~%5B"},
		{"http://a/%EE%80%80?%EE%80%80#%EE%80%80", "http://a/%EE%80%80?\uE000#%EE%80%80"},
		{"http://a/%C3%A9%C3", "http://a/é%C3"},
		{"http://a/%C3", "http://a/%C3"},
		{"http://a/%ED%A0%80%C0%80", "http://a/%ED%A0%80%C0%80"},
		{"http://a/%C2%A0%E3%80%80%E2%80%8D", "http://a/%C2%A0%E3%80%80\u200D"},
		{"http://a/%F4%90%80%80%F0%9F%BF%BE", "http://a/%F4%90%80%80%F0%9F%BF%BE"},
	}
	for _, tt := range tests {
		u := uri.MustParse(tt.in)
		got := FromURI(u)
		if got.String() != tt.want {
			t.Errorf("FromURI(%q): got %q, want %q", tt.in, got, tt.want)
		}
		if !uri.Equivalent(got.URI(), u, uri.LevelPercent) {
			t.Errorf("FromURI(%q) maps back to %q", tt.in, got.URI())
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		in   string
		off  int
		rule string
	}{
		{"http://é/ b", 10, "ipchar"},
		{"http://a/é%2", 11, "pct-encoded"},
		{"http://a/\u200E", 9, "4.1"},
		{"http://a/\u202E", 9, "4.1"},
		{"http://a/\uE000", 9, "ucschar"},
		{"http://a/?b#\uE000", 12, "ifragment"},
		{"http://a/?\uFDD0", 10, "iquery"},
		{"http://a/\x80", 9, "ucschar"},
		{"http://a/\uFFFD", 9, "ucschar"},
		{"http://a/\u0080", 9, "ucschar"},
		{"http://a/\U0001FFFE", 9, "ucschar"},
		{"http://a/\U000E0001", 9, "ucschar"},
		{"http://[é]/", 7, "IP-literal"},
		{"http://a:é/", 9, "port"},
		{"é:b", 2, "isegment-nz-nc"},
		{"hé:b", 3, "isegment-nz-nc"},
		{"http://é@é@/", 12, "ireg-name"},
	}
	for _, tt := range tests {
		_, err := ParseReference(tt.in)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.off || e.Rule != tt.rule || !strings.Contains(e.Error(), "offset") {
			t.Errorf("ParseReference(%q): %v, want offset %d, rule %s", tt.in, err, tt.off, tt.rule)
		}
	}
	var e *Error
	if _, err := Parse("é/b"); !errors.As(err, &e) || e.Code != uri.CodeNoScheme {
		t.Errorf("Parse of a reference: %v", err)
	}
	if _, err := Parse("x:" + strings.Repeat("é", uri.MaxLength/2)); !errors.As(err, &e) || e.Code != uri.CodeTooLong {
		t.Errorf("Parse of too much: %v", err)
	}
}

func TestComponents(t *testing.T) {
	i := MustParse("http://ü%41:x@é.example:80/ß/%20?ö=\uE000#ä")
	want := map[uri.Component]string{
		uri.ComponentScheme: "http", uri.ComponentAuthority: "ü%41:x@é.example:80", uri.ComponentUserinfo: "ü%41:x",
		uri.ComponentHost: "é.example", uri.ComponentPort: "80", uri.ComponentPath: "/ß/%20",
		uri.ComponentQuery: "ö=\uE000", uri.ComponentFragment: "ä",
	}
	for c, want := range want {
		if got, ok := i.Get(c); !ok || got != want {
			t.Errorf("%s: got %q, want %q", c, got, want)
		}
	}
	if i.Path() != "/ß/%20" || i.HostKind() != uri.HostName || i.IsReference() || !i.IsValid() {
		t.Error("accessors")
	}
	for _, f := range []func() (string, bool){i.Scheme, i.Authority, i.Userinfo, i.Host, i.Port, i.Query, i.Fragment} {
		if s, ok := f(); s == "" || !ok {
			t.Error("an accessor finds nothing")
		}
	}
	if _, ok := MustParse("a:é").Authority(); ok {
		t.Error("an authority")
	}
	if got, ok := MustParse("http://é/?#").Query(); got != "" || !ok {
		t.Errorf("empty query: %q, %v", got, ok)
	}
	if (IRI{}).IsValid() || (IRI{}).String() != "" {
		t.Error("the zero IRI is something")
	}
}

func TestNormalize(t *testing.T) {
	tests := []struct {
		in   string
		l    uri.Level
		want string
	}{
		{"HTTP://É.Example/%c3%a9", uri.LevelString, "HTTP://É.Example/%c3%a9"},
		{"HTTP://É.Example/%c3%a9É", uri.LevelCase, "http://É.example/%C3%A9É"},
		{"HTTP://Example/%c3%a9%7e", uri.LevelPercent, "http://example/é~"},
		{"http://example.org/ß/../%7euser", uri.LevelPath, "http://example.org/~user"},
		{"http://example.org:80/é", uri.LevelScheme, "http://example.org/é"},
	}
	http := uri.SchemeRules{Scheme: "http", DefaultPort: "80", RootPath: true}
	for _, tt := range tests {
		i := MustParse(tt.in)
		if got := i.Normalize(tt.l, http); got.String() != tt.want {
			t.Errorf("Normalize(%q, %s): got %q, want %q", tt.in, tt.l, got, tt.want)
		}
		if !Equivalent(i, MustParse(tt.want), tt.l, http) {
			t.Errorf("%q and %q are not equivalent at level %s", tt.in, tt.want, tt.l)
		}
	}
	// 5.3.2.2: characters are not normalised by comparison.
	composed, decomposed := MustParse("http://www.example.org/résumé.html"), MustParse("http://www.example.org/re\u0301sume\u0301.html")
	if Equivalent(composed, decomposed, uri.LevelScheme) || Equivalent(IRI{}, IRI{}, uri.LevelString) {
		t.Error("equivalent")
	}
	if got, err := decomposed.NFC(); err != nil || got != composed {
		t.Errorf("NFC: %q, %v", got, err)
	}
	if got, err := composed.NFC(); err != nil || got != composed {
		t.Errorf("NFC: %q, %v", got, err)
	}
}

func TestResolve(t *testing.T) {
	base := MustParse("http://é/ß/%C3%9F/d?q")
	for ref, want := range map[string]string{
		"ü":         "http://é/ß/%C3%9F/ü",
		"../%c3%bc": "http://é/ß/%c3%bc",
		"?ö":        "http://é/ß/%C3%9F/d?ö",
		"#ä":        "http://é/ß/%C3%9F/d?q#ä",
		"//à/%41":   "http://à/%41",
	} {
		r, err := ParseReference(ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := base.Resolve(r)
		if err != nil || got.String() != want {
			t.Errorf("Resolve(%q): got %q, %v, want %q", ref, got, err, want)
		}
		back, ok := base.Relativize(got)
		if again, err := base.Resolve(back); !ok || err != nil || again != got {
			t.Errorf("Relativize(%q): %q, %v", got, back, ok)
		}
	}
	if _, err := (IRI{}).Resolve(base); err == nil {
		t.Error("the zero IRI is a base")
	}
}

// 4.2, on a text in Hebrew letters.
func TestInspect(t *testing.T) {
	tests := []struct {
		in   string
		code uri.FindingCode
		off  int
	}{
		{"http://a/\u05D0b", FindingMixedDirection, 9},
		{"http://a/\u05D0\u05D11", FindingRTLEnds, 9},
		{"http://a/1\u05D0", FindingRTLEnds, 9},
		{"http://a/e\u0301", FindingNotNFC, 9},
		{"http://a.\u0300é/", FindingIDNA, 7},
	}
	for _, tt := range tests {
		found := MustParse(tt.in).Inspect()
		n := slices.IndexFunc(found, func(f uri.Finding) bool { return f.Code == tt.code })
		if n < 0 || found[n].Offset != tt.off {
			t.Errorf("Inspect(%q): %+v, want %s at %d", tt.in, found, tt.code, tt.off)
		}
	}
	for _, s := range []string{"http://a/\u05D0\u05D1/c?d", "http://\u05D0.example/\u05D01\u05D1", "http://é/"} {
		if found := MustParse(s).Inspect(); len(found) > 0 {
			t.Errorf("Inspect(%q): %+v", s, found)
		}
	}
}

func TestUnicodeHost(t *testing.T) {
	for in, want := range map[string]string{
		"http://xn--99zt52a.example.org/": "納豆.example.org", "http://é/": "é", "http://[::1]/": "[::1]", "http://xn--a/": "xn--a",
	} {
		if got, ok := MustParse(in).UnicodeHost(); !ok || got != want {
			t.Errorf("UnicodeHost of %q: got %q, want %q", in, got, want)
		}
	}
}

func TestText(t *testing.T) {
	in := MustParse("http://é/")
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out IRI
	if err := json.Unmarshal(data, &out); err != nil || out != in {
		t.Errorf("Unmarshal: %q, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`" "`), &out); err == nil || out != in {
		t.Errorf("Unmarshal of nonsense: %q, %v", out, err)
	}
	if got := MustParse("http://u:ß@é/").LogValue().String(); got != "http://u:***@%C3%A9/" {
		t.Errorf("LogValue: %q", got)
	}
}

func TestMustParse(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustParse(" ")
}

// check checks what holds for every IRI.
func check(t *testing.T, s string) {
	t.Helper()
	i, err := ParseReference(s)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Offset > len(s) || e.Rule == "" {
			t.Errorf("ParseReference(%q): %v", s, err)
		}
		return
	}
	if i.String() != s {
		t.Errorf("%q is printed %q", s, i)
	}
	again, err := ParseReference(i.URI().String())
	if err != nil || again.URI() != i.URI() {
		t.Errorf("mapping %q twice: %q, %v", s, again.URI(), err)
	}
	back := FromURI(i.URI())
	if !back.IsValid() || !uri.Equivalent(back.URI(), i.URI(), uri.LevelPercent) {
		t.Errorf("FromURI(%q) = %q", i.URI(), back)
	}
	var b strings.Builder
	if scheme, ok := i.Scheme(); ok {
		b.WriteString(scheme + ":")
	}
	if a, ok := i.Authority(); ok {
		b.WriteString("//" + a)
	}
	b.WriteString(i.Path())
	if q, ok := i.Query(); ok {
		b.WriteString("?" + q)
	}
	if f, ok := i.Fragment(); ok {
		b.WriteString("#" + f)
	}
	if b.String() != s {
		t.Errorf("the components of %q make %q", s, b.String())
	}
	for l := uri.LevelString; l <= uri.LevelScheme; l++ {
		n := i.Normalize(l)
		if n.Normalize(l) != n || !Equivalent(i, n, l) {
			t.Errorf("Normalize(%q, %s) = %q", s, l, n)
		}
	}
	i.Inspect()
	_, _ = i.UnicodeHost()
}

func TestProperties(t *testing.T) {
	pieces := []string{"é", "%C3%A9", "%c3", "a", "A", ":", "/", "//", "..", "?", "#", "@", "\uE000", "%41", "x:", "http://", "ß", "\u05D0", "[", "%25", "%2541"}
	r := rand.New(rand.NewPCG(39, 87))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		check(t, b.String())
	}
}

func FuzzParse(f *testing.F) {
	f.Add("http://é@ß:1/%C3%A9?\uE000#ä")
	f.Add("http://xn--99zt52a/%E2%80%AE")
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}
