package namespace_test

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

func TestSuggest(t *testing.T) {
	for _, tt := range []struct{ in, want, why string }{
		// check digits and slips of the finger
		{"urn:isbn:978-951-0-18435-7", "urn:isbn:978-951-0-18435-6", "is 7, should be 6"},
		{"urn:isbn:978-951-0-14835-6", "urn:isbn:978-951-0-18435-6", "changed places"},
		{"urn:isbn:97895101843S6", "urn:isbn:9789510184356", `"5" for "S"`},
		{"urn:isbn:978951O1843S6", "urn:isbn:9789510184356", `"0" for "O"`},
		{"urn:issn:l234-1231", "urn:issn:1234-1231", `"1" for "l"`},
		{"urn:issn:1234-1232", "urn:issn:1234-1231", "should be 1"},
		{"urn:nbn:de:101:1-201102033593", "urn:nbn:de:101:1-201102033592", "should be 2"},
		{"urn:nbn:de:101:1-201102303592", "urn:nbn:de:101:1-201102033592", "changed places"},
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
		{"<urn:isbn:9789510184356>", "urn:isbn:9789510184356", "marks"},
		{"urn:ietf:rfc:2648.", "urn:ietf:rfc:2648", "marks"},
		{"(urn:ietf:rfc:2648),", "urn:ietf:rfc:2648", "marks"},
		{"URL:urn:ietf:rfc:2648", "urn:ietf:rfc:2648", "marks"},
		{"urn:doi:10.1000/a(b).", "urn:doi:10.1000/a(b)", "marks"},
		{"https://nbn-resolving.org/urn:nbn:de:101:1-201102033592", "urn:nbn:de:101:1-201102033592", "address"},
		{"http://example.org/N2L?urn%3Aisbn%3A9789510184356&x=y", "urn:isbn:9789510184356", "address"},
		{"http://resolver.example/urn:isbn:978-951-0-18435-7", "urn:isbn:978-951-0-18435-6", "should be 6"},
		{"urn:urn:isbn:9789510184356", "urn:isbn:9789510184356", "twice"},
		{"urn:isbn:ISBN9789510184356", "urn:isbn:9789510184356", "twice"},
		{"urn:isbn:isbn:9789510184356", "urn:isbn:9789510184356", "twice"},
		{"urn:doi:https://doi.org/10.1000/182", "urn:doi:10.1000/182", "no part"},
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
		{"https://doi.org/10.1000/182", "urn:doi:10.1000/182", "address of a DOI"},
		{"RFC 2648", "urn:ietf:rfc:2648", "RFC"},
		{"rfc0020", "urn:ietf:rfc:20", "RFC"},
		{"919108f7-52d1-4320-9bac-f847db4148a8", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "UUID"},
		{"{919108f7-52d1-4320-9bac-f847db4148a8}", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", ""},
		{"1.3.6.1.4", "urn:oid:1.3.6.1.4", "object identifier"},
		{"7LTWFZYICNSX8D621K86", "urn:lei:7LTWFZYICNSX8D621K86", "bare LEI"},
		{"https://portal.issn.org/resource/ISSN/1234-1231", "urn:issn:1234-1231", "ISSN"},
		{"https://isni.org/isni/0000000121241960", "urn:isni:0000000121241960", "ISNI"},
		// the wrong namespace
		{"urn:isnb:9789510184356", "urn:isbn:9789510184356", `no namespace "isnb"`},
		{"urn:ibn:978-951-0-18435-6", "urn:isbn:978-951-0-18435-6", "no namespace"},
		{"urn:isbn:979-0-2600-0043-8", "urn:ismn:979-0-2600-0043-8", "International Standard Music Number"},
		{"urn:isbn:1234-1231", "urn:issn:1234-1231", "International Standard Serial Number"},
		{"urn:x-ogc:def:crs:EPSG::4326", "urn:ogc:def:crs:EPSG::4326", "experimental"},
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
	} {
		if found := namespace.Suggest(in); len(found) != 0 {
			t.Errorf("Suggest(%.40q) = %q, want nothing", in, found)
		}
	}
}

// FuzzSuggest: suggestions are few, valid, and not what was asked.
func FuzzSuggest(f *testing.F) {
	for _, s := range []string{
		"urn:isbn:978-951-0-18435-7", "https://doi.org/10.1000/182", "ISBN 978–951", "<urn:urn:nbn:de:101:1-2>", "http://h/urn%3aisbn%3a1", "RFC 1", "urn:isnb:1", "{x}",
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

// FuzzRules: no rule panics, offsets are inside, the canonical form checks and is
// a fixed point of namespace and syntax, and valid names that look the same are
// the same.
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
