package name

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/urn"
)

func TestKeys(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"URN:IETF:rfc:2648", "urn:ietf:rfc:2648"},
		{"urn:ietf:RFC:2648", "urn:ietf:rfc:2648"}, // RFC 2648, 2
		{"urn:IETF:params:xml:NS:x%c3%a9", "urn:ietf:params:xml:ns:x%C3%A9"},
		{"urn:Example:a%2fB", "urn:example:a%2FB"},
		{"urn:example:a%41", "urn:example:a%41"}, // N12-52: escapes stay
		{"URN:DNS:Example.COM:Alb002", "urn:dns:example.com:Alb002"},
		{"urn:dns:example.com:a%2Db", "urn:dns:example.com:a-b"}, // Y95-13
		{"urn:dns:example.com:%7e", "urn:dns:example.com:%7E"},
		{"urn:dns:example.com:~", "urn:dns:example.com:%7E"},
		{"urn:dns:example.com:a%2fb", "urn:dns:example.com:a%2Fb"},
		{"urn:dns:example.com:a%2520b", "urn:dns:example.com:a%2520b"}, // never twice
		{"urn:doi:10.1000/AbC", "urn:doi:10.1000/abc"},
		{"urn:doi:10.1000/456%23789", "urn:doi:10.1000/456%23789"},
		{"urn:doi:10.1000/a%2fB%c3%a9", "urn:doi:10.1000/a/b%C3%A9"},
		{"URN:NBN:DE:101:1-Abc", "urn:nbn:de:101:1-Abc"},
		{"urn:nbn:FI-fe2019A", "urn:nbn:fi-fe2019A"},
		{"urn:nbn:FI:Lb", "urn:nbn:fi:Lb"},
		{"ARK:/12345/x5-4", "ark:12345/x54"},
		{"ark:12345/x54.v2/", "ark:12345/x54.v2"},
		{"ark:/B2345/a//b%c3", "ark:b2345/a/b%C3"},
		{"doi:10.1000/ABC", "doi:10.1000/abc"},
		{"doi:10.1000%2fAbC", "doi:10.1000/abc"},
		{"HDL:2027.ABC/Xy", "hdl:2027.abc/Xy"},
		{"hdl:20%c3%A9/Xy%c3", "hdl:20%C3%A9/Xy%C3"},
		{"INFO:Lccn/2002022641", "info:lccn/2002022641"},
		{"tag:Example.com,2005:A%2f", "tag:Example.com,2005:A%2f"},
		{"HTTPS://PURL.Example:443/a/../b%7e", "https://purl.example/b~"},
		{"http://purl.example", "http://purl.example/"},
		{"https://purl.example/a?q=1", "https://purl.example/a?q=1"},
		{"X-Thing:a%2fb%41", "x-thing:a%2FbA"},
	} {
		n, err := Parse(tt.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.in, err)
			continue
		}
		if n.Key() != tt.want {
			t.Errorf("Parse(%q) = %q, want %q", tt.in, n, tt.want)
		}
		if again, err := Parse(n.Key()); err != nil || again != n {
			t.Errorf("the key %q is read as %q, %v", n, again, err)
		}
	}
}

func TestWhiteSpaceIsRemovedInThe1995Dialect(t *testing.T) { // Y95-05, Y95-06
	u, err := urn.Draft1995.Parse("<urn:dns:Example.com:alb\n 0%2D2>")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := FromURN(u); err != nil || n.Key() != "urn:dns:example.com:alb0-2" {
		t.Errorf("FromURN = %q, %v", n, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int
		rule   string
	}{
		{"urn:foo:a?+r", 9, "assigned-name"}, // N12-24
		{"urn:foo:a#f", 9, "assigned-name"},  // N12-36
		{"urn:foo:a%00b", 9, "NUL"},          // N12-20, N12-64
		{"urn:dns:-x.example:a", 8, "AuthorityID"},
		{"urn:dns:example.com:a[", 21, "NSS"},
		{"urn:foo", 7, "assigned-name"},
		{"2648", 0, "scheme"},
		{"https://h.example/a#f", 19, "fragment"},
		{"https:///a", 8, "authority"},
		{"https:a", 6, "authority"},
		{"https:///a?b", 8, "authority"},
		{"https:?b", 6, "authority"},
		{"https://:80/a", 8, "authority"},
		{"https://u:p@h.example/", 8, "userinfo"},
		{"ark:12345", 9, "ARK"},
		{"ark:12345/--", 12, "ARK"},
		{"ark:/1_2/x", 6, "NAAN"},
		{"ark:12345/x?info", 11, "query"}, // a request, not part of the name
		{"ark:12345/x??", 11, "query"},
		{"doi:10.1000/x?locatt=id:1", 13, "query"},
		{"hdl:2027/x?urlappend=y", 10, "query"},
		{"info:lccn/x?y", 11, "query"},
		{"doi:10.1000", 11, "doi"},
		{"hdl:/x", 6, "hdl"},
		{"info:lccn", 9, "info-URI"},
		{"urn:foo:" + strings.Repeat("a", MaxLength), MaxLength, "name"},
	} {
		n, err := Parse(tt.in)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%.40q) = %q, %v; want an *Error", tt.in, n, err)
			continue
		}
		if e.Offset != tt.offset || !strings.EqualFold(e.Rule, tt.rule) {
			t.Errorf("Parse(%.40q): offset %d, rule %s (%s), want %d, %s", tt.in, e.Offset, e.Rule, e.Message, tt.offset, tt.rule)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, tt := range []struct{ prefix, canonical, name, element string }{
		{"URN:DNS:Example.org", "urn:dns:example.org", "urn:dns:example.org:alb002", "alb002"},
		{"urn:dns:example.org:", "urn:dns:example.org", "urn:dns:example.org::x", ":x"},
		{"urn:dns:example.org", "urn:dns:example.org", "urn:dns:example.org:/x", "/x"},
		{"urn:ietf:rfc:", "urn:ietf:rfc", "urn:ietf:rfc:2648", "2648"},
		{"urn:ISBN", "urn:isbn", "urn:isbn:123", "123"},
		{"urn:nbn:FI", "urn:nbn:fi", "urn:nbn:fi-fe2019", "fe2019"},
		{"urn:nbn:fi", "urn:nbn:fi", "urn:nbn:fi:bib-1", ":bib-1"},
		{"ark:/12345/", "ark:12345", "ark:12345/x/y", "x/y"},
		{"ark:12345/x", "ark:12345/x", "ark:12345/x.v2", ".v2"},
		{"https://purl.example", "https://purl.example", "https://purl.example/a", "a"},
		{"https://purl.example/ns/", "https://purl.example/ns", "https://purl.example/ns/a?b", "a?b"},
		{"doi:10.1000", "doi:10.1000", "doi:10.1000/x", "x"},
		{"hdl:2027", "hdl:2027", "hdl:2027/X", "X"},
		{"urn:doi:", "urn:doi", "urn:doi:10.1000/x", "10.1000/x"},
		{"urn:DOI:10.1000/", "urn:doi:10.1000", "urn:doi:10.1000/X", "x"},
	} {
		p, err := ParsePrefix(tt.prefix)
		if err != nil || p.String() != tt.canonical {
			t.Errorf("ParsePrefix(%q) = %q, %v; want %q", tt.prefix, p, err, tt.canonical)
			continue
		}
		n := MustParse(tt.name)
		if !p.Covers(n) || p.Element(n) != tt.element {
			t.Errorf("%q covers %q: %v, element %q; want %q", p, n, p.Covers(n), p.Element(n), tt.element)
		}
		if j, err := p.Join(tt.element); err != nil || j != n {
			t.Errorf("%q.Join(%q) = %q, %v; want %q", p, tt.element, j, err, n)
		}
		found := false
		for q := range n.Prefixes {
			found = found || q == p
		}
		if !found {
			t.Errorf("the prefixes of %q do not hold %q", n, p)
		}
	}
}

func TestPrefixCoversNothingElse(t *testing.T) { // Y95-11
	for _, tt := range [][2]string{
		{"urn:dns:example.org", "urn:dns:sub.example.org:x"},
		{"urn:dns:example.org", "urn:dns:example.org.evil.example:x"},
		{"urn:nbn:fi", "urn:nbn:fin-x"},
		{"urn:ietf:rfc", "urn:ietf:rfc"},
		{"ark:12345", "ark:123456/x"},
		{"https://purl.example", "https://purl.example.evil/x"},
		{"urn:doi:10.1000", "urn:doi:10.1000:x"},
	} {
		if p, n := MustParsePrefix(tt[0]), MustParse(tt[1]); p.Covers(n) || p.Element(n) != "" {
			t.Errorf("%q covers %q", p, n)
		}
	}
	if (Prefix{}).Covers(MustParse("urn:foo:x")) {
		t.Error("the zero prefix covers a name")
	}
}

func TestPrefixRefusals(t *testing.T) {
	for _, in := range []string{"", ":", "urn", "urn:", "urn:dns:-x", "urn:f oo", "example.org", "urn:foo:a?+b", "https://h.example/#f", "https://", "https:/", "info:", "ark:/", strings.Repeat("a", MaxLength)} {
		p, err := ParsePrefix(in)
		var e *Error
		if !errors.As(err, &e) || e.Input != in || e.Offset > len(in) {
			t.Errorf("ParsePrefix(%.40q) = %q, %#v; want an *Error with this input", in, p, err)
		}
	}
}

func TestJSON(t *testing.T) {
	type pair struct {
		N Name
		P Prefix
	}
	in := pair{MustParse("urn:ietf:rfc:1"), MustParsePrefix("urn:ietf")}
	b, err := json.Marshal(in)
	var out pair
	if err != nil || json.Unmarshal(b, &out) != nil || in != out {
		t.Errorf("%s became %v, want %v", b, out, in)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"urn:dns:example.com:a%2D~", "ark:/12345/a.-b", "doi:10.1/%C3", "https://h.example/%7e/../x", "urn:nbn:DE-A", "tag:a,2005:b", "info:x/y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse(s)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(s) || e.Rule == "" {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		again, err := Parse(n.Key())
		if err != nil || again != n {
			t.Fatalf("%q: key %q is read as %q, %v", s, n, again, err)
		}
		if strings.IndexFunc(n.Key(), func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			t.Fatalf("%q: key %q is not printable ASCII", s, n)
		}
		for p := range n.Prefixes {
			if j, err := p.Join(p.Element(n)); err == nil && j != n && !strings.HasPrefix(n.Key(), "ark:") {
				t.Fatalf("%q: prefix %q and element %q join to %q", n, p, p.Element(n), j)
			}
		}
	})
}
