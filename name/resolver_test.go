package name

import "testing"

func TestMeant(t *testing.T) {
	for _, tt := range []struct{ in, want, rest string }{
		{"https://doi.org/10.5072/ABC", "doi:10.5072/ABC", ""},
		{"http://dx.doi.org/10.5072/ABC?noredirect", "doi:10.5072/ABC", "?noredirect"},
		{"https://DOI.org:443/10.5072/a#x", "doi:10.5072/a", "#x"},
		{"https://doi.org/doi:10.5072/a", "doi:10.5072/a", ""},
		{"doi.org/10.5072/a", "doi:10.5072/a", ""},
		{"10.5072/ABD", "doi:10.5072/ABD", ""},
		{" 10.5072/ABD ", "doi:10.5072/ABD", ""},
		{"doi: 10.5072/ABD", "doi:10.5072/ABD", ""},
		{"doi:https://doi.org/10.5072/ABD", "doi:10.5072/ABD", ""},
		{"urn:doi:https://doi.org/10.5072/ABD", "urn:doi:10.5072/ABD", ""},
		{"http://hdl.handle.net/10138/99", "hdl:10138/99", ""},
		{"http://hdl.handle.net/10.5072/x", "doi:10.5072/x", ""},
		{"hdl:https://hdl.handle.net/10138/99", "hdl:10138/99", ""},
		{"https://n2t.net/ark:/12345/b9", "ark:/12345/b9", ""},
		{"https://n2t.net/ark:12345/b9", "ark:12345/b9", ""},
		{"https://gallica.bnf.fr/ark:/12148/btv1b8449691v", "ark:/12148/btv1b8449691v", ""},
		{"n2t.net/doi:10.5072/x", "doi:10.5072/x", ""},
		{"https://identifiers.org/doi:10.5072/x", "doi:10.5072/x", ""},
		{"https://urn.fi/URN:NBN:fi-fe2020", "URN:NBN:fi-fe2020", ""},
		{"https://example.org/a/b/ARK:/12345/b9?info", "ARK:/12345/b9", "?info"},
		{"https://urn.kb.se/resolve?urn=urn:nbn:se:uu:diva-3475", "urn:nbn:se:uu:diva-3475", ""},
		{"https://portal.issn.org/resource/ISSN/0317-8471", "urn:issn:0317-8471", ""},
		{"https://isni.org/isni/0000000121032683", "urn:isni:0000000121032683", ""},
	} {
		m, ok := Interpret(tt.in)
		if !ok || m.Spelling != tt.want || m.Rest != tt.rest || m.Why == "" {
			t.Errorf("Interpret(%q) = %+v, %t; want %q, rest %q", tt.in, m, ok, tt.want, tt.rest)
		}
	}
	for _, in := range []string{
		"", "doi:10.5072/ABD", "https://doi.org/", "https://doi.org/about", "https://doi.org/the-identifier/resources",
		"https://doi.org", "https://example.org/10.5072/a", "10.5072", "10.x/a", "10./a", "10138/99", "hdl:10138/99",
		"https://example.org/a/ark:/12345", "https://example.org/a-ark:/12345/b9", "https://example.org/?/ark:/12345/b9", "example.org/a/ark:/12345/b9", "https://n2t.net/ark:12345", "https://portal.issn.org/resource/ISSN/0317-8472",
		"urn:isbn:9780306406157", "https://user@doi.org/10.5072/a", "ark:/12345/b9", "hdl:https://doi.org/10.5072/ABD", "x/urn:isbn:9780306406157",
	} {
		if m, ok := Interpret(in); ok {
			t.Errorf("Interpret(%q) = %+v; want nothing", in, m)
		}
	}
}

func TestFlaw(t *testing.T) {
	for in, offset := range map[string]int{
		"urn:isbn:9780306406158": 21, "urn:oid:1.02.3": 10, "doi:https://doi.org/10.5072/a": 4, "urn:isbn:9.78951E+12": 10,
		"ark:12345/a:b": 11,
	} {
		n, err := Parse(in)
		if err != nil {
			t.Errorf("Parse(%q): %v", in, err)
			continue
		}
		if f := n.Flaw(); f == nil || f.Offset != offset || f.Rule == "" || f.Message == "" {
			t.Errorf("%q: flaw %+v, want one at %d", in, f, offset)
		}
	}
	for _, in := range []string{"urn:isbn:9780306406157", "urn:example:x", "urn:dns:example.org:x", "doi:10.5072/a", "ark:12345/b9", "https://example.org/", "a:b"} {
		n := MustParse(in)
		if f := n.Flaw(); f != nil {
			t.Errorf("%q: %+v", in, f)
		}
		if got := testing.AllocsPerRun(100, func() { n.Flaw() }); got > 0 && n.Scheme() == "urn" {
			t.Errorf("%q: %v allocations", in, got)
		}
	}
}
