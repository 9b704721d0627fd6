package name

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/namespace"
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
		{"urn:nbn:FI", "urn:nbn:fi"},
		{"urn:nbn:FI:U_U-Ab", "urn:nbn:fi:u_u-Ab"}, // breaks the rule of sub-namespaces
		{"urn:nan:FI:KA:A-1", "urn:nan:fi:ka:a-1"},
		// All spellings that a namespace considers equivalent have one key
		// (N12-54).
		{"urn:isbn:9789510184356", "urn:isbn:9789510184356"},
		{"URN:ISBN:978-951-0-18435-6", "urn:isbn:9789510184356"},
		{"urn:isbn:951-0-18435-7", "urn:isbn:9789510184356"},
		{"urn:isbn:9510184357", "urn:isbn:9789510184356"},
		{"urn:issn:1234-1231", "urn:issn:1234-1231"},
		{"urn:issn:12341231", "urn:issn:1234-1231"},
		{"urn:uuid:F81D4FAE-7dec-11D0-A765-00A0C91E6BF6", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"urn:lei:7ltwfzyicnsx8d621k86", "urn:lei:7LTWFZYICNSX8D621K86"},
		{"URN:OID:1.3.6.1", "urn:oid:1.3.6.1"},
		{"urn:mrn:IALA:Aton:US:1", "urn:mrn:iala:aton:US:1"},
		{"urn:iso:STD:iso:9999", "urn:iso:std:iso:9999"},
		// A name that breaks the rules is equivalent to nothing else.
		{"urn:isbn:978-951-0-18435-5", "urn:isbn:978-951-0-18435-5"},
		{"urn:isbn:9789510184355", "urn:isbn:9789510184355"},
		{"urn:issn:12341232", "urn:issn:12341232"},
		{"urn:uuid:F81D4FAE", "urn:uuid:F81D4FAE"},
		{"urn:lei:7ltwfzyicnsx8d621k87", "urn:lei:7ltwfzyicnsx8d621k87"},
		// Names that are always case-insensitive are so even if they have flaws.
		{"urn:ietf:RFC:X", "urn:ietf:rfc:x"},
		{"urn:doi:10.1000", "urn:doi:10.1000"},
		{"urn:DOI:Nothing%2d", "urn:doi:nothing-"},
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
		{"<URN:DNS:Example.org:alb\n 0%2D2>", "urn:dns:example.org:alb0-2"}, // Y95-05
		{" <ark:/12345/ x5> ", "ark:12345/x5"},
		{"<URL:https://purl.example/a>", "https://purl.example/a"},
		{"urn:dns:example.org:u%72n+m", "urn:dns:example.org:%75rn+m"}, // Y95-09
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
		{"<urn:foo:\n a?+r>", 12, "assigned-name"},
		{"<urn:dns:example.com:a b", 0, "scheme"}, // Y95-06
		{"urn:foo:a?+r", 9, "assigned-name"},      // N12-24
		{"urn:foo:a#f", 9, "assigned-name"},       // N12-36
		{"urn:foo:a%00b", 9, "NUL"},               // N12-20, N12-64
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
		{"ark:/1-2-3_4/x", 10, "NAAN"},    // the offset in the input, including hyphens
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
		{"https://purl.example:8080", "https://purl.example:8080", "https://purl.example:8080/a:b", "a:b"},
		{"https://ids.example/chebi:", "https://ids.example/chebi", "https://ids.example/chebi:36927", ":36927"},
		{"https://ids.example/chebi", "https://ids.example/chebi", "https://ids.example/chebi/36927", "36927"},
		{"doi:10.1000", "doi:10.1000", "doi:10.1000/x", "x"},
		{"hdl:2027", "hdl:2027", "hdl:2027/X", "X"},
		{"HDL:", "hdl", "hdl:2027/X", "2027/X"},
		{"ark", "ark", "ark:/12345/x", "12345/x"},
		{"urn:doi:", "urn:doi", "urn:doi:10.1000/x", "10.1000/x"},
		{"urn:DOI:10.1000/", "urn:doi:10.1000", "urn:doi:10.1000/X", "x"},
		{"urn:doi:10.1000/Ab", "urn:doi:10.1000/ab", "urn:doi:10.1000/AB/c", "c"},
		{"urn:OID:1.3.6.", "urn:oid:1.3.6", "urn:oid:1.3.6.1.4", "1.4"},
		{"urn:oid", "urn:oid", "urn:oid:1.3.6", "1.3.6"},
		{"urn:isbn:", "urn:isbn", "urn:isbn:951-0-18435-7", "9789510184356"},
		{"urn:UUID", "urn:uuid", "urn:uuid:F81D4FAE-7dec-11D0-A765-00A0C91E6BF6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"urn:NBN:SE:UU", "urn:nbn:se:uu", "urn:nbn:SE:uu-Ab", "Ab"},
		{"urn:nbn:SE:UU-Ab:", "urn:nbn:se:uu-Ab", "urn:nbn:SE:uu-Ab-c", "c"},
		{"urn:MRN:IALA:Aton", "urn:mrn:iala:aton", "urn:mrn:iala:ATON:US:1", "US:1"},
		{"urn:service:SOS", "urn:service:sos", "urn:service:sos.Fire", "fire"},
		{"urn:epc:id:sgtin:0614141", "urn:epc:id:sgtin:0614141", "urn:epc:id:sgtin:0614141.107346.2018", ".107346.2018"},
		{"urn:lex:it", "urn:lex:it", "urn:lex:it;lombardia:legge:2006-05-14;22", ";lombardia:legge:2006-05-14;22"},
		{"urn:lex:it:stato:legge:2006-05-14;22", "urn:lex:it:stato:legge:2006-05-14;22", "urn:lex:it:stato:legge:2006-05-14;22@2007", "@2007"},
		{"urn:dev:org:32473", "urn:dev:org:32473", "urn:dev:org:32473-foo", "-foo"},
		{"urn:CDX:F08a6ccd-4dce-4759-bd84-c626675d60a7", "urn:cdx:f08a6ccd-4dce-4759-bd84-c626675d60a7", "urn:cdx:f08a6ccd-4dce-4759-bd84-c626675d60a7/1", "1"},
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
		{"https://purl.example", "https://purl.example:8080/x"},
		{"https://ids.example/chebi", "https://ids.example/chebis:1"},
		{"urn:doi:10.1000", "urn:doi:10.1000:x"},
		{"urn:oid:1.3.6", "urn:oid:1.3.61"},
		{"urn:oid:1.3.6", "urn:oid:1.3.6"},
		{"urn:oid:1.3.6", "urn:oid:1.3.6:x"},
		{"urn:isbn", "urn:issn:1234-1231"},
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
	for _, in := range []string{"", ":", "urn", "urn:", "urn:dns:-x", "urn:f oo", "example.org", "urn:foo:a?+b", "https://h.example/#f", "https://", "https:/", "https", "ark:/", "urn:isbn:978-951", "URN:ISBN:9789510184356", "urn:uuid:f81d4fae", "urn:isbn:978:", "urn:dns:example.org::", "urn:nbn:fi-:", "https://h.example//", strings.Repeat("a", MaxLength)} {
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

// TestPrefixMessages checks that errors are about the prefix, not about the name with which
// ParsePrefix tries it.
func TestPrefixMessages(t *testing.T) {
	for in, want := range map[string]string{
		"urn:example:a?":   `name: "urn:example:a?": offset 13: rq-components: "?" is followed by the end, not by "+" or "="`,
		"urn:example:a%4":  `name: "urn:example:a%4": offset 13: pct-encoded: "%" must be followed by two hex digits`,
		"urn:example:a b":  `name: "urn:example:a b": offset 13: NSS: contains " "`,
		"urn:example:a?+b": `name: "urn:example:a?+b": offset 13: assigned-name: the component is part of a reference, not of the name`,
	} {
		if _, err := ParsePrefix(in); err == nil || err.Error() != want {
			t.Errorf("ParsePrefix(%q)\ngot  %v\nwant %s", in, err, want)
		}
	}
}

// TestPrefixOfNumbers checks that the error says what to do instead.
func TestPrefixOfNumbers(t *testing.T) {
	_, err := ParsePrefix("URN:ISBN:978-3")
	const want = `name: "URN:ISBN:978-3": offset 8: prefix: names of this namespace cannot be divided: the only prefix is "urn:isbn"`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if p := PrefixFromKey("urn:isbn:978"); p.Covers(MustParse("urn:isbn:9789510184356")) {
		t.Errorf("%q covers a name", p)
	}
}

// TestDOIsAgree checks that the keys of a DOI in both schemes differ only in their beginning.
func TestDOIsAgree(t *testing.T) {
	for _, doi := range []string{"10.1000/Ab", "10.1000%2fAb%20%c3", "10.1000/a%41%7f%0A", "10.1000/a%2F", "x/Y"} {
		a, b := MustParse("doi:"+doi), MustParse("urn:doi:"+doi)
		if "urn:"+a.Key() != b.Key() {
			t.Errorf("%q and %q", a, b)
		}
	}
}

// spellings returns the examples of all namespaces, unchanged, in lower case and in upper case.
func spellings() []string {
	var all []string
	for n := range namespace.All() {
		if n.Example != "" {
			start := len("urn:" + n.NID + ":")
			nss := n.Example[start:]
			all = append(all, n.Example, n.Example[:start]+strings.ToLower(nss), n.Example[:start]+strings.ToUpper(nss),
				n.Example[:start]+strings.ReplaceAll(nss, "-", ""))
		}
	}
	return all
}

func TestKeyOfKeyIsTheKey(t *testing.T) {
	for _, s := range spellings() {
		n := MustParse(s)
		if again := MustParse(n.Key()); again != n {
			t.Errorf("%q: key %q is read as %q", s, n, again)
		}
	}
}

// TestEquivalentNamesHaveOneKey takes any two spellings (N12-54).
func TestEquivalentNamesHaveOneKey(t *testing.T) {
	all := spellings()
	rapid.Check(t, func(r *rapid.T) {
		a := respell(r, rapid.SampledFrom(all).Draw(r, "name"))
		b := respell(r, a)
		u, err := urn.Parse(a)
		if err != nil {
			r.Skip("not a URN")
		}
		v, err := urn.Parse(b)
		if err != nil || !namespace.Equivalent(u, v) {
			r.Skip("not equivalent")
		}
		n, err := FromURN(u)
		m, err2 := FromURN(v)
		if (err == nil) != (err2 == nil) || n != m {
			r.Fatalf("%q and %q are equivalent; their keys are %q, %v and %q, %v", a, b, n, err, m, err2)
		}
	})
}

// respell changes a letter's case, drops or adds a hyphen, or escapes a
// character, at a few offsets.
func respell(r *rapid.T, s string) string {
	b := []byte(s)
	for range rapid.IntRange(0, 6).Draw(r, "changes") {
		i := rapid.IntRange(0, len(b)-1).Draw(r, "at")
		switch c := b[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			b[i] ^= 0x20
		case c == '-':
			b = slices.Delete(b, i, i+1)
		case c >= '0' && c <= '9' && rapid.Bool().Draw(r, "hyphen"):
			b = slices.Insert(b, i, '-')
		case i > len("urn:"):
			b = slices.Replace(b, i, i+1, fmt.Appendf(nil, "%%%02X", c)...)
		}
	}
	return string(b)
}

// TestPrefixesOfNames divides names at each delimiter. If the first part is a prefix, it must cover
// the name, and joined with the element of the name it must give the name again.
func TestPrefixesOfNames(t *testing.T) {
	for _, s := range spellings() {
		n := MustParse(s)
		for p := range n.Prefixes {
			again, err := ParsePrefix(p.String())
			if p.String() == "urn:dns" {
				continue // names of 1995 have an AuthorityID
			}
			if err != nil || again != p || !p.Covers(n) {
				t.Errorf("%q: prefix %q is read as %q, %v; covers: %v", n, p, again, err, p.Covers(n))
			}
			if j, err := p.Join(p.Element(n)); err != nil || j != n {
				t.Errorf("%q: prefix %q and element %q join to %q, %v", n, p, p.Element(n), j, err)
			}
		}
		u := urn.MustParse(s)
		if n.NID() == "tree" || len(namespace.Check(u)) > 0 {
			continue // digests in hex have longer keys
		}
		for i := len("urn:"); i < len(s)-1; i++ {
			if p, err := ParsePrefix(s[:i]); err == nil && i > len("urn:")+len(u.NID()) && strings.IndexByte(namespace.Delimiters(n.NID()), s[i]) >= 0 && !p.Covers(n) {
				t.Errorf("the prefix of %q up to %d is %q, which does not cover %q", s, i, p, n)
			}
		}
	}
}

// TestRealNames checks real URNs: the key of a key is the key itself, and names that their
// namespaces consider equivalent have the same key.
func TestRealNames(t *testing.T) {
	lines, whole := testrun.Lines(t, "urns/urns-real.txt")
	keys := map[string]Name{}
	read := 0
	for _, line := range lines {
		u, err := urn.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		n, err := FromURN(u.Assigned())
		if err != nil {
			if !strings.EqualFold(u.NID(), "dns") {
				t.Errorf("%q: %v", u, err)
			}
			continue
		}
		read++
		if again, err := Parse(n.Key()); err != nil || again != n {
			t.Errorf("%q: key %q is read as %q, %v", u, n, again, err)
		}
		canonical := namespace.Canonical(u)
		if other, ok := keys[canonical]; ok && other != n {
			t.Errorf("%q: key %q, and %q is that of an equivalent name", u, n, other)
		}
		keys[canonical] = n
	}
	if least := map[bool]int{true: 94000, false: 300}[whole]; read < least {
		t.Errorf("read %d names, want more", read)
	}
}

func TestNoAllocations(t *testing.T) {
	names := []string{
		"urn:ietf:rfc:2648", "urn:isbn:9789510184356", "urn:issn:1234-1231", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		"urn:nbn:de:101:1-201102033592", "urn:nbn:fi-fe2019A", "urn:doi:10.1000/a-name-that-is-longer-than-thirty-two-bytes", "urn:doi:10.1000/456%23789-a-name-that-is-longer-than-thirty-two-bytes",
		"urn:lei:7LTWFZYICNSX8D621K86", "urn:oid:1.3.6.1.4.1", "urn:mrn:iala:aton:us:1234.5", "urn:example:a%2FB",
		"urn:isan:0000000189470000", "urn:ismn:9790260000438", "urn:sha1:PLSTHIPQGSSZTS5FJUPAKUZWUGYQYPFB", "urn:cts:latinLit:phi0119.phi001",
	}
	for _, s := range names {
		if n := MustParse(s); n.Key() != s {
			t.Errorf("%q is not canonical: %q", s, n)
		}
		if got := testing.AllocsPerRun(100, func() { _, _ = Parse(s) }); got != 0 {
			t.Errorf("Parse(%q): %v allocations, want 0", s, got)
		}
	}
	n, p := MustParse(names[4]), MustParsePrefix("urn:nbn:de")
	if got := testing.AllocsPerRun(100, func() {
		p.Covers(n)
		p.Element(n)
		for range n.Prefixes {
		}
	}); got != 0 {
		t.Errorf("prefixes: %v allocations, want 0", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"urn:dns:example.com:a%2D~", "ark:/12345/a.-b", "ark:/1-2-3_4/x", "doi:10.1/%C3", "https://h.example/%7e/../x", "urn:nbn:DE-A", "urn:isbn:951-0-18435-7", "urn:isan:0000-0001-8947-0000-8", "urn:tree:TIGER:lwpnacqdbzryxw3vhjvcj64qbznghohhhzwclnq",
		"urn:gsma:IMEI:90420156-025763-0;vers=0;svn=42", "urn:MRN:A-b:Cd:e", "urn:gs1:GDD:cl:X", "urn:3gpp2:MEID:a04b0d56-02a7e3", "urn:sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"urn:lex:it;a:b:c:2006;1", "urn:oid:1.3.6", "tag:a,2005:b", "info:x/y",
	} {
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

// CanonicalPrefix keeps a delimiter at the end of a prefix. The spans of a prefix are the
// beginnings of the keys that it covers.
func TestCanonicalPrefix(t *testing.T) {
	for _, tt := range []struct{ in, want, spans string }{
		{"URN:NBN:FI", "urn:nbn:fi", "urn:nbn:fi- urn:nbn:fi:"},
		{"urn:nbn:FI:Ex-", "urn:nbn:fi:ex-", "urn:nbn:fi:ex- urn:nbn:fi:ex:"},
		{"urn:nbn:fi:ex:", "urn:nbn:fi:ex:", "urn:nbn:fi:ex- urn:nbn:fi:ex:"},
		{"ark:12345/x0/", "ark:12345/x0/", "ark:12345/x0/ ark:12345/x0."},
		{"ark:", "ark:", "ark:"},
		{"https://purl.example/net/", "https://purl.example/net/", "https://purl.example/net/ https://purl.example/net:"},
		{"urn:isbn", "urn:isbn", "urn:isbn:"},
	} {
		got, err := CanonicalPrefix(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.in, got, err, tt.want)
		}
		p := MustParsePrefix(tt.in)
		if got := strings.Join(p.Spans(), " "); got != tt.spans || MustParsePrefix(tt.want) != p {
			t.Errorf("%s: spans %q, want %q", tt.in, got, tt.spans)
		}
	}
	if _, err := CanonicalPrefix("urn:isbn:978-3"); err == nil {
		t.Error("no prefix: no error")
	}
}
