package urn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/uri"
)

func parse(t *testing.T, d Dialect, s string) URN {
	t.Helper()
	u, err := d.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Every URN since 2012 is a URI, and the generic parser and the parser of URNs find the same
// components.
func TestURNsAreURIs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range []Dialect{Draft2012, RFC8141} {
		for _, s := range append(manyOf(r, 2000), "urn:foo:a123,456?x=y#z") {
			u, err := d.Parse(s)
			if err != nil {
				continue
			}
			generic, err := uri.Parse(s)
			if err != nil {
				t.Fatalf("N12-01: %s: %q is not a URI: %v", d, s, err)
			}
			if scheme, _ := generic.Scheme(); !strings.EqualFold(scheme, "urn") || generic.Path() != u.NID()+":"+u.NSS() {
				t.Errorf("N12-01, N12-02, N12-47: %s: %q: scheme %q, path %q", d, s, scheme, generic.Path())
			}
			component(t, "fragment", optional(generic.Fragment()), u.FComponent)
			if d == Draft2012 {
				component(t, "query", optional(generic.Query()), u.Query)
			}
		}
	}
}

func optional(s string, ok bool) *string {
	if !ok {
		return nil
	}
	return &s
}

// manyOf returns random inputs, many of them URNs.
func manyOf(r *rand.Rand, n int) []string {
	out := slices.Clone(seeds)
	for range n {
		out = append(out, mutate(r, seeds[r.IntN(len(seeds))]))
	}
	return out
}

// Names with registered keywords, with fragments, and with the scheme in other letter case (N12-03
// to N12-15).
func TestAccepts(t *testing.T) {
	for _, tt := range []struct {
		id, in string
		d      Dialect
		want   bool
	}{
		{"N12-03", "urn:foo", Draft2012, false},
		{"N12-03", "urn:foo:", Draft2012, false},
		{"N12-04", "URN:foo:x", Draft2012, true},
		{"N12-05", "urn:foo:a/b", Draft2012, false},
		{"N12-05", "urn:foo:a%2Fb", Draft2012, true},
		{"N12-06", "urn:foo:a:b:c", Draft2012, true},
		{"N12-07", "urn:1a:x", Draft2012, true},
		{"N12-07", "urn:a_b:x", Draft2012, false},
		{"N12-09", "urn:URN:x", Draft2012, false},
		{"N12-09", "urn:Urn:x", RFC2141, false},
		{"N12-09", "urn:urn:x", RFC8141, true}, // accepted with a finding: RFC 8141 itself does not exclude the name
		{"N12-12", "urn:foo:a[b]", Draft2012, false},
		{"N12-13", "urn:foo:a&b~c", Draft2012, true},
		{"N12-13", "urn:foo:a&b", RFC2141, false},
		{"N12-14", "urn:foo:joe@example", Draft2012, true},
		{"N12-17", "urn:foo:a%2", RFC2141, false},
		{"N12-17", "urn:foo:a%zz", Draft2012, false},
		{"N12-20", "urn:foo:a%00b", Draft2012, false},
		{"N12-20", "urn:foo:a#%00", Draft2012, false},
		{"N12-20", "urn:foo:a%2500", Draft2012, true},
		{"N12-23", "urn:foo:caf\u00e9", Draft2012, false},
		{"N12-23", "urn:foo:caf\u00e9", RFC2141, false},
		{"N12-37", "urn:foo:a#x", Draft2012, true},
	} {
		t.Run(tt.id+" "+tt.in, func(t *testing.T) {
			if _, err := tt.d.Parse(tt.in); (err == nil) != tt.want {
				t.Errorf("%v.Parse(%q): %v, want accepted = %v", tt.d, tt.in, err, tt.want)
			}
		})
	}
}

func TestRefusalsByDialect(t *testing.T) {
	for _, tt := range []struct {
		d      Dialect
		in     string
		offset int
		rule   string
	}{
		{RFC2141, "urn:-a:x", 4, "NID"},
		{RFC2141, "urn:urn:x", 4, "NID"},
		{RFC2141, "urn:a", 5, "URN"},
		{RFC2141, "urn:a:", 6, "NSS"},
		{RFC2141, "urn:a:b~", 7, "NSS"},
		{RFC2141, "urn:a:%4", 6, "URN chars"},
		{Draft2012, "urn:foo:a?", 10, "keywd"},
		{Draft2012, "urn:foo:a?x", 11, "directive"}, // N12-25
		{Draft2012, "urn:foo:a?a-=1", 11, "keywd"},  // N12-26
		{Draft2012, "urn:foo:a?a--b=1", 11, "keywd"},
		{Draft2012, "urn:foo:a?-a=1", 10, "keywd"},
		{Draft2012, "urn:foo:a?1a=1", 10, "keywd"},
		{Draft2012, "urn:foo:a?a=b&", 14, "keywd"},
		{Draft2012, "urn:foo:a?a=[b]", 12, "value"},
		{Draft2012, "urn:foo:a?a=%zz", 12, "pct-encoded"},
		{Draft2012, "urn:foo:a?a=%00", 12, "excluded"},
		{Draft2012, "urn:foo:%00", 8, "excluded"},
		{Draft2012, "urn:foo:a#b#c", 11, "fragment"},
		{RFC8141, "urn:foo:%zz", 8, "pct-encoded"},
		{RFC8141, "urn:foo:a?+%z", 11, "pct-encoded"},
		{RFC8141, "urn:foo:a?+r[", 12, "r-component"},
		{RFC8141, "urn:foo:a?=q[", 12, "q-component"},
	} {
		_, err := tt.d.Parse(tt.in)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.offset || e.Rule != tt.rule {
			t.Errorf("%v.Parse(%q): %v; want offset %d, rule %s", tt.d, tt.in, err, tt.offset, tt.rule)
		}
	}
}

func TestParseAssigned(t *testing.T) { // N12-24, N12-36
	for _, tt := range []struct {
		d      Dialect
		in     string
		offset int // -1: assigned
	}{
		{Draft2012, "urn:foo:a", -1},
		{Draft2012, "urn:foo:a?x=y", 9},
		{Draft2012, "urn:foo:a#x", 9},
		{RFC8141, "urn:foo:a?+r", 9},
		{RFC8141, "urn:foo:a#", 9},
		{RFC2141, "urn:foo:a?x#y", -1},
		{Draft1995, " <urn:dns:a.b: urn+m>", 15},
		{Draft1995, "urn:dns:a.b:URN+m", -1},
	} {
		u, err := tt.d.ParseAssigned(tt.in)
		var e *Error
		switch {
		case tt.offset < 0:
			if err != nil || !u.IsAssigned() {
				t.Errorf("%v.ParseAssigned(%q): %v", tt.d, tt.in, err)
			}
		case !errors.As(err, &e) || e.Offset != tt.offset:
			t.Errorf("%v.ParseAssigned(%q): %v, want offset %d", tt.d, tt.in, err, tt.offset)
		}
	}
}

// A registered keyword that occurs twice is ignored, as all other keywords always are. Order has no
// meaning.
func TestDirectives(t *testing.T) { // N12-27 to N12-35
	known := Keywords2012()
	for _, tt := range []struct{ id, query, s, c string }{
		{"N12-27", "s=I=I", "I=I", ""},
		{"N12-28", "S=I2L", "", ""},
		{"N12-29", "s=I2L&c=ToC&s=I2R", "", "ToC"},
		{"N12-30", "zz=1&zz=2&s=I2L", "I2L", ""},
		{"N12-31", "c=Nope&s=I2L", "I2L", ""},
		{"N12-32", "s=XYZ", "", ""},
		{"N12-34", "c=ToC&s=I2L", "I2L", "ToC"},
	} {
		t.Run(tt.id, func(t *testing.T) {
			ns := Namespace{Services: []string{"I2L", "I2R", "I=I"}, Keywords: []KeywordUse{{"c", []string{"ToC"}}}} // N12-33, N12-35
			ds := parse(t, Draft2012, "urn:foo:a?"+tt.query).Directives(known, ns.Accepts)
			s, _ := ds.Get("s")
			c, _ := ds.Get("c")
			if s != tt.s || c != tt.c {
				t.Errorf("%q: s %q, c %q; want %q, %q", tt.query, s, c, tt.s, tt.c)
			}
		})
	}
	if ds := MustParse("urn:foo:a?=s=I2L").Directives(known, nil); ds != nil {
		t.Errorf("RFC 8141 has no directives, got %v", ds)
	}
	if !(Namespace{Keywords: []KeywordUse{{Keyword: "c"}}}).Accepts("c", "anything") || (Namespace{}).Accepts("c", "x") {
		t.Error("a keyword without a list of values takes any, and only if it is supported")
	}
}

// The assigned part of a name, by which a resolver finds the record, has neither query nor
// fragment, and begins with "urn:".
func TestAssignedPart(t *testing.T) {
	u := parse(t, Draft2012, "urn:foo:a?s=I2L#x")
	if got := u.Assigned(); got.String() != "urn:foo:a" || !got.IsAssigned() || got.Dialect() != Draft2012 {
		t.Errorf("N12-38, N12-46: got %q, want urn:foo:a", got)
	}
	for in, want := range map[string]bool{"urn:foo:a?s=I2L": false, "urn:foo:a#x": false, "urn:foo:a": true} {
		u := parse(t, Draft2012, in)
		if u.IsAssigned() != want || u.Assigned() != parse(t, Draft2012, "urn:foo:a") {
			t.Errorf("N12-66: %q: assigned %v, want %v; the assigned part is %q", in, u.IsAssigned(), want, u.Assigned())
		}
	}
	if n, err := ParseName("urn:foo:a?s=I2L"); err == nil {
		t.Errorf("N12-66: a query became part of the name %q", n)
	}
	if f, ok := u.FComponent(); !ok || f != "x" {
		t.Errorf("N12-39: the fragment stays with the client: %q, %v", f, ok)
	}
}

func TestComparerWidensOnly(t *testing.T) {
	calls := 0
	fickle := Comparer{Fold: func(string) string { calls++; return fmt.Sprint(calls) }}
	fold := Comparer{Fold: strings.ToLower}
	a, b, other := parse(t, Draft2012, "urn:foo:A"), parse(t, Draft2012, "urn:FOO:a"), parse(t, Draft2012, "urn:bar:a")
	if !fickle.Equivalent(a, a) {
		t.Error("N12-54: a hook that says different was not overruled")
	}
	if Equivalent(a, b) || !fold.Equivalent(a, b) {
		t.Error("N12-54, N12-55, Y95-04: a hook did not widen")
	}
	if (Comparer{Fold: func(string) string { return "" }}).Equivalent(a, other) {
		t.Error("a hook made one of two namespaces")
	}
	query := parse(t, Draft2012, "urn:foo:a?x=y")
	if c := (Comparer{Purpose: PurposeCache, Fold: strings.ToLower}); c.Equivalent(a, query) || !c.Equivalent(a, b) {
		t.Error("for caches, directives count beside the hook")
	}
	if fold.Equivalent(URN{}, URN{}) || fold.Equivalent(a, MustParse("urn:foo:A")) {
		t.Error("zero URNs, or URNs of two dialects, are equivalent")
	}
}

// The order is total, and only equivalent names compare as equal.
func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var all []URN
	for _, s := range manyOf(r, 300) {
		for d := Draft1995; d.IsValid(); d++ {
			if u, err := d.Parse(s); err == nil {
				all = append(all, u)
			}
		}
	}
	one, same := MustParse("urn:ietf:rfc:2648"), MustParse("urn:doi:10.17487/rfc2648")
	if Equivalent(one, same) {
		t.Errorf("N12-71: %q and %q name one resource, which only resolution shows", one, same)
	}
	all = append(all, URN{})
	slices.SortFunc(all, Compare)
	for i, a := range all {
		for j, b := range all {
			got := Compare(a, b)
			if got != -Compare(b, a) || i < j && got > 0 {
				t.Fatalf("N12-65: Compare(%q, %q) = %d is not consistent", a, b, got)
			}
			if a.IsValid() && (got == 0) != Equivalent(a, b) {
				t.Fatalf("N12-51: Compare(%q, %q) = %d, Equivalent = %v", a, b, got, Equivalent(a, b))
			}
			if same := a.Canonical() == b.Canonical(); a.Dialect() == b.Dialect() && same != (got == 0) {
				t.Fatalf("N12-53: Compare(%q, %q) = %d, canonical %q, %q", a, b, got, a.Canonical(), b.Canonical())
			}
		}
	}
}

func TestKeysForCaches(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"URN:Foo:a%2c?s=I2L&c=%2c#x", "urn:foo:a%2C?c=%2C&s=I2L"},
		{"urn:foo:a?z=2&a=1&z=1", "urn:foo:a?a=1&z=2&z=1"},
		{"urn:foo:a?a-b=1&a=1", "urn:foo:a?a=1&a-b=1"},
		{"urn:foo:a#x", "urn:foo:a"},
	} {
		if got := parse(t, Draft2012, tt.in).Key(PurposeCache); got != tt.want {
			t.Errorf("N12-51, N12-53: Key(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestConvertBetweenAll(t *testing.T) {
	const no = ""
	for _, tt := range []struct {
		in       string
		from, to Dialect
		want     string
	}{
		{"urn:dns:Example.COM:a%2Db", Draft1995, RFC2141, "urn:dns:Example.COM:a%2Db"},
		{"urn:dns:example.com:a/b", Draft1995, RFC2141, "urn:dns:example.com:a/b"},
		{"urn:dns:example.com:a/b", Draft1995, Draft2012, no},
		{"urn:dns:example.com:a/b", Draft1995, RFC8141, "urn:dns:example.com:a/b"},
		{"urn:dns:example.com:a&b", Draft1995, RFC2141, no},
		{"urn:x.y:who:what", Draft1995, RFC8141, no},
		{"urn:dns:example.com:a%00", Draft1995, Draft2012, no},
		{"urn:a:b:c", RFC2141, Draft1995, "urn:a:b:c"},
		{"urn:a:b", RFC2141, RFC8141, no},
		{"urn:foo:a?+b", RFC2141, RFC8141, no},
		{"urn:foo:a#b", RFC2141, RFC8141, no},
		{"urn:foo:a?x=y", RFC2141, Draft2012, no},
		{"urn:foo:a/b", RFC2141, RFC8141, "urn:foo:a/b"},
		{"urn:foo:/b", RFC2141, RFC8141, no},
		{"urn:foo:a&b", Draft2012, RFC2141, no},
		{"urn:foo:a#b", Draft2012, RFC8141, "urn:foo:a#b"},
		{"urn:foo:a#b", Draft2012, RFC2141, no},
		{"urn:foo:a?s=I2L", Draft2012, RFC8141, no},
		{"urn:foo:a?s=I2L", Draft2012, Draft2012, "urn:foo:a?s=I2L"},
		{"urn:foo:a?+r", RFC8141, RFC2141, no},
		{"urn:foo:a?=q=s", RFC8141, Draft2012, no},
		{"urn:foo:a#b", RFC8141, Draft2012, "urn:foo:a#b"},
		{"urn:foo:a#b", RFC8141, RFC2141, no},
		{"urn:foo:a~b", RFC8141, RFC2141, no},
		{"urn:foo:~a:b", RFC8141, Draft1995, "urn:foo:%7Ea:b"},
		{"urn:urn:a", RFC8141, Draft2012, no},
		{"urn:foo:a%00", RFC8141, Draft2012, no},
		{"urn:foo:a", RFC8141, 0, no},
		{"urn:foo:a?+r", RFC8141, 99, no},
	} {
		got, err := parse(t, tt.from, tt.in).Convert(tt.to)
		if got.String() != tt.want || (err == nil) != (tt.want != no) || err == nil && got.Dialect() != tt.to {
			t.Errorf("%q from %v to %v: %q, %v; want %q", tt.in, tt.from, tt.to, got, err, tt.want)
		}
	}
	if _, err := (URN{}).Convert(RFC8141); err == nil {
		t.Error("the zero URN was converted")
	}
}

// A name that is converted to another dialect and back is unchanged, except for the tilde.
func TestConvertRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range manyOf(r, 3000) {
		for from := Draft1995; from.IsValid(); from++ {
			u, err := from.Parse(s)
			for to := Draft1995; err == nil && to.IsValid(); to++ {
				c, err := u.Convert(to)
				if err != nil {
					var e *Error
					if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(u.String()) || e.Rule == "" {
						t.Fatalf("%q from %v to %v: %v", s, from, to, err)
					}
					continue
				}
				back, err := c.Convert(from)
				if want := strings.ReplaceAll(u.String(), "~", "%7E"); err != nil || back != u && (to != Draft1995 || back.String() != want) {
					t.Fatalf("%q from %v to %v and back: %q, %v", s, from, to, back, err)
				}
			}
		}
	}
}

func TestEncodeNSS(t *testing.T) {
	for _, tt := range []struct {
		d                       Dialect
		in, special, want, name string
	}{
		{Draft2012, "\u00e9", "", "%C3%A9", "N12-16"},
		{Draft2012, "a:b", ":", "a%3Ab", "N12-18"},
		{Draft2012, "A-z", "", "A-z", "N12-19"},
		{Draft2012, "a/b?c#d", "", "a%2Fb%3Fc%23d", "N12-21"},
		{RFC2141, "a/b&c~d", "", "a%2Fb%26c%7Ed", "RFC 2141, 2.3.2"},
		{RFC8141, "/a/b", "", "%2Fa/b", "RFC 8141, 2.2"},
		{RFC8141, "a/b", "/", "a%2Fb", "RFC 8141, 2.2"},
		{Draft1995, "/~a", "", "/%7Ea", "RFC 1738"},
		{RFC8141, "", "", "", "empty"},
		{RFC8141, "a\x00", "", "", "N12-20"},
		{RFC8141, "a\xff", "", "", "not UTF-8"},
		{RFC8141, "\ufffd", "", "%EF%BF%BD", "the replacement character itself"},
		{Draft1995, "urn+m", "", "", "Y95-09"},
		{0, "a", "", "", "unknown dialect"},
	} {
		got, err := tt.d.EncodeNSS(tt.in, tt.special)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %v.EncodeNSS(%q, %q) = %q, %v; want %q", tt.name, tt.d, tt.in, tt.special, got, err, tt.want)
		}
	}
	for c := range rune(0x180) { // exactly the characters that need an escape are escaped
		for d := RFC2141; d.IsValid() && c > 0; d++ {
			nss, err := d.EncodeNSS("a"+string(c), "")
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := url.PathUnescape(nss)
			if err != nil || decoded != "a"+string(c) || d.CheckRule("NSS", nss) != nil {
				t.Errorf("N12-21, N12-41: %v: %q became %q", d, c, nss)
			}
		}
	}
}

func TestJoinNSS(t *testing.T) {
	for _, tt := range []struct {
		want  string
		parts []string
	}{
		{"a%3Ab:c", []string{"a:b", "c"}},
		{"a::b", []string{"a", "", "b"}},
		{"", nil},
		{"", []string{"a\x00"}},
	} {
		if got, err := RFC8141.JoinNSS(':', "", tt.parts...); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("N12-18: JoinNSS(%q) = %q, %v; want %q", tt.parts, got, err, tt.want)
		}
	}
	if got, err := Draft2012.JoinNSS('/', "", "a", "b"); err == nil {
		t.Errorf("a separator that the dialect excludes: %q", got)
	}
	if _, err := Dialect(0).JoinNSS(':', ""); err == nil {
		t.Error("an unknown dialect")
	}
}

func TestDisplay(t *testing.T) {
	for _, tt := range []struct{ in, special, want string }{
		{"urn:foo:caf%C3%A9", "", "urn:foo:café"},
		{"urn:foo:a%3Ab:c", ":", "urn:foo:a%3Ab:c"},
		{"urn:foo:%41", "", "urn:foo:%41"},
		{"urn:foo:%5Bx%5D%7c", "", "urn:foo:[x]|"},
		{"urn:foo:%5Bx%5D", "[", "urn:foo:%5Bx]"},
		{"urn:foo:a%3F+b%23%25%20%22%3c%0a", "", "urn:foo:a%3F+b%23%25%20%22%3c%0a"},
		{"urn:foo:%C3", "", "urn:foo:%C3"},
		{"urn:foo:%E2%80%AE%CC%81%C2%A0", "", "urn:foo:%E2%80%AE%CC%81%C2%A0"}, // bidirectional, combining, space
		{"URN:foo:%E6%9B%B8?+%C3%A9#%C3%A9", "", "URN:foo:書?+%C3%A9#%C3%A9"},
		{"urn:foo:a", "", "urn:foo:a"},
	} {
		u := MustParse(tt.in)
		if got := u.Display(tt.special); got != tt.want {
			t.Errorf("N12-44, N12-45: Display(%q, %q) = %q, want %q", tt.in, tt.special, got, tt.want)
		}
		if got := u.Display(tt.special); !strings.HasPrefix(strings.ToLower(got), "urn:foo:") {
			t.Errorf("N12-48: Display = %q, without the tag", got)
		}
		if u.String() != tt.in {
			t.Errorf("N12-43: String = %q, want %q", u, tt.in)
		}
	}
	if (URN{}).Display("") != "" {
		t.Error("the zero URN is shown")
	}
}

// No two names have the same display form.
func TestDisplayMergesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	atoms := []string{"a", "é", "e", ":", "%", "2", "5", "C", "3", "A", "9", "[", "~", "/", "書", "́", " ", "?", "#"}
	for d := RFC2141; d.IsValid(); d++ {
		shown := map[string]URN{}
		for range 3000 {
			var b strings.Builder
			for range 1 + r.IntN(4) {
				s := atoms[r.IntN(len(atoms))]
				if r.IntN(2) == 0 {
					for _, c := range []byte(s) {
						fmt.Fprintf(&b, "%%%02x", c)
					}
				} else {
					b.WriteString(s)
				}
			}
			u, err := d.Parse("urn:foo:" + b.String())
			if err != nil {
				continue
			}
			display := u.Display("")
			if v, ok := shown[display]; ok && !Equivalent(u, v) {
				t.Errorf("N12-45: %v: %q and %q are both shown as %q", d, u, v, display)
			}
			shown[display] = u
		}
	}
}

func TestEndInText(t *testing.T) {
	for _, tt := range []struct {
		d          Dialect
		text, want string
	}{
		{Draft2012, "urn:foo:a123,456> there", "urn:foo:a123,456"},
		{Draft2012, "urn:foo:a/b", "urn:foo:a"},
		{Draft2012, "urn:foo:a%2Cb%zz", "urn:foo:a%2Cb"},
		{Draft2012, "urn:foo:a%00", "urn:foo:a"},
		{Draft2012, "urn:foo:a?s=I2L&c", "urn:foo:a?s=I2L"},
		{Draft2012, "urn:foo:a? yes", "urn:foo:a"},
		{RFC2141, "urn:foo:a~b", "urn:foo:a"},
		{RFC8141, "urn:foo:a/b. He", "urn:foo:a/b."},
		{RFC8141, "urn:foo:a?+r?=]", "urn:foo:a?+r"},
		{RFC8141, "urn:foo:a?=q#f]", "urn:foo:a?=q#f"},
		{RFC8141, "urn:foo:", ""},
		{RFC8141, "nothing", ""},
		{Draft1995, "urn:dns:a.b:c d", "urn:dns:a.b:c"},
		{Draft1995, "urn:dns:a.b:c~d", "urn:dns:a.b:c"},
		{Draft1995, "urn:dns:a.b> c:d", ""},
		{RFC8141, "urn:foo:" + strings.Repeat("a", MaxLength), "urn:foo:" + strings.Repeat("a", MaxLength-8)},
	} {
		if got := tt.text[:tt.d.EndInText(tt.text)]; got != tt.want {
			t.Errorf("N12-22: %v.EndInText(%.40q): %.40q, want %.40q", tt.d, tt.text, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	a, errA := ParseName("URN:Foo:a%2c")
	b, errB := MustParse("urn:foo:a%2C?=q#f").Name()
	if errA != nil || errB != nil || a != b || a.String() != "urn:foo:a%2C" {
		t.Errorf("N12-49: %q, %v; %q, %v", a, errA, b, errB)
	}
	old, err := parse(t, Draft1995, "<URN:DNS:A.b: a%2Dc>").Name()
	if err != nil || old.String() != "urn:dns:a.b:a-c" || old.URN().ElementID() != "a-c" {
		t.Errorf("%q, %v", old, err)
	}
	for _, in := range []string{"urn:foo:a%00b", "urn:foo:a#f", "foo"} {
		if n, err := ParseName(in); err == nil || n.IsValid() {
			t.Errorf("N12-64: %q is the name %q", in, n)
		}
	}
	if _, err := (URN{}).Name(); err == nil {
		t.Error("the zero URN has a name")
	}
	if _, err := parse(t, Draft1995, "urn:dns:a.b:urn+m").Name(); err == nil {
		t.Error("a request is a name")
	}
	if a.Compare(b) != 0 || a.Compare(old) >= 0 && a.String() < old.String() {
		t.Error("names have no order")
	}
	text, _ := a.MarshalText()
	var c Name
	if err := c.UnmarshalText(text); err != nil || c != a {
		t.Errorf("%q, %v", c, err)
	}
	if err := c.UnmarshalText(nil); err != nil || c.IsValid() {
		t.Errorf("%q, %v", c, err)
	}
	if err := c.UnmarshalText([]byte("x")); err == nil {
		t.Error("x was read")
	}
}

func TestInspect(t *testing.T) {
	known, err := IANANamespaces().With(Namespace{NID: "frag", Security: "none", FragmentAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	in := Inspector{Namespaces: known, SchemeIDs: SchemeIDs1995(), Keywords: Keywords2012(), Services: Services2012()}
	for _, tt := range []struct {
		d    Dialect
		in   string
		want string // code, severity, offset
	}{
		{RFC8141, "urn:isbn:0395363411", ""},
		{RFC8141, "x", "invalid error 0"},
		{RFC8141, "urn:isbn:a%00", "nul error 10"}, // N12-64
		{Draft2012, "urn:isbn:a%00", "invalid error 10, nul error 10"},
		{RFC8141, "urn:isbn:a\x00", "invalid error 10, nul error 10"},
		{Draft2012, "urn:isbn:%41", "needless-escape warning 9"}, // N12-19, A12-3
		{RFC8141, "urn:isbn:%41%42", "needless-escape info 9"},
		{Draft1995, "urn:dns:a.b: %2D", "bare-space warning 12, needless-escape info 13"},
		{RFC2141, "urn:isbn:%7E", ""},
		{RFC8141, "URN:ISBN:%2f", "uppercase-scheme info 0, uppercase-nid info 4, lowercase-escape info 9"},
		{RFC8141, "urn:isbn:%FF", "not-utf8 warning 9"},
		{RFC8141, "urn:cts:x", "unregistered-nid warning 4"}, // N12-10
		{RFC8141, "urn:dns:a.b:c", "unregistered-nid warning 4"},
		{RFC8141, "urn:x-ogc:x", "experimental-nid info 4"},
		{RFC8141, "urn:urn:x", "reserved-nid warning 4"}, // N12-09
		{RFC8141, "urn:de-foo:x", "reserved-nid warning 4"},
		{RFC8141, "urn:urn-9:x", "unregistered-nid warning 4"},
		{RFC8141, "urn:urn-7:x", ""},
		{RFC2141, "urn:isbn:a/b", "reserved-character warning 10"},
		{Draft2012, "urn:isbn:a#x", "fragment-not-enabled warning 10"}, // N12-37
		{Draft2012, "urn:frag:a#x", ""},
		{RFC8141, "urn:isbn:a#x", ""},
		{RFC8141, "urn:isbn:a?+r", "r-component info 10"},
		{Draft2012, "urn:isbn:a?s=I2L&zz=1", "ignored-directive warning 17"},                                // N12-30
		{Draft2012, "urn:isbn:a?s=I2L&s=I2R", "ignored-directive warning 11, ignored-directive warning 17"}, // N12-29
		{Draft2012, "urn:isbn:a?c=ToC", ""},                                                                 // only the namespace knows its components
		{Draft2012, "urn:isbn:a?s=I2U", "ignored-directive warning 11"},                                     // A12-1
		{Draft1995, "urn:dns:a.b:urn+m", "reserved-request warning 12"},                                     // Y95-61
		{Draft1995, "urn:foo:a.b:c", "unknown-scheme-id warning 4"},                                         // Y95-18
		{Draft1995, " urn:dns:a.b:c d\te\n", "bare-space warning 14"},                                       // Y95-06
		{Draft1995, "urn:\ndns:a.b:c", "bare-space warning 4"},                                              // Y95-06
		{Draft1995, "<urn:dns:a.b:c\n d>", ""},                                                              // Y95-06
		{Draft1995, " urn:dns:a.b:c\n", ""},
		{Draft1995, "urn:X-foo:a.b:c", "uppercase-nid info 4, experimental-nid info 4"}, // Y95-16
	} {
		var got []string
		for _, f := range in.Inspect(tt.d, tt.in) {
			got = append(got, fmt.Sprintf("%s %s %d", f.Code, f.Severity, f.Offset))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%v.Inspect(%q): %s; want %s", tt.d, tt.in, got, tt.want)
		}
	}
	for s, want := range map[string]string{ // why a directive is ignored
		"urn:isbn:a?zz=1":        `a resolver ignores "zz=1": the keyword "zz" is not registered`,
		"urn:isbn:a?s=I2L&s=I2L": `a resolver ignores "s=I2L": directives with the same keyword cancel each other`,
		"urn:isbn:a?s=i2l":       `a resolver ignores "s=i2l": unknown service "i2l"`,
	} {
		if got := in.Inspect(Draft2012, s); len(got) == 0 || got[0].Message != want {
			t.Errorf("Inspect(%q): %v; want %s", s, got, want)
		}
	}
	if got := (Inspector{Keywords: Keywords2012()}).Inspect(Draft2012, "urn:isbn:a?s=I2U"); len(got) != 0 {
		t.Errorf("without services: %v", got)
	}
	if got := (Inspector{}).Inspect(Draft2012, "urn:cts:x?zz=1"); len(got) != 0 {
		t.Errorf("without registries: %v", got)
	}
}

func TestInspectReference(t *testing.T) {
	for ref, want := range map[string]bool{
		"": false, "#x": false, "#": false, "urn:example:c": false, "http://example.org/": false,
		"c": true, "/c": true, "?x": true, "//h": true, "../c": true, "./urn:example:c": true, "?": true,
	} {
		r, err := uri.ParseReference(ref)
		if err != nil {
			t.Fatal(err)
		}
		for base, isURN := range map[string]bool{"urn:example:a/b": true, "URN:x": true, "http://example.org/a": false, "urnx:a:b": false} {
			b, err := uri.Parse(base)
			if err != nil {
				t.Fatal(err)
			}
			if f, got := InspectReference(b, r); got != (want && isURN) || got && (f.Code != FindingRelative || f.Severity != uri.SeverityWarning) {
				t.Errorf("N12-15: InspectReference(%q, %q) = %v, %v; want %v", base, ref, f, got, want && isURN)
			}
		}
	}
	if f, got := InspectReference(uri.URI{}, uri.URI{}); got {
		t.Errorf("of zero URIs: %v", f)
	}
}

func TestInformalNumbers(t *testing.T) {
	for _, tt := range []struct {
		rule, in string
		offset   int // -1 if it is right
	}{
		{"Number", "1", -1},
		{"Number", "120", -1},
		{"Number", strings.Repeat("1", maxNID-len("urn-")), -1},
		{"Number", strings.Repeat("1", maxNID-len("urn-")+1), maxNID - len("urn-")},
		{"Number", "", 0},
		{"Number", "0", 0},
		{"Number", "012", 0},
		{"Number", "12x", 2},
		{"InformalNamespaceName", "URN-7", -1},
		{"InformalNamespaceName", "urn-", 4},
		{"InformalNamespaceName", "urn-07", 4},
		{"InformalNamespaceName", "urn-1x", 5},
		{"InformalNamespaceName", "urm-7", 0},
	} {
		err := RFC8141.CheckRule(tt.rule, tt.in)
		var e *Error
		if errors.As(err, &e) != (tt.offset >= 0) || e != nil && e.Offset != tt.offset {
			t.Errorf("CheckRule(%s, %q) = %v, want an error at %d", tt.rule, tt.in, err, tt.offset)
		}
	}
}

func TestRules(t *testing.T) {
	for d := Draft1995; d.IsValid(); d++ {
		for name := range d.Rules() {
			err := d.CheckRule(name, "\x01\x01")
			var e *Error
			if !errors.As(err, &e) || e.Dialect != d || e.Rule == "" || e.Input != "\x01\x01" || e.Offset < 0 || e.Offset > 2 {
				t.Errorf("%v.CheckRule(%q): %#v", d, name, err)
			}
		}
		if err := d.CheckRule("nid", "foo"); !errors.Is(err, ErrUnknownRule) {
			t.Errorf("%v: %v, want ErrUnknownRule", d, err)
		}
		for range d.Rules() {
			break
		}
	}
	if err := RFC8141.CheckRule("NSS", strings.Repeat("a", MaxLength+1)); err == nil {
		t.Error("an endless NSS")
	}
	if err := Dialect(0).CheckRule("NSS", "a"); !errors.Is(err, ErrUnknownRule) {
		t.Errorf("no dialect: %v", err)
	}
}
