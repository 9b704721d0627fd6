package urn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func TestParseRFC8141(t *testing.T) {
	const none = "\x00"
	for _, tt := range []struct{ in, nid, nss, r, q, f string }{
		{"urn:ietf:rfc:2648", "ietf", "rfc:2648", none, none, none},
		{"URN:Example:a%2Fb/c", "Example", "a%2Fb/c", none, none, none},
		{"urn:example:a?+r?=q#f", "example", "a", "r", "q", "f"},
		{"urn:example:a?+r?+s", "example", "a", "r?+s", none, none},
		{"urn:example:a?=q?=s", "example", "a", none, "q?=s", none},
		{"urn:example:a?=q?+r", "example", "a", none, "q?+r", none},
		{"urn:example:a?+r??=q", "example", "a", "r?", "q", none},
		{"urn:example:a?+r/?=/", "", "", none, none, none},
		{"urn:example:a#", "example", "a", none, none, ""},
		{"urn:example:a#?+/", "example", "a", none, none, "?+/"},
		{"urn:a1:x", "a1", "x", none, none, none},
		{"urn:" + strings.Repeat("a", 32) + ":x", strings.Repeat("a", 32), "x", none, none, none},
		{"urn:foo:joe@example", "foo", "joe@example", none, none, none}, // N12-14
		{"urn:foo::", "foo", ":", none, none, none},                     // N12-06
		{"urn:foo:a&b~c", "foo", "a&b~c", none, none, none},             // N12-13
	} {
		u, err := Parse(tt.in)
		if tt.nid == "" {
			if err == nil {
				t.Errorf("Parse(%q) succeeded", tt.in)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.in, err)
			continue
		}
		opt := func(s string, ok bool) string {
			if !ok {
				return none
			}
			return s
		}
		got := [5]string{u.NID(), u.NSS(), opt(u.RComponent()), opt(u.QComponent()), opt(u.FComponent())}
		if want := [5]string{tt.nid, tt.nss, tt.r, tt.q, tt.f}; got != want {
			t.Errorf("Parse(%q) = %q, want %q", tt.in, got, want)
		}
		if u.String() != tt.in {
			t.Errorf("Parse(%q).String() = %q", tt.in, u)
		}
	}
}

func TestParseRefusesWithPlaceAndRule(t *testing.T) {
	for _, tt := range []struct {
		d      Dialect
		in     string
		offset int
		rule   string
	}{
		{RFC8141, "", 0, "assigned-name"},
		{RFC8141, "http://x", 0, "assigned-name"},
		{RFC8141, "ur", 2, "assigned-name"},
		{RFC8141, "urn:", 4, "NID"},
		{RFC8141, "urn:foo", 7, "assigned-name"}, // N12-03
		{RFC8141, "urn:foo:", 8, "NSS"},
		{RFC8141, "urn:f:x", 4, "NID"}, // N12-07
		{RFC8141, "urn:-f:x", 4, "NID"},
		{RFC8141, "urn:f-:x", 5, "NID"},
		{RFC8141, "urn:f_o:x", 5, "NID"},
		{RFC8141, "urn:" + strings.Repeat("a", 33) + ":x", 36, "NID"},
		{RFC8141, "urn:foo:/a", 8, "NSS"},
		{RFC8141, "urn:foo:a b", 9, "NSS"},
		{RFC8141, "urn:foo:a[b]", 9, "NSS"}, // N12-12
		{RFC8141, "urn:example:a%zz", 13, "pct-encoded"},
		{RFC8141, "urn:foo:a%2", 9, "pct-encoded"}, // N12-17
		{RFC8141, "urn:foo:a?x=y", 9, "rq-components"},
		{RFC8141, "urn:foo:a?", 9, "rq-components"},
		{RFC8141, "urn:foo:a?+", 11, "r-component"},
		{RFC8141, "urn:example:a?+r?=", 18, "q-component"},
		{RFC8141, "urn:foo:a?+?=q", 11, "r-component"},
		{RFC8141, "urn:foo:a?=/", 11, "q-component"},
		{RFC8141, "urn:foo:a#b#c", 11, "f-component"},
		{RFC8141, "urn:foo:a#%f", 10, "pct-encoded"},
		{RFC8141, strings.Repeat("x", MaxLength+1), MaxLength, "URN"},
		{0, "urn:foo:x", 0, "URN"},
		{Draft1995, "urn:a:b", 7, "urn95"}, // Y95-01
		{Draft1995, "urn:dns:example.com", 19, "urn95"},
		{Draft1995, "urn:dns:example.com:", 20, "ElementID"},
		{Draft1995, "urn::example.com:x", 4, "SchemeID"},
		{Draft1995, "urn:d_s:example.com:x", 5, "SchemeID"},
		{Draft1995, "urn:dns:-bad-.com:x", 8, "AuthorityID"}, // Y95-20
		{Draft1995, "urn:dns:bad-.com:x", 11, "AuthorityID"},
		{Draft1995, "urn:dns:a..b:x", 10, "AuthorityID"},
		{Draft1995, "urn:dns:192.0.2.1:x", 16, "AuthorityID"},
		{Draft1995, "urn:dns:[::1]:x", 8, "AuthorityID"},
		{Draft1995, "urn:dns:" + strings.Repeat("a", 64) + ".b:x", 71, "AuthorityID"},
		{Draft1995, "urn:dns:" + strings.Repeat("a.", 127) + "b:x", 261, "AuthorityID"},
		{Draft1995, "urn:dns:example.com:a?b", 21, "ElementID"}, // Y95-08
		{Draft1995, "urn:dns:example.com:a#b", 21, "ElementID"},
		{Draft1995, "urn:dns:example.com:a~b", 21, "ElementID"},
		{Draft1995, "urn:dns:example.com:a%2", 21, "escape"}, // Y95-07
		{Draft1995, " <urn:dns: example.com:a\n ~b>", 26, "ElementID"},
		{Draft1995, "<urn:dns:example.com:a", 22, "freestanding"},
		{Draft1995, "<", 1, "freestanding"},
	} {
		_, err := tt.d.Parse(tt.in)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%v.Parse(%.60q) = %v, want an *Error", tt.d, tt.in, err)
			continue
		}
		if e.Offset != tt.offset || e.Rule != tt.rule {
			t.Errorf("%v.Parse(%.60q): offset %d, rule %s (%s); want %d, %s", tt.d, tt.in, e.Offset, e.Rule, e.Message, tt.offset, tt.rule)
		}
	}
}

// Messages name the character that was found, or say that the input ends.
func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		d        Dialect
		in, want string
	}{
		{RFC8141, "urn:", "is empty"},
		{RFC8141, "urn::x", "is empty"},
		{RFC8141, "urn:urn-7:", "is empty"},
		{RFC8141, "urn:ab:?=q", `begins with "?"`},
		{RFC8141, "urn:x-", `has no ":" after the NID`},
		{RFC8141, "urn:x-:y", "ends with a hyphen"},
		{RFC8141, "urn:isbn:978\u20100", "contains '\u2010' (U+2010)"},
		{RFC8141, "urn:isbn:978\u00a00", `contains '\u00a0' (U+00A0)`},
		{RFC8141, "urn:isbn:\uff19", "begins with '\uff19' (U+FF19)"},
		{RFC8141, "urn:isbn:978\xe2", `contains "\xe2"`},
		{RFC2141, "urn:", "is empty"},
		{Draft2012, "urn:ab:", "is empty"},
	} {
		_, err := tt.d.Parse(tt.in)
		var e *Error
		if !errors.As(err, &e) || e.Message != tt.want {
			t.Errorf("%v.Parse(%q): %v, want %s", tt.d, tt.in, err, tt.want)
		}
	}
}

func TestParse1995(t *testing.T) {
	for _, tt := range []struct{ in, scheme, authority, element string }{
		{"urn:dns:example.com:alb002", "dns", "example.com", "alb002"}, // Y95-01
		{"URN:DNS:example.com:x", "DNS", "example.com", "x"},
		{"urn:dns:exa\n mple.com:alb 002", "dns", "example.com", "alb002"},     // Y95-05
		{"<urn:dns:example.com:alb\r\n\t002>", "dns", "example.com", "alb002"}, // Y95-06
		{"urn:dns:example.com:a:b:c", "dns", "example.com", "a:b:c"},
		{"urn:dns:example.com:a%20b", "dns", "example.com", "a%20b"}, // Y95-07
		{"urn:dns:example.com:/a;b@c&d=e", "dns", "example.com", "/a;b@c&d=e"},
		{"urn:x-foo:whoever:thing", "x-foo", "whoever", "thing"}, // Y95-16
		{"urn:isbn:who~ever:1", "", "", ""},
		{"urn:isbn:whoever:123", "isbn", "whoever", "123"}, // Y95-18
		{"urn:dns:localhost:x", "dns", "localhost", "x"},
		{"urn:dns:3com.com:x", "dns", "3com.com", "x"},
	} {
		u, err := Draft1995.Parse(tt.in)
		if (err == nil) != (tt.scheme != "") {
			t.Errorf("Parse(%q): %v", tt.in, err)
			continue
		}
		got := [3]string{u.SchemeID(), u.AuthorityID(), u.ElementID()}
		if want := [3]string{tt.scheme, tt.authority, tt.element}; got != want {
			t.Errorf("Parse(%q) = %q, want %q", tt.in, got, want)
		}
	}
}

// TestUnreservedOf1995 checks the escape of each octet: the escape is equivalent to the character
// only if RFC 1738 calls the character unreserved (1995, 2 and 6B: A95-8).
func TestUnreservedOf1995(t *testing.T) {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$-_.+!*'(),"
	for c := range 256 {
		escaped := fmt.Sprintf("urn:dns:example.com:x%%%02X", c)
		u := Draft1995.mustParse(t, escaped)
		plain := strings.IndexByte(unreserved, byte(c)) >= 0
		want := escaped
		if plain {
			want = "urn:dns:example.com:x" + string(rune(c))
		}
		if got := u.Canonical(); got != want {
			t.Errorf("Y95-13: canonical form of %q: %q, want %q", escaped, got, want)
		}
		if plain && (!Equivalent(u, Draft1995.mustParse(t, want)) || Compare(u, Draft1995.mustParse(t, want)) != 0) {
			t.Errorf("Y95-13: %q and %q are not equivalent", escaped, want)
		}
		needless := false
		for _, f := range (Inspector{}).Inspect(Draft1995, escaped) {
			needless = needless || f.Code == uri.FindingNeedlessEscape
		}
		if needless != plain {
			t.Errorf("%q: a finding that the escape is needless: %v, want %v", escaped, needless, plain)
		}
	}
}

func TestReservedRequest(t *testing.T) { // Y95-09, A95-6
	for in, want := range map[string]bool{
		"urn:dns:example.com:urn+m":   true,
		"urn:dns:example.com:urn+":    true,
		"urn:dns:example.com:URN+m":   false,
		"urn:dns:example.com:%75rn+m": false,
		"urn:dns:example.com:urnm":    false,
	} {
		u, err := Draft1995.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.IsReservedRequest(); got != want {
			t.Errorf("%q: reserved = %v, want %v", in, got, want)
		}
	}
}

// TestEscapedRequest: no spelling of a name becomes a reserved request by being
// normalised (1995, 2.3: "exactly"), and none can be assigned.
func TestEscapedRequest(t *testing.T) {
	const name = "urn:dns:example.com:"
	for _, tt := range []struct {
		in, want   string
		assignable bool
	}{
		{"%75rn+m", "%75rn+m", false},
		{"%75%72%6e%2bm", "%75rn+m", false},
		{"u%72n+m", "%75rn+m", false},
		{"urn%2Bm%2f%2dX", "%75rn+m%2F-X", false},
		{"%75rn+%75rn%2Bm", "%75rn+urn+m", false},
		{"urn+m", "urn+m", false},
		{"ur%6En+m", "urnn+m", true},
		{"%55rn+m", "Urn+m", true},
		{"%75rn%20m", "urn%20m", true},
		{"%75rn", "urn", true},
		{"a%75rn+m", "aurn+m", true},
	} {
		u, err := Draft1995.Parse("URN:DNS:Example.com:" + tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Canonical(); got != name+tt.want {
			t.Errorf("Y95-09: canonical form of %q: %q, want %q", tt.in, got, name+tt.want)
		}
		again, err := Draft1995.Parse(u.Canonical())
		if err != nil || again.Canonical() != u.Canonical() || !Equivalent(u, again) || u.IsReservedRequest() != again.IsReservedRequest() {
			t.Errorf("Y95-09: %q is read again as %q, %v", tt.in, again, err)
		}
		request := Draft1995.mustParse(t, name+"urn+m")
		if got := Equivalent(u, request); got != (tt.in == "urn+m") {
			t.Errorf("Y95-09: %q is equivalent to a request: %v", tt.in, got)
		}
		if _, err := Draft1995.ParseAssigned(u.String()); (err == nil) != tt.assignable || u.IsAssigned() != tt.assignable {
			t.Errorf("Y95-09: %q can be assigned: %v, %v, want %v", tt.in, err, u.IsAssigned(), tt.assignable)
		}
	}
	if nss, err := Draft1995.EncodeNSS("urn+m", "u"); err == nil {
		t.Errorf("Y95-09: EncodeNSS gives %q", nss)
	}
}

func (d Dialect) mustParse(t *testing.T, s string) URN {
	t.Helper()
	u, err := d.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestEquivalent(t *testing.T) {
	for _, tt := range []struct {
		d    Dialect
		a, b string
		want bool
	}{
		{Draft1995, "URN:DNS:example.com:x", "urn:dns:example.com:x", true},            // Y95-02
		{Draft1995, "urn:dns:EXAMPLE.com:x", "urn:dns:example.com:x", true},            // Y95-03
		{Draft1995, "urn:dns:example.com:Alb002", "urn:dns:example.com:alb002", false}, // Y95-04
		{Draft1995, "urn:dns:a.example:xyz", "urn:dns:b.example:xyz", false},           // Y95-10
		{Draft1995, "urn:dns:example.com:a%2Db", "urn:dns:example.com:a-b", true},      // Y95-13
		{Draft1995, "urn:dns:example.com:a%2fb", "urn:dns:example.com:a%2Fb", true},    // A95-8
		{Draft1995, "urn:dns:example.com:a%2Fb", "urn:dns:example.com:a/b", false},     // A95-8
		{Draft1995, "urn:dns:sub.example.com:x", "urn:dns:example.com:x", false},       // Y95-11
		{Draft1995, "urn:x-a:WHO:x", "urn:x-a:who:x", false},                           // Y95-19
		{RFC8141, "URN:foo:a123,456", "urn:FOO:a123,456", true},                        // N12-51
		{Draft2012, "urn:ISBN:x", "urn:isbn:x", true},                                  // N12-08
		{RFC2141, "urn:ISBN:x", "urn:isbn:x", true},                                    // N12-08
		{RFC8141, "urn:foo:a123,456?+x?=y#z", "urn:foo:a123,456", true},                // N12-40
		{RFC8141, "urn:foo:a123%2C456", "urn:foo:a123%2c456", true},                    // N12-51
		{RFC8141, "urn:foo:a123%2C456", "urn:foo:a123,456", false},                     // N12-52
		{RFC8141, "urn:foo:A123,456", "urn:foo:a123,456", false},                       // N12-51
		{RFC8141, "urn:dns:Example.COM:x", "urn:dns:example.com:x", false},             // urn-12
	} {
		a, errA := tt.d.Parse(tt.a)
		b, errB := tt.d.Parse(tt.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := Equivalent(a, b); got != tt.want {
			t.Errorf("%v: Equivalent(%q, %q) = %v, want %v", tt.d, tt.a, tt.b, got, tt.want)
		}
	}
	if Equivalent(URN{}, URN{}) {
		t.Error("two zero URNs are equivalent")
	}
}

func TestConvert(t *testing.T) { // Y95-12
	old, err := MustParse("urn:dns:example.com:~a/b").Convert(Draft1995)
	if err != nil || old.ElementID() != "%7Ea/b" {
		t.Errorf("to 1995: %q, %v", old.ElementID(), err)
	}
	back, err := old.Convert(RFC8141)
	if err != nil || back.String() != "urn:dns:example.com:%7Ea/b" {
		t.Errorf("back: %q, %v", back, err)
	}
	for _, in := range []string{"urn:foo:x", "urn:dns:example.com:a?+r", "urn:dns:example.com:a#f"} {
		if u, err := MustParse(in).Convert(Draft1995); err == nil {
			t.Errorf("%q became %q", in, u)
		}
	}
}

func TestTextRoundTrip(t *testing.T) {
	u := MustParse("urn:example:a?=b")
	text, err := u.MarshalText()
	var v URN
	if err != nil || v.UnmarshalText(text) != nil || u != v {
		t.Errorf("got %v, want %v", v, u)
	}
	if err := v.UnmarshalText(nil); err != nil || v.IsValid() {
		t.Errorf("empty text: %v, %v", v, err)
	}
}

func TestAllocations(t *testing.T) {
	const s = "urn:example:a%2Fb?+r?=q#f"
	u, v := MustParse(s), MustParse("URN:EXAMPLE:a%2fb")
	old := parse(t, Draft1995, "urn:dns:example.com:a%2Db")
	for name, f := range map[string]func(){
		"Parse":         func() { _, _ = Parse(s) },
		"ParseAssigned": func() { _, _ = ParseAssigned("urn:example:a%2Fb") },
		"1995":          func() { _, _ = Draft1995.Parse("urn:dns:example.com:alb002") },
		"RFC 2141":      func() { _, _ = RFC2141.Parse("urn:example:a?b#c") },
		"2012":          func() { _, _ = Draft2012.Parse("urn:example:a?s=I2L&c=ToC#x") },
		"Canonical":     func() { _ = u.Canonical() },
		"Key":           func() { _ = u.Key(PurposeCache) },
		"Name":          func() { _, _ = u.Name() },
		"Equivalent":    func() { _ = Equivalent(u, v) && Equivalent(old, old) },
		"Compare":       func() { _ = Compare(u, v) + Compare(old, u) },
		"Display":       func() { _ = MustParse("urn:example:a").Display(":") },
		"registries": func() {
			_, _, _, _ = IANANamespaces(), SchemeIDs1995(), Keywords2012(), Services2012()
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"urn:example:a?+r?=q#f", "<urn:dns:example.com:a\n b%2D>", "urn:a-b:%zz", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for d := Draft1995; d.IsValid(); d++ {
			u, err := d.Parse(s)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(s) || e.Rule == "" {
					t.Fatalf("%v: %q: %#v", d, s, err)
				}
				continue
			}
			c, err := d.Parse(u.Canonical())
			if err != nil || c.Canonical() != u.Canonical() || !Equivalent(c, u) {
				t.Fatalf("%v: %q: canonical form %q is not a fixed point: %v", d, s, u.Canonical(), err)
			}
		}
	})
}

// FuzzUse applies all operations to a parsed URN, and checks what must hold for every URN.
func FuzzUse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, ":")
	}
	in := Inspector{Namespaces: IANANamespaces(), SchemeIDs: SchemeIDs1995(), Keywords: Keywords2012(), Services: Services2012()}
	f.Fuzz(func(t *testing.T, s, special string) {
		for d := Draft1995; d.IsValid(); d++ {
			for _, found := range in.Inspect(d, s) {
				if found.Offset < 0 || found.Offset > len(s) || found.Code == "" || found.Message == "" {
					t.Errorf("%v: %q: %+v", d, s, found)
				}
			}
			if nss, err := d.EncodeNSS(s, special); err == nil && d.checkNSS(nss) != nil {
				t.Errorf("%v: %q became %q", d, s, nss)
			}
			if n := d.EndInText(s); n > 0 {
				use(t, parse(t, d, s[:n]), special)
			}
		}
	})
}

func use(t *testing.T, u URN, special string) {
	t.Helper()
	c := u.Canonical()
	if !Equivalent(u, u) || Compare(u, u) != 0 || u.Key(PurposeResource) != c || !strings.HasPrefix(u.Key(PurposeCache), c) {
		t.Errorf("%q is not itself", u)
	}
	if n, err := u.Name(); err == nil && (n.String() != c || !Equivalent(n.URN(), u)) {
		t.Errorf("%q has the name %q", u, n)
	}
	if shown := u.Display(special); !strings.HasPrefix(shown, u.String()[:u.nid+1]) {
		t.Errorf("%q is shown as %q", u, shown)
	}
	for d := Draft1995; d.IsValid(); d++ {
		if v, err := u.Convert(d); err == nil && !strings.EqualFold(v.NID(), u.NID()) {
			t.Errorf("%q became %q", u, v)
		}
	}
}

// A name of 33 bytes.
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Parse("urn:ietf:params:xml:ns:xmpp-sasl1")
	}
}

func BenchmarkCanonical(b *testing.B) {
	u := MustParse("urn:ietf:params:xml:ns:xmpp-sasl1")
	b.ReportAllocs()
	for b.Loop() {
		_ = u.Canonical()
	}
}

func BenchmarkEquivalent(b *testing.B) {
	u, v := MustParse("urn:ietf:params:xml:ns:xmpp-sasl1"), MustParse("URN:IETF:params:xml:ns:xmpp-sasl1")
	b.ReportAllocs()
	for b.Loop() {
		_ = Equivalent(u, v)
	}
}

func BenchmarkIANANamespaces(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = IANANamespaces()
	}
}
