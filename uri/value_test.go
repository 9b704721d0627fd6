package uri

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// Allocations promised in the documentation.
func TestAllocations(t *testing.T) {
	urls := []string{
		"http://user:pw@www.example.com:8080/a/b/c;d?e=f#g", "urn:isbn:0451450523", "http://[::1]/%41", "../x?y#z",
		"HTTP://A.EXAMPLE:80/%7e/../b/./c",
		"HTTP://A.EXAMPLE:80/%7e/../b/./" + strings.Repeat("long/", 1000), "../" + strings.Repeat("long/", 1000),
	}
	bad := []string{"http://a b/", "http://[::1", "1a:b", "a%zz"}
	rules := []SchemeRules{httpRules}
	for d := Draft1993; d.IsValid(); d++ {
		for _, s := range slices.Concat(urls, bad) {
			if n := testing.AllocsPerRun(10, func() { d.Check(s) }); n != 0 {
				t.Errorf("%s: Check(%q) allocates %v times", d, s, n)
			}
			u, err := d.ParseReference(s)
			if err != nil {
				continue
			}
			none := map[string]func(){
				"ParseReference": func() { d.ParseReference(s) },
				"accessors": func() {
					for c := ComponentScheme; c <= ComponentFragment; c++ {
						u.Get(c)
					}
					u.Addr()
				},
				"Equivalent": func() { Equivalent(u, u.WithoutFragment(), LevelScheme, rules...) },
				"Compare":    func() { Compare(u, u.WithoutFragment(), rules...) },
			}
			if _, ok := u.Scheme(); ok {
				none["Parse"] = func() { d.Parse(s) }
			}
			normal := u.Normalize(LevelScheme, rules...)
			none["Normalize of normal"] = func() { normal.Normalize(LevelScheme, rules...) }
			for name, f := range none {
				if n := testing.AllocsPerRun(10, f); n != 0 {
					t.Errorf("%s: %s of %q allocates %v times", d, name, s, n)
				}
			}
			if n := testing.AllocsPerRun(10, func() { u.Normalize(LevelScheme, rules...) }); n > 1 {
				t.Errorf("%s: Normalize(%q) allocates %v times", d, s, n)
			}
			base := mustReference(t, d, "http://a/b/c/d;p")
			if _, err := base.Resolve(u); err != nil {
				continue
			}
			if n := testing.AllocsPerRun(10, func() { base.Resolve(u) }); n > 1 {
				t.Errorf("%s: Resolve(%q) allocates %v times", d, s, n)
			}
		}
	}
}

// Inputs of 1 MiB, of any shape, take linear time: a quadratic algorithm would
// not finish this test.
func TestLinearTime(t *testing.T) {
	size := testrun.Repeats(1<<20, 1<<15)
	for _, piece := range []string{
		"a", "/", "../", "./", "a/../", "a/", ":", "@", "%41", "%2e/", "[", "]", "[::1]", "?", "#", "a.", "1.", "+", "xn--", "%00", "//", ";",
	} {
		for i, head := range []string{"", "x:", "http://h/", "http://", "x://u@", "//[", "wais://h/", "prospero://h/", "x:?", "x:#"} {
			s := head + strings.Repeat(piece, size/len(piece))
			for d := Draft1993; d.IsValid(); d++ {
				if head == "http://h/" || int(d) == 1+i%4 { // the other heads in turn
					everything(d, s)
				}
			}
		}
	}
}

// everything applies every operation to s.
func everything(d Dialect, s string) {
	u, err := d.ParseReference(s)
	if err != nil {
		return
	}
	v := u.Normalize(LevelScheme, httpRules)
	Equivalent(u, v, LevelScheme, httpRules)
	base, err := d.Parse("http://a/b/c")
	if err != nil {
		return
	}
	_, _ = base.Resolve(u)
	base.Relativize(u)
	u.Relativize(base)
}

func TestTooLong(t *testing.T) {
	s := "x:" + strings.Repeat("a", MaxLength-2)
	if _, err := Parse(s); err != nil {
		t.Errorf("Parse of MaxLength bytes: %v", err)
	}
	var e *Error
	if _, err := Parse(s + "a"); !errors.As(err, &e) || e.Code != CodeTooLong || e.Offset != MaxLength || len(e.Error()) > 300 {
		t.Errorf("Parse of more than MaxLength bytes: %v", err)
	}
	base := MustParse("http://a/" + strings.Repeat("b", MaxLength/2) + "/")
	ref := mustReference(t, Latest, strings.Repeat("c", MaxLength/2+1))
	if _, err := base.Resolve(ref); !errors.As(err, &e) || e.Code != CodeTooLong {
		t.Error("Resolve gives a URI of more than MaxLength bytes")
	}
}

func TestZeroValue(t *testing.T) {
	var u URI
	if u.IsValid() || u.IsReference() || u.String() != "" || u.Dialect().IsValid() {
		t.Errorf("the zero URI is %#v", u)
	}
	for c := ComponentScheme; c <= ComponentSegment; c++ {
		if s, ok := u.Get(c); ok || s != "" {
			t.Errorf("%s of the zero URI: %q, %v", c, s, ok)
		}
	}
	if Equivalent(u, u, LevelScheme) || u.Normalize(LevelScheme) != u || len(u.Inspect()) != 1 {
		t.Error("the zero URI is something")
	}
	if _, err := u.Resolve(u); !errors.Is(err, ErrNoBase) {
		t.Errorf("Resolve: %v", err)
	}
	if v, err := Dialect(0).Parse("x:"); err == nil || v.IsValid() {
		t.Errorf("Parse by no dialect: %v, %v", v, err)
	}
	if off, code := Dialect(77).Check("x:"); off != 0 || code != CodeDialect {
		t.Errorf("Check by no dialect: %d, %v", off, code)
	}
}

// U03-55: the level of strings compares characters, whatever octets they came
// in, U97-04.
func TestComparable(t *testing.T) {
	a, b := MustParse("http://a/b"), MustParse(string([]byte("http://a/b")))
	seen := map[URI]bool{a: true}
	if a != b || !seen[b] {
		t.Error("equal spellings are different values")
	}
	c, err := Draft2003.Parse("http://a/b")
	if err != nil || a == c || Equivalent(a, c, LevelScheme) {
		t.Error("values of different dialects are equal")
	}
	long := "text with http://a/b in it"
	d := MustParse(long[10:20]).Clone()
	if d != a {
		t.Errorf("Clone: %q", d)
	}
}

func TestMarshalling(t *testing.T) {
	type document struct {
		Link URI
		Map  map[URI]int
	}
	in := document{MustParse("http://a/b?c"), map[URI]int{MustParse("x:y"): 1}}
	data, err := json.Marshal(in)
	if err != nil || string(data) != `{"Link":"http://a/b?c","Map":{"x:y":1}}` {
		t.Fatalf("Marshal: %s, %v", data, err)
	}
	var out document
	if err := json.Unmarshal(data, &out); err != nil || out.Link != in.Link || out.Map[MustParse("x:y")] != 1 {
		t.Errorf("Unmarshal: %v, %v", out, err)
	}
	u := mustReference(t, Draft1997, "1a:b")
	old := u
	if err := u.UnmarshalText([]byte("1b:[")); err == nil || u != old {
		t.Errorf("UnmarshalText of nonsense: %v, %v", u, err)
	}
	if err := u.UnmarshalText([]byte("1b:c")); err != nil || u.Dialect() != Draft1997 {
		t.Errorf("UnmarshalText forgets the dialect: %v", err)
	}
	for _, u := range []URI{{}, MustParse("x:y"), mustReference(t, Draft1993, "http://a/"), mustReference(t, Latest, "")} {
		data, err := u.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var v URI
		if err := v.UnmarshalBinary(data); err != nil || v != u {
			t.Errorf("binary of %q: %v, %v", u, v, err)
		}
	}
	var v URI
	for _, data := range [][]byte{nil, {9, 'x'}, {4, ' '}} {
		if err := v.UnmarshalBinary(data); err == nil {
			t.Errorf("UnmarshalBinary(%q) = %v", data, v)
		}
	}
}

func TestDatabase(t *testing.T) {
	var u URI
	if v, err := u.Value(); v != nil || err != nil {
		t.Errorf("Value of the zero URI: %v, %v", v, err)
	}
	for _, src := range []any{"x:y", []byte("x:y")} {
		if err := u.Scan(src); err != nil || u != MustParse("x:y") {
			t.Errorf("Scan(%v): %v, %v", src, u, err)
		}
	}
	if v, err := u.Value(); v != "x:y" || err != nil {
		t.Errorf("Value: %v, %v", v, err)
	}
	if err := u.Scan(5); err == nil {
		t.Error("Scan of a number")
	}
	if err := u.Scan(" "); err == nil || u != MustParse("x:y") {
		t.Errorf("Scan of nonsense: %v, %v", u, err)
	}
	if err := u.Scan(nil); err != nil || u.IsValid() {
		t.Errorf("Scan of NULL: %v, %v", u, err)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		d        Dialect
		in, want string
	}{
		{Latest, "http://a/b c", `uri: "http://a/b c": offset 10: pchar: unexpected ' '; percent-encode it as %20 (rfc3986)`},
		{Latest, "http://a/%2", `uri: "http://a/%2": offset 9: pct-encoded: found '%': a percent sign must be followed by two hexadecimal digits (rfc3986)`},
		{Latest, "a/b", `uri: "a/b": offset 1: scheme: missing scheme, such as https: (rfc3986)`},
		{Latest, "http://a/\xff", `uri: "http://a/\xff": offset 9: pchar: unexpected byte 0xFF; percent-encode it as %FF (rfc3986)`},
		{Draft1997, "x:[", `uri: "x:[": offset 2: path: unexpected '['; percent-encode it as %5B (1997)`},
		{Draft1993, "telnet://h/", `uri: "telnet://h/": offset 10: telnetaddress: found '/': invalid form for this scheme (1993)`},
		{Draft1993, "http://h/?a+", `uri: "http://h/?a+": offset 12: search: found the end: a search must be words joined by plus signs, none of them empty (1993)`},
		{Draft2003, "//[1::2::3]", `uri: "//[1::2::3]": offset 0: scheme: missing scheme, such as https: (2003)`},
		{Latest, strings.Repeat("%", 100), "uri: \"" + strings.Repeat("%", 80) + "\"...: offset 0: scheme: missing scheme, such as https: (rfc3986)"},
	}
	for _, tt := range tests {
		if _, err := tt.d.Parse(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%q): %v, want %s", tt.in, err, tt.want)
		}
	}
	if err := Latest.CheckRule("site", "x"); !errors.Is(err, ErrUnknownRule) {
		t.Errorf("CheckRule of an unknown rule: %v", err)
	}
	if err := Draft1997.CheckRule("site", "u@v@h"); err == nil || !strings.Contains(err.Error(), "offset 3: host") {
		t.Errorf("CheckRule of a site: %v", err)
	}
}

// MustParse panics.
func TestMustParse(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustParse("not a URI")
}

func TestBuilder(t *testing.T) {
	u := MustParse("http://u@h:80/p?q#f")
	tests := []struct {
		c         Component
		raw, want string // want "" is ErrReread, "!" an *Error
	}{
		{ComponentScheme, "https", "https://u@h:80/p?q#f"},
		{ComponentScheme, "1", "!"},
		{ComponentAuthority, "x", "http://x/p?q#f"},
		{ComponentAuthority, "x/y", ""},
		{ComponentUserinfo, "a:b", "http://a:b@h:80/p?q#f"},
		{ComponentUserinfo, "a@b", "!"},
		{ComponentHost, "[::1]", "http://u@[::1]:80/p?q#f"},
		{ComponentHost, "a:1", "!"},
		{ComponentHost, "a/", ""},
		{ComponentPort, "", "http://u@h:/p?q#f"},
		{ComponentPort, "8o", "!"},
		{ComponentPath, "//x", "http://u@h:80//x?q#f"},
		{ComponentPath, "x", "!"},
		{ComponentPath, "/x?y", ""},
		{ComponentQuery, "a?b", "http://u@h:80/p?a?b#f"},
		{ComponentQuery, "a#b", "!"},
		{ComponentFragment, "", "http://u@h:80/p?q#"},
	}
	for _, tt := range tests {
		got, err := u.With(tt.c, tt.raw)
		var e *Error
		switch {
		case tt.want == "" && !errors.Is(err, ErrReread), tt.want == "!" && !errors.As(err, &e):
			t.Errorf("With(%s, %q) = %q, %v", tt.c, tt.raw, got, err)
		case len(tt.want) > 1 && (err != nil || got.String() != tt.want):
			t.Errorf("With(%s, %q) = %q, %v; want %q", tt.c, tt.raw, got, err, tt.want)
		}
	}
	without := map[Component]string{
		ComponentScheme: "//u@h:80/p?q#f", ComponentAuthority: "http:/p?q#f", ComponentUserinfo: "http://h:80/p?q#f",
		ComponentPort: "http://u@h/p?q#f", ComponentPath: "http://u@h:80?q#f", ComponentQuery: "http://u@h:80/p#f",
		ComponentFragment: "http://u@h:80/p?q",
	}
	for c, want := range without {
		if got, err := u.Without(c); err != nil || got.String() != want {
			t.Errorf("Without(%s) = %q, %v; want %q", c, got, err, want)
		}
	}
	if got, err := u.Without(ComponentHost); !errors.Is(err, ErrReread) {
		t.Errorf("Without(host) = %q, %v", got, err)
	}
	for _, b := range []Builder{
		Latest.Build().Set(ComponentPath, "//x"), // a host
		Latest.Build().Set(ComponentScheme, "x").Set(ComponentPath, "//y"),
		Latest.Build().Set(ComponentPort, "80"),
	} {
		if got, err := b.URI(); !errors.Is(err, ErrReread) {
			t.Errorf("built %q, %v", got, err)
		}
	}
	if got, err := Latest.Build().Set(ComponentPath, "a:b").URI(); err == nil { // a scheme
		t.Errorf("built %q", got)
	}
	if got, err := (Builder{}).SetData(ComponentPath, "a b").URI(); err != nil || got.String() != "a%20b" {
		t.Errorf("built %q, %v", got, err)
	}
}

// A Builder with the components of a URI builds the same URI.
func TestBuilderRoundTrip(t *testing.T) {
	for d := Draft1993; d.IsValid(); d++ {
		for _, s := range []string{"", "x:", "http://u:p@h:80/a?b#c", "//h", "?", "#", "a/b", "ftp://h/", "file:///x", "x://a:b:c/d", "foo:[x]"} {
			u, err := d.ParseReference(s)
			if err != nil {
				continue
			}
			if got, err := u.Builder().URI(); err != nil || got != u {
				t.Errorf("%s: Builder of %q makes %q, %v", d, u, got, err)
			}
			var b strings.Builder
			for _, piece := range u.Parts() {
				b.WriteString(piece)
			}
			if b.String() != s {
				t.Errorf("%s: Parts of %q make %q", d, u, b.String())
			}
		}
	}
}

// U97-39, U97-68, U03-12, U03-69.
func TestData(t *testing.T) {
	u := MustParse("http://us%40er@h/a%2Fb;c/%25/?d%3De#%C3%A9")
	var got []string
	for s := range u.Segments() {
		got = append(got, string(s.Data()))
	}
	if want := []string{"a/b;c", "%", ""}; !slices.Equal(got, want) {
		t.Errorf("segments %q, want %q", got, want)
	}
	for c, want := range map[Component]Data{ComponentUserinfo: "us@er", ComponentQuery: "d=e", ComponentFragment: "é"} {
		if got, ok := u.Data(c); !ok || got != want {
			t.Errorf("%s: %q, want %q", c, got, want)
		}
	}
	if got, ok := u.Data(ComponentPath); ok {
		t.Errorf("a path is decoded as a whole: %q", got)
	}
	var roles []string
	for c, piece := range u.Parts() {
		roles = append(roles, fmt.Sprint(c, piece))
	}
	if want := []string{"schemehttp:", "authority//", "userinfous%40er@", "hosth", "path/a%2Fb;c/%25/", "query?d%3De", "fragment#%C3%A9"}; !slices.Equal(roles, want) {
		t.Errorf("parts %q, want %q", roles, want)
	}
	if got := MustParse("ftp://u:secret@h/x").Redacted(); got != "ftp://u:***@h/x" {
		t.Errorf("Redacted: %q", got)
	}
}

// Brackets, "URL:" in them and the white space inside are not part of an
// identifier, and DelimitedOffset maps every other byte to its offset in the input.
func TestUndelimit(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		ok       bool
	}{
		{"<http://a.example/>", "http://a.example/", true},
		{" <\thttp://a.example/\r\n b >\n", "http://a.example/b", true},
		{"<URL:http://a.example/>", "http://a.example/", true},
		{"<url: http://a.example/>", "http://a.example/", true},
		{"< URL :http://a.example/>", "URL:http://a.example/", true}, // no label: it is in one piece
		{"<URL:x>", "URL:x", true},                                   // a scheme of that name
		{"<URN:dns:a.example:x>", "URN:dns:a.example:x", true},
		{"<>", "", true},
		{"<", "<", false},
		{">", ">", false},
		{"<a", "<a", false},
		{"a>", "a>", false},
		{"a <b>", "a <b>", false},
		{" a", " a", false},
		{"URL:http://a.example/", "URL:http://a.example/", false},
		{"<<a>>", "<a>", true},
		{"", "", false},
	} {
		got, ok := Undelimit(tt.in)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Undelimit(%q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
		}
		for at := range len(got) {
			if n := DelimitedOffset(tt.in, at); n >= len(tt.in) || tt.in[n] != got[at] {
				t.Errorf("DelimitedOffset(%q, %d) = %d", tt.in, at, n)
			}
		}
		if end := DelimitedOffset(tt.in, len(got)); end > len(tt.in) || end < len(got) {
			t.Errorf("DelimitedOffset(%q, %d) = %d", tt.in, len(got), end)
		}
	}
}

// TestEscapeText tries the last character of each charset and the first beyond it.
func TestEscapeText(t *testing.T) {
	for _, tt := range []struct {
		d          Dialect
		text, want string // "" for a character outside the charset
	}{
		{Draft1993, "\u00ff", "%FF"}, // U93-31
		{Draft1993, "\u0100", ""},    // U93-32
		{Draft1993, "\u01ff", ""},
		{Draft1993, "\u0141", ""}, // the octet of "A" and a bit more
		{Draft1997, "\x7f", "%7F"},
		{Draft1997, "\u0080", ""},
		{Draft2003, "\x7f", "%7F"},
		{Draft2003, "\u0080", ""},
		{RFC3986, "\u00ff", "%C3%BF"},
		{RFC3986, "\u0100", "%C4%80"},
	} {
		got, err := tt.d.EscapeText(ComponentSegment, "a"+tt.text)
		if tt.want == "" {
			if !errors.Is(err, ErrCharset) || got != "" {
				t.Errorf("%s: %+q: %q, %v, want ErrCharset", tt.d, tt.text, got, err)
			}
			continue
		}
		if err != nil || got != "a"+tt.want {
			t.Errorf("%s: %+q: %q, %v, want %q", tt.d, tt.text, got, err, "a"+tt.want)
		}
	}
}

func TestZones(t *testing.T) {
	const s = "http://[fe80::1%25en%30]:80/"
	if u, err := Parse(s); err == nil {
		t.Errorf("Parse(%q) = %v", s, u)
	}
	u, err := RFC6874.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := u.Addr(); !ok || a != netip.MustParseAddr("fe80::1%en0") {
		t.Errorf("Addr: %v, %v", a, ok)
	}
	for _, bad := range []string{"http://[fe80::1%25]/", "http://[fe80::1%en0]/", "http://[::1%25a]b/", "http://[v1.a%25b]/"} {
		if u, err := RFC6874.Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v", bad, u)
		}
	}
}

// U97-56, U03-41, U03-46 and what the tables leave out.
func TestResolveErrors(t *testing.T) {
	tests := []struct {
		d         Dialect
		base, ref string
		want      error
	}{
		{Latest, "a/b", "c", ErrNoBase},
		{Draft1997, "", "g", ErrNoBase},
		{Draft1997, "http://a/b", "#s", ErrSameDocument},
		{Draft2003, "mailto:a@b", "g", ErrOpaqueBase},
		{Draft2003, "mailto:a@b", "/g", ErrOpaqueBase},
		{Draft2003, "mailto:a@b", "", ErrSameDocument},
		{Draft2003, "foo:/b", "/..//c", nil},
		{Draft2003, "foo:/a/b", "..//c", ErrUnwritable},
		{Draft1997, "foo:/a/b", "..//c", ErrUnwritable},
		{Draft1993, "foo:/a/b", "..//c", ErrUnwritable},
	}
	for _, tt := range tests {
		got, err := mustReference(t, tt.d, tt.base).Resolve(mustReference(t, tt.d, tt.ref))
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: Resolve(%q, %q) = %q, %v; want %v", tt.d, tt.base, tt.ref, got, err, tt.want)
		}
	}
	if _, err := MustParse("x:").Resolve(mustReference(t, Draft1997, "y")); !errors.Is(err, ErrDialects) {
		t.Errorf("Resolve of another dialect: %v", err)
	}
	base := MustParse("http://a/b/c")
	if _, err := (Resolver{Excess: ExcessRefuse}).Resolve(base, mustReference(t, Latest, "../../g")); !errors.Is(err, ErrExcess) {
		t.Errorf("refusing: %v", err)
	}
	if got, err := (Resolver{Excess: ExcessRefuse}).Resolve(base, mustReference(t, Latest, "../g")); err != nil || got.URI.String() != "http://a/g" {
		t.Errorf("refusing: %v, %v", got, err)
	}
	// U03-46, also for http: alone, which is then the empty reference.
	same, err := Resolver{Compatible: true}.Resolve(base, mustReference(t, Latest, "http:"))
	if err != nil || !same.SameDocument || same.URI != base {
		t.Errorf("compatible http: is %+v, %v", same, err)
	}
	for ref, want := range map[string]string{"HTTP:g": "http://a/b/g", "http://x/y": "http://x/y", "http:a:b": "http://a/b/a:b", "http:?y": "http://a/b/c?y", "ftp:g": "ftp:g"} {
		got, err := Resolver{Compatible: true}.Resolve(base, mustReference(t, Latest, ref))
		if err != nil || got.URI.String() != want {
			t.Errorf("compatible Resolve(%q) = %v, %v; want %q", ref, got, err, want)
		}
	}
}

// U97-47, U97-63, U03-39, U93-25: relative forms.
func TestRelativize(t *testing.T) {
	tests := []struct {
		d                  Dialect
		base, target, want string
	}{
		{Latest, "http://a/b/c/d;p?q", "http://a/b/c/g", "g"},
		{Latest, "http://a/b/c/d;p?q", "http://a/b/c/this:that", "./this:that"},
		{Latest, "http://a/b/c/d;p?q", "http://a/b/c/d;p?q", ""},
		{Latest, "http://a/b/c/d;p?q", "http://a/b/c/d;p?q#f", "#f"},
		{Latest, "http://a/b/c/d;p?q", "http://a/b/c/d;p", "d;p"},
		{Latest, "http://a/b/c/d;p?q", "http://a/b/c/", "."},
		{Latest, "http://a/b/c/d;p?q", "http://a/b/", ".."},
		{Latest, "http://a/b/c/d;p?q", "http://a/", "/"},
		{Latest, "http://a/b/c/d;p?q", "http://a", "//a"},
		{Latest, "http://a/b/c/d;p?q", "http://x/b", "//x/b"},
		{Latest, "http://a/b/c/d;p?q", "ftp://a/b", "ftp://a/b"},
		{Latest, "http://a/b/c/d;p?q", "http://a//x", "/.//x"},
		{Latest, "http://a/b/c/d", "http://a/b/c/d?", "?"},
		{Latest, "http://a/b/", "http://a/b/../c", "-"},
		{Latest, "urn:a:b", "urn:a:c", "./a:c"},
		{Draft1997, "http://a/b/c", "http://a/../g", "/../g"},
		{Draft1997, "http://a/b/c", "http://a/b/c", "c"},
		{Draft2003, "http://a/b/c", "http://a/b/c?y", "?y"},
		{Draft1993, "http://a/b/c/d", "http://a/b", "/b"},
		{Draft1993, "http://a/b/c/d", "http://a/b?x", "/b?x"},
		{Draft1993, "http://a/bb/c/d", "http://a/bb", ".."},
		{Draft1993, "http://a/bb/c/d", "http://a/bb/c", "."},
		{Draft1993, "http://a/b/c", "ftp://a/b/d", "ftp://a/b/d"},
		{Draft1993, "http://a/b/c", "http://x/b", "//x/b"},
		{Draft1993, "http://a/b/c", "http://a/b/d", "d"},
	}
	for _, tt := range tests {
		ref, ok := mustReference(t, tt.d, tt.base).Relativize(mustReference(t, tt.d, tt.target))
		got := ref.String()
		if !ok {
			got = "-"
		}
		if got != tt.want {
			t.Errorf("%s: Relativize(%q, %q) = %q, want %q", tt.d, tt.base, tt.target, got, tt.want)
		}
	}
}

func TestChanges(t *testing.T) {
	tests := map[string][]Level{
		"http://a/":                 nil,
		"HTTP://a/":                 {LevelCase},
		"http://a/%7e":              {LevelCase, LevelPercent},
		"http://a/%2f":              {LevelCase},
		"http://a/b/..":             {LevelPath},
		"http://a:80":               {LevelScheme},
		"HTTP://A:80/%7E/../b?%7e#": {LevelCase, LevelPercent, LevelPath, LevelScheme},
	}
	for in, want := range tests {
		got := MustParse(in).Changes(httpRules)
		for l := LevelString; l <= LevelProtocol; l++ {
			if got.Has(l) != slices.Contains(want, l) {
				t.Errorf("Changes(%q).Has(%s) = %v", in, l, got.Has(l))
			}
		}
	}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		a, b string
		want string
	}{
		{"http://a/", "http://a/", "string"},
		{"HTTP://a/", "http://A/", "case"},
		{"http://a/%7E", "http://a/~", "percent"},
		{"http://a/b/../%7e", "http://a/~", "path"},
		{"http://a:80", "http://a/", "scheme"},
		{"http://a:080", "http://a/", "scheme"},
		{"http://a/old", "http://a/new", "protocol"},
		{"http://a/b", "http://a/c", ""},
		{"x:/.//b", "x:/a/..//b", "path"},
		{"x:/b", "x:b", ""},
		{"x://b", "x:/b", ""},
		{"http://u@a/", "http://a/", ""},
		{"http://@a/", "http://a/", ""},
	}
	c := Comparer{Rules: []SchemeRules{httpRules}, Redirects: func(u URI) (URI, bool) {
		return MustParse("http://a/new"), u.Path() == "/old"
	}}
	for _, tt := range tests {
		l, ok := c.Compare(MustParse(tt.a), MustParse(tt.b))
		got := l.String()
		if !ok {
			got = ""
		}
		if got != tt.want {
			t.Errorf("Compare(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
	loop := Comparer{Redirects: func(u URI) (URI, bool) { return u, true }}
	if loop.Equivalent(MustParse("x:a"), MustParse("x:b"), LevelProtocol) {
		t.Error("a circle of redirects makes everything the same")
	}
}

// A long URI takes another way to its normal form, which must be the same form.
func TestNormalFormOfLongURIs(t *testing.T) {
	long := strings.Repeat("long", 200)
	for _, s := range []string{
		"HTTP://A.EXAMPLE:80/%7e/../b/./c?%7a#", "http://a.example", "http://a.example:80/", "http://a.example/%2f%2F", "http://a.example/a/../b",
		"http://a.example/.x", "http://%41_.example/", "urn:X:%2f", "foo://a_b%41/", "http://u%41@a.example:/", "http://a.example?", "http://a.example/#",
	} {
		for _, in := range []string{s, s + long, strings.Replace(s, ":", ":"+long, 1), strings.Replace(s, "?", "?"+long, 1)} {
			for d := Draft1993; d.IsValid(); d++ {
				u, err := d.Parse(in)
				if err != nil {
					continue
				}
				for l := LevelCase; l <= LevelScheme; l++ {
					n := newNormalizer(u, l, []SchemeRules{httpRules})
					if got, want := n.form(), string(n.append(nil)); got != want {
						t.Errorf("%s: %.60q at level %s: got %.60q, want %.60q", d, in, l, got, want)
					}
				}
			}
		}
	}
}
