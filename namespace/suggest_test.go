package namespace_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

func TestSuggest(t *testing.T) {
	for _, tt := range []struct{ in, want, why string }{
		// check digits and slips of the finger
		{"urn:isbn:978-951-0-18435-7", "urn:isbn:978-951-0-18435-6", "is 7, should be 6"},
		{"urn:isbn:978-951-0-14835-6", "urn:isbn:978-951-0-18435-6", "were swapped"},
		{"urn:isbn:97895101843S6", "urn:isbn:9789510184356", `"5" for "S"`},
		{"urn:isbn:978951O1843S6", "urn:isbn:9789510184356", `"0" for "O"`},
		{"urn:issn:l234-1231", "urn:issn:1234-1231", `"1" for "l"`},
		{"urn:issn:1234-1232", "urn:issn:1234-1231", "should be 1"},
		{"urn:nbn:de:101:1-201102033593", "urn:nbn:de:101:1-201102033592", "should be 2"},
		{"urn:nbn:de:101:1-201102303592", "urn:nbn:de:101:1-201102033592", "were swapped"},
		{"urn:lei:7LTWFZYICNSX8D621K87", "urn:lei:7LTWFZYICNSX8D621K86", "should be 86"},
		{"urn:eic:10YFR-RTE------c", "urn:eic:10YFR-RTE------C", `"C" for "c"`},
		{"urn:oid:1.03.6", "urn:oid:1.3.6", `"3" for "03"`},
		{"urn:doi:10.1000:182", "urn:doi:10.1000/182", `"/" for ":"`},
		{"urn:doi:1O.1000/182", "urn:doi:10.1000/182", "digits and periods"},
		{"urn:doi:10,1000/182", "urn:doi:10.1000/182", "digits and periods"},
		{"urn:doi:doi:10.1000/182", "urn:doi:10.1000/182", "digits and periods"},
		{"urn:ietf:rfc:0020", "urn:ietf:rfc:20", "leading zeros"},
		{"urn:gsma:imei:90420156-025763-1", "urn:gsma:imei:90420156-025763-7", "Luhn"},
		{"urn:isbn:9-78-9510184356", "urn:isbn:978-951-0-18435-6", "elements"},
		// dashes and spaces
		{"urn:isbn:978–951–0–18435–6", "urn:isbn:978-951-0-18435-6", "dashes"},
		{"urn:isni:0000 0001 2124 1960", "urn:isni:0000000121241960", "spaces"},
		// what stands around
		{"<urn:isbn:9789510184356>", "urn:isbn:9789510184356", "punctuation"},
		{"urn:ietf:rfc:2648.", "urn:ietf:rfc:2648", "punctuation"},
		{"(urn:ietf:rfc:2648),", "urn:ietf:rfc:2648", "punctuation"},
		{"URL:urn:ietf:rfc:2648", "urn:ietf:rfc:2648", "punctuation"},
		{"urn:doi:10.1000/a(b).", "urn:doi:10.1000/a(b)", "punctuation"},
		{"https://nbn-resolving.org/urn:nbn:de:101:1-201102033592", "urn:nbn:de:101:1-201102033592", "a URL"},
		{"http://example.org/N2L?urn%3Aisbn%3A9789510184356&x=y", "urn:isbn:9789510184356", "a URL"},
		{"http://resolver.example/urn:isbn:978-951-0-18435-7", "urn:isbn:978-951-0-18435-6", "should be 6"},
		{"urn:urn:isbn:9789510184356", "urn:isbn:9789510184356", "repeated"},
		{"urn:isbn:ISBN9789510184356", "urn:isbn:9789510184356", "repeated"},
		{"urn:isbn:isbn:9789510184356", "urn:isbn:9789510184356", "repeated"},
		{"urn:doi:https://doi.org/10.1000/182", "urn:doi:10.1000/182", "not part"},
		// what is missing
		{"978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "bare ISBN"},
		{"ISBN 978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "missing"},
		{"ISBN-13: 978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "missing"},
		{"isbn:9789510184357", "urn:isbn:9789510184356", "should be 6"},
		{"1234-1231", "urn:issn:1234-1231", "bare ISSN"},
		{"nbn:fi-fe201003181510", "urn:nbn:fi-fe201003181510", "missing"},
		{"10.1000/182", "urn:doi:10.1000/182", "DOI"},
		{"10.1000/456#789", "urn:doi:10.1000/456%23789", "DOI"},
		{"doi:10.1000/182", "urn:doi:10.1000/182", "missing"},
		{"https://doi.org/10.1000/182", "urn:doi:10.1000/182", "URL of a DOI"},
		{"RFC 2648", "urn:ietf:rfc:2648", "RFC"},
		{"rfc0020", "urn:ietf:rfc:20", "RFC"},
		{"919108f7-52d1-4320-9bac-f847db4148a8", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "UUID"},
		{"{919108f7-52d1-4320-9bac-f847db4148a8}", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", ""},
		{"1.3.6.1.4", "urn:oid:1.3.6.1.4", "object identifier"},
		{"7LTWFZYICNSX8D621K86", "urn:lei:7LTWFZYICNSX8D621K86", "bare LEI"},
		{"https://portal.issn.org/resource/ISSN/1234-1231", "urn:issn:1234-1231", "ISSN"},
		{"https://isni.org/isni/0000000121241960", "urn:isni:0000000121241960", "ISNI"},
		// the wrong namespace
		{"urn:isnb:9789510184356", "urn:isbn:9789510184356", `unknown namespace "isnb"`},
		{"urn:ibn:978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "unknown namespace"},
		{"urn:isbn:979-0-2600-0043-8", "urn:ismn:979-0-2600-0043-8", "International Standard Music Number"},
		{"urn:isbn:1234-1231", "urn:issn:1234-1231", "International Standard Serial Number"},
		{"urn:x-ogc:def:crs:EPSG::4326", "urn:ogc:def:crs:EPSG::4326", "experimental"},
		// as pasted from a page: signs of typesetters, of other scripts, unseen ones
		{"urn:isbn:978\u2010951\u20110\u201218435\u22126", "urn:isbn:978-951-0-18435-6", "dashes"},
		{"urn:isbn:978\u2013951\u20140\u201518435\u00ad6", "urn:isbn:978-951-0-18435-6", "dashes"},
		{"urn:isbn:978\u00a0951\u202f0\u200718435\u30006", "urn:isbn:9789510184356", "spaces"},
		{"urn:isbn:\u200e978-951-0-18435-6\u200f", "urn:isbn:978-951-0-18435-6", "invisible"},
		{"\u202aurn:isbn:9789510184356\u202c", "urn:isbn:9789510184356", "invisible"},
		{"urn:isbn:９７８－９５１－０－１８４３５－６", "urn:isbn:978-951-0-18435-6", "full-width"},
		{"ｕｒｎ：ｉｓｂｎ：９７８９５１０１８４３５６", "urn:isbn:9789510184356", "full-width"},
		{"９７８-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "full-width"},
		{"urn:isbn:٩٧٨٩٥١٠١٨٤٣٥٦", "urn:isbn:9789510184356", "foreign"},
		{"urn:isbn:۹۷۸۹۵۱۰۱۸۴۳۵۶", "urn:isbn:9789510184356", "foreign"},
		{"ISBN：978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "full-width"},
		// punctuation inside, and words behind
		{"urn:isbn:978.951.0.18435.6", "urn:isbn:9789510184356", "other characters"},
		{"urn:isbn:-9789510184356", "urn:isbn:9789510184356", "other characters"},
		{"urn:isbn:978--951-0-18435-6", "urn:isbn:9789510184356", "other characters"},
		{"urn:isbn:978-9510184356-", "urn:isbn:9789510184356", "other characters"},
		{"urn:isbn:978-951-0-18435-6 (pbk.)", "urn:isbn:978-951-0-18435-6", "the rest"},
		{"urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8&expiry=2010-12", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "the rest"},
		{"urn:btih:d3d9a9a6595521f9666a5e94cc830dab83b65699&dn=expat.txt", "urn:btih:d3d9a9a6595521f9666a5e94cc830dab83b65699", "the rest"},
		{"ISBN 978-951-0-18435-6 (nid.)", "urn:isbn:978-951-0-18435-6", "the rest"},
		{"urn:isbn:978-951-0-18435-6: EUR 20", "urn:isbn:978-951-0-18435-6", "the rest"},
		{"urn:issn:1234.1231", "urn:issn:1234-1231", "other characters"},
		{"urn:isni:0000.0001.2124.1960", "urn:isni:0000000121241960", "other characters"},
		{"urn:oid:.1.3.6.1", "urn:oid:1.3.6.1", "period"},
		{"urn:uuid:919108f752d143209bacf847db4148a8", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "hyphens"},
		{"urn:uuid:{919108f7-52d1-4320-9bac-f847db4148a8}", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "hyphens"},
		{"919108f752d143209bacf847db4148a8", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "UUID"},
		{"urn:ietf:rfc2648", "urn:ietf:rfc:2648", "series"},
		{"urn:ietf:rfc-2648", "urn:ietf:rfc:2648", "series"},
		{"urn:nbn:cz:aba001:00elz2", "urn:nbn:cz:aba001-00elz2", `"-" for ":"`},
		{"urn:gs1:(01)09506000134352(10)ABC123", "urn:gs1:01:09506000134352:10:ABC123", "brackets"},
		{"urn:nbn:fi:fe201003181510", "urn:nbn:fi-fe201003181510", `"-" for ":"`},
		{"urn:nbn:de:101:1:201102033592", "urn:nbn:de:101:1-201102033592", `"-" for ":"`},
		{"urn:nbn:de:101:1-2O11O2033592", "urn:nbn:de:101:1-201102033592", "letters that look like digits"},
		{"urn:nbn:de:101:1-201lO2033592", "urn:nbn:de:101:1-201102033592", "letters that look like digits"},
		{"urn:isbn:978951018435", "urn:isbn:9789510184356", "check digit is missing"},
		{"urn:isbn:978-951-0-18435", "urn:isbn:9789510184356", "check digit is missing"},
		{"urn:isbn:97899510184356", "urn:isbn:9789510184356", "was repeated"},
		// nine digits, of the years before ISBN
		{"urn:isbn:395-36341-1", "urn:isbn:0395363411", "nine digits"},
		// other spellings of "urn:" and of the colons
		{"urn;isbn:9789510184356", "urn:isbn:9789510184356", "colon"},
		{"urn/isbn/9789510184356", "urn:isbn:9789510184356", "colon"},
		{"urn.isbn.9789510184356", "urn:isbn:9789510184356", "colon"},
		{"URN ISBN 978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "colon"},
		{"urn: isbn: 9789510184356", "urn:isbn:9789510184356", "colon"},
		{"urn:isbn 978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "colon"},
		{"urn:isbn/9789510184356", "urn:isbn:9789510184356", "colon"},
		{"urn:isbn9789510184356", "urn:isbn:9789510184356", "colon"},
		{"urnisbn:9789510184356", "urn:isbn:9789510184356", "colon"},
		{"unr:isbn:9789510184356", "urn:isbn:9789510184356", `"unr"`},
		{"um:isbn:9789510184356", "urn:isbn:9789510184356", `"um"`},
		{"uri:isbn:9789510184356", "urn:isbn:9789510184356", `"uri"`},
		{"urn%3Aisbn%3A9789510184356", "urn:isbn:9789510184356", "escaped"},
		// addresses
		{"http://h.example/urn:isbn:9789510184356/", "urn:isbn:9789510184356", "a URL"},
		{"http://h.example/urn:isbn:9789510184356?lang=fi#p", "urn:isbn:9789510184356", "a URL"},
		{"http://h.example/urn:isbn:978-951-0-18435-7?lang=fi", "urn:isbn:978-951-0-18435-6", "should be 6"},
		{"https://h.example/isbn/9789510184356", "urn:isbn:9789510184356", "URL of an ISBN"},
		{"https://h.example/isbn/9789510184357/cover", "urn:isbn:9789510184356", "should be 6"},
		{"doi.org/10.1000/182", "urn:doi:10.1000/182", "URL of a DOI"},
		{"www.doi.org/10.1000/182", "urn:doi:10.1000/182", "URL of a DOI"},
		{"https://publisher.example/doi/abs/10.1000/182", "urn:doi:10.1000/182", "URL of a DOI"},
		// bare, and mistyped
		{"978-951-0-14835-6", "urn:isbn:978-951-0-18435-6", "were swapped"},
		{"978951O184356", "urn:isbn:9789510184356", `"0" for "O"`},
		{"9789510184357", "urn:isbn:9789510184356", "should be 6"},
		{"951-0-18435-8", "urn:isbn:951-0-18435-7", "should be 7"},
		{"e-ISSN 1234-1231", "urn:issn:1234-1231", "missing"},
		{"ISSN-L 1234-1231", "urn:issn:1234-1231", "missing"},
		{"ISSN (online): 1234-1231", "urn:issn:1234-1231", "missing"},
		{"ISSN: 1234-1232", "urn:issn:1234-1231", "should be 1"},
		{"ISBN978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "missing"},
		{"BCP 14", "urn:ietf:bcp:14", "BCP"},
		{"STD-66", "urn:ietf:std:66", "STD"},
		// empty fields are not punctuation, where they are allowed
		{"urn:iec:std:iec:60095-1:1988-08:::.", "urn:iec:std:iec:60095-1:1988-08:::", "punctuation"},
	} {
		found := namespace.Suggest(tt.in)
		ok := false
		for _, s := range found {
			ok = ok || s.Name == tt.want && strings.Contains(s.Why, tt.why)
		}
		if !ok {
			t.Errorf("Suggest(%q) = %q, want %q because of %q", tt.in, found, tt.want, tt.why)
		}
	}
	for _, in := range []string{
		"", "urn:isbn:9789510184356", "urn:example:a", "hello", "https://example.com/", "192.168.1.10", "urn:", "urn:isbn:", "isbn", "isbn:",
		"urn:zzzzzz:a", "10.1000", "rfc", "rfc:", strings.Repeat("9", 5000),
		"URN:isbn:9789510184356", "URN:ISBN:9789510184356", "urn:iec:std:iec:60095-1:1988-08:::", "urn:ogc:def:crs:EPSG::", "urn:doi:10.1000/182:",
		"1990-1995", "1234-1232", "urn:nbn:cz:aba001", "urn:nbn:fi:vn", "urn", "urn:urn-7:", "urn:x-", "urn:abc:x", "urn:nzb:x", "url:example.org:x", "uri:a:b", "http://h.example/isbn/", "urn.example.org",
		"https://h.example/doi/", "(01)", "\xff\xfe", "urn:\xff:x",
	} {
		if found := namespace.Suggest(in); len(found) != 0 {
			t.Errorf("Suggest(%.40q) = %q, want nothing", in, found)
		}
	}
}

// hostile returns texts of the maximum length that Suggest reads, made to cost much time.
func hostile() map[string]string {
	long := func(prefix, unit, end string) string {
		return prefix + strings.Repeat(unit, (2048-len(prefix)-len(end))/len(unit)) + end
	}
	return map[string]string{
		"nbn digits":        long("urn:nbn:de:101:1-", "12", "0"),
		"nbn fields":        long("urn:nbn:de", ":1", "-12"),
		"nbn dashes":        long("urn:nbn:de-", "1\u2013", "1"),
		"oid zeros":         long("urn:oid:1", ".01", ""),
		"isbn letters":      long("urn:isbn:", "O", ""),
		"isbn hyphens":      long("urn:isbn:9", "-", "9789510184356"),
		"bare hyphens":      long("978", "-", "9789510184356"),
		"gs1":               long("urn:gs1:01:09506000134352:", "4321:a:", ""),
		"brackets":          long("urn:example:", "()", ")))"),
		"closing brackets":  long("urn:isbn:9789510184356", ")", ""),
		"opening brackets":  long("", "(", "urn:isbn:1"),
		"urn:":              long("", "urn:", "isbn:1"),
		"a URL":             long("http://h.example/", "u", "urn:isbn:9789510184357"),
		"address with URNs": long("http://h.example/", "urn%3a", ""),
		"address of labels": long("http://h.example/", "isbn/", "1"),
		"unknown namespace": long("urn:isbm:", "9", ""),
		"spaces":            long("urn:isbn: ", " ", "9789510184357"),
		"words":             long("isbn ", "a ", ""),
		"wide digits":       long("urn:isbn:", "９", ""),
		"doi":               long("urn:doi:1O.", "1,", "/x"),
		"dns":               long("urn:dns:", "a.", "com"),
		"escapes":           long("urn:doi:10.1/", "%20", " "),
		"separators":        long("urn", ";", "isbn;1"),
		"newsml":            long("urn:newsml:a:20001306", ":b", ""),
		"lex":               long("urn:lex:it", ";a", ""),
	}
}

// BenchmarkSuggest measures suggestions for typical input and for hostile texts.
func BenchmarkSuggest(b *testing.B) {
	texts := hostile()
	texts["mistyped ISBN"] = "urn:isbn:978-951-0-18435-7"
	texts["mistyped NBN"] = "urn:nbn:de:101:1-201102033593"
	texts["unknown name"] = "urn:nbn:fi-fe201003181510"
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				namespace.Suggest(texts[name])
			}
		})
	}
}

// TestSuggestBounded checks that the number of calls of Check does not grow with the length of a
// text.
func TestSuggestBounded(t *testing.T) {
	checks := 0
	n := namespace.Namespace{NID: "busy", Name: "Busy", Reference: "this test", Security: "none"}
	n.Rules.Check = func(nss string) *namespace.Finding {
		checks++
		return &namespace.Finding{Code: namespace.CodeCheckDigit, End: 1, Rule: "busy", Message: "wrong", Right: nss[1:2]}
	}
	c, err := namespace.Standard().With(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{40, 64, 65, 500, 1000, 2000} {
		checks = 0
		c.Suggest("urn:busy:" + strings.Repeat("12", size/2))
		if checks > 150 {
			t.Errorf("%d bytes: %d checks", size, checks)
		}
	}
	for name, text := range hostile() {
		if len(text) > 2048 || len(text) < 2000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

// FuzzSuggest checks that suggestions are few, are valid, and differ from the input.
func FuzzSuggest(f *testing.F) {
	for _, s := range []string{
		"urn:isbn:978-951-0-18435-7", "https://doi.org/10.1000/182", "ISBN 978–951", "URN:ISBN:9789510184356", "urn/isbn.1", "um;isbn 1", "（９７８）", "a/doi/abs/10.1/2", "<urn:urn:nbn:de:101:1-2>", "http://h/urn%3aisbn%3a1", "RFC 1", "urn:isnb:1", "{x}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := namespace.Suggest(s)
		if len(found) > namespace.MaxSuggestions {
			t.Fatalf("Suggest(%q): %d suggestions", s, len(found))
		}
		for _, g := range found {
			u, err := urn.Parse(g.Name)
			if err != nil || g.Name == s || g.Why == "" {
				t.Fatalf("Suggest(%q) = %q: %v", s, g, err)
			}
			if n, ok := namespace.Lookup(u.NID()); !ok || n.Check(u.NSS()) != nil {
				t.Fatalf("Suggest(%q) = %q, which does not check", s, g)
			}
		}
	})
}

// FuzzRules checks that no rule panics, that offsets are inside the name, that the canonical form
// is valid and canonical, and that valid names with the same display form are equivalent.
func FuzzRules(f *testing.F) {
	for nid, list := range good {
		for _, nss := range list {
			f.Add(nid, nss)
		}
	}
	f.Fuzz(func(t *testing.T, nid, nss string) {
		u, err := urn.Parse("urn:" + nid + ":" + nss)
		if err != nil || u.NSS() != nss {
			return
		}
		for _, g := range namespace.Check(u) {
			if g.Offset < 0 || g.End < g.Offset || g.End > len(u.String()) || g.Message == "" || g.Rule == "" {
				t.Fatalf("Check(%q): %+v", u, g)
			}
		}
		canonical := namespace.Canonical(u)
		c, err := urn.Parse(canonical)
		if err != nil {
			t.Fatalf("Canonical(%q) = %q: %v", u, canonical, err)
		}
		if again := namespace.Canonical(c); again != canonical {
			t.Fatalf("Canonical(%q) = %q, then %q", u, canonical, again)
		}
		n, _ := namespace.Lookup(nid)
		if (n.Check(nss) == nil) != (n.Check(c.NSS()) == nil) {
			t.Fatalf("Check(%q) = %v, Check(%q) = %v", nss, n.Check(nss), c.NSS(), n.Check(c.NSS()))
		}
		general := u.Canonical()[len("urn:")+len(nid)+1:]
		if a, b := n.Display(general), n.Display(c.NSS()); a != b && !strings.EqualFold(nid, "isbn") {
			t.Fatalf("Display(%q) = %q, Display(%q) = %q", general, a, c.NSS(), b)
		}
		n.Parts(nss)
	})
}
