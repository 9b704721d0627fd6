package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// bareFindings returns the kind, text and URI of each finding.
func bareFindings(text string, o Options) (list []string) {
	for f := range Bytes([]byte(text), o) {
		list = append(list, fmt.Sprintf("%s %q %s", f.Kind, f.Text, f.Target))
	}
	return list
}

func TestBare(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		// DOI: ISO 26324, 4.2.
		{"DOI 10.17487/RFC8601, May", []string{`doi "10.17487/RFC8601" doi:10.17487/RFC8601`}},
		{"doi: 10.1000/182.", []string{`doi "10.1000/182" doi:10.1000/182`}},
		{"doi:10.1000/182.", []string{`uri "doi:10.1000/182" doi:10.1000/182`}},
		{"https://doi.org/10.1000/182", []string{`uri "https://doi.org/10.1000/182" https://doi.org/10.1000/182`}},
		{"see doi.org/10.1000/182)", []string{`doi "10.1000/182" doi:10.1000/182`}},
		{"(10.1016/S0022-2836(81)90087-5)", []string{`doi "10.1016/S0022-2836(81)90087-5" doi:10.1016/S0022-2836(81)90087-5`}},
		{"10.1000/1,10.1000/2; 10.1000.10/123", []string{`doi "10.1000/1" doi:10.1000/1`, `doi "10.1000/2" doi:10.1000/2`, `doi "10.1000.10/123" doi:10.1000.10/123`}},
		{"10.1000/a#b?c%20d%", []string{`doi "10.1000/a#b?c%20d" doi:10.1000/a%23b%3Fc%20d`}},
		{"10.1007/978-3-540-68825-9_14 <br>", []string{`doi "10.1007/978-3-540-68825-9_14" doi:10.1007/978-3-540-68825-9_14`}},
		{"10.1000/182<br>", []string{`doi "10.1000/182" doi:10.1000/182`}},
		{"10.1000/182[1]", []string{`doi "10.1000/182" doi:10.1000/182`}},
		{"network 10.1.2.0/24, 10.100/5, 110.1000/182, a/10.1000/182, v10.1000/182, 10.1000/", nil},

		// SICI: whole or not at all.
		{"10.1002/(SICI)1097-4636(199823)43:4<555::AID-JBM1>3.0.CO;2-X.", []string{`doi "10.1002/(SICI)1097-4636(199823)43:4<555::AID-JBM1>3.0.CO;2-X" doi:10.1002/(SICI)1097-4636(199823)43:4%3C555::AID-JBM1%3E3.0.CO;2-X`}},
		{"10.1002/1521-3951(200110)227:2<289::AID-PSSB289>3.0.CO;2-#", []string{`doi "10.1002/1521-3951(200110)227:2<289::AID-PSSB289>3.0.CO;2-#" doi:10.1002/1521-3951(200110)227:2%3C289::AID-PSSB289%3E3.0.CO;2-%23`}},
		{"10.1890/0012-9658(2001)082[1655:ETDOTE]2.0.CO;2", []string{`doi "10.1890/0012-9658(2001)082[1655:ETDOTE]2.0.CO;2" doi:10.1890/0012-9658(2001)082%5B1655:ETDOTE%5D2.0.CO;2`}},
		{"10.1002/(SICI)1097-4636(199823)43:4<555", nil},
		{"10.1002/(SICI)1097-4636(199823)43:4&lt;555::AID&gt;3.0.CO;2-X", nil},
		{"10.1002/(SICI)1097-4636(199823)43:4 next", nil},
		{"10.1016/S0022-2836(81 next", nil},

		// ISBN: ISO 2108; the word and a check digit, or the hyphens of the ranges and it.
		{"ISBN 0-521-43108-5, 1992", []string{`isbn "0-521-43108-5" urn:isbn:9780521431088`}},
		{"ISBN-13: 978-0976259503", []string{`isbn "978-0976259503" urn:isbn:9780976259503`}},
		{"isbn: 0 19 853453 1 (pbk.)", []string{`isbn "0 19 853453 1" urn:isbn:9780198534532`}},
		{"ISBN (print)\n 1931624232.", []string{`isbn "1931624232" urn:isbn:9781931624237`}},
		{"ISBN-10 080442957x", []string{`isbn "080442957x" urn:isbn:9780804429573`}},
		{"978-0-521-43108-8 and 0-521-43108-5", []string{`isbn "978-0-521-43108-8" urn:isbn:9780521431088`, `isbn "0-521-43108-5" urn:isbn:9780521431088`}},
		{"9780521431088 0521431085 978-052143108-8 0-521-43108-6 0-52-143108-5 ISBN 0-521-43108-6 ISBN 12345", nil},
		{"urn:isbn:0-521-43108-5", []string{`urn "urn:isbn:0-521-43108-5" urn:isbn:0-521-43108-5`}},

		// ISSN: ISO 3297; the word and a check digit.
		{"ISSN 0167-739X, eISSN: 2049-3630; ISSN-L 1748-7188 issn (online): 03785955", []string{
			`issn "0167-739X" urn:issn:0167-739X`, `issn "2049-3630" urn:issn:2049-3630`, `issn "1748-7188" urn:issn:1748-7188`, `issn "03785955" urn:issn:0378-5955`,
		}},
		{"1998-2003 0167-739X ISSN 0167-7391 missn 0167-739X", nil},

		// ORCID: the blocks and the check character.
		{"0000-0002-1825-0097, (0000-0001-5109-3700) orcid.org/0000-0002-1694-233X", []string{
			`orcid "0000-0002-1825-0097" https://orcid.org/0000-0002-1825-0097`, `orcid "0000-0001-5109-3700" https://orcid.org/0000-0001-5109-3700`, `orcid "0000-0002-1694-233X" https://orcid.org/0000-0002-1694-233X`,
		}},
		{"0000-0002-1825-0098 1234-5678-9012-3456 0000-0000-0000-0001 7-0000-0002-1825-0097 0000-0002-1825-00971", nil},

		// arXiv: the new form and the old one.
		{"arXiv:2101.00001v2 [cs.DL], arXiv: 0704.0001, arXiv:hep-th/9901001, arxiv:math.GT/0309136v1.", []string{
			`arxiv "arXiv:2101.00001v2" https://arxiv.org/abs/2101.00001v2`, `arxiv "0704.0001" https://arxiv.org/abs/0704.0001`,
			`arxiv "arXiv:hep-th/9901001" https://arxiv.org/abs/hep-th/9901001`, `arxiv "arxiv:math.GT/0309136v1" https://arxiv.org/abs/math.GT/0309136v1`,
		}},
		{"arxiv.org/abs/1511.08336", []string{`arxiv "1511.08336" https://arxiv.org/abs/1511.08336`}},
		{"2101.00001 arXiv:2113.00001 arXiv:2101.0001 arXiv:0704.00001 arXiv:foo/9901001 arXiv:hep-th/0801001", nil},

		// PubMed and PubMed Central.
		{"PMID: 19029910; PMID 1 PMCID: PMC123, PMC2651791", []string{
			`pmid "19029910" https://pubmed.ncbi.nlm.nih.gov/19029910/`, `pmid "1" https://pubmed.ncbi.nlm.nih.gov/1/`,
			`pmcid "PMC123" https://pmc.ncbi.nlm.nih.gov/articles/PMC123/`, `pmcid "PMC2651791" https://pmc.ncbi.nlm.nih.gov/articles/PMC2651791/`,
		}},
		{"PMID: 012, PMID: 123456789, PMC551, 19029910, pmc2651791", nil},
	} {
		if got := bareFindings(tt.text, Options{Bare: BareKinds}); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got\n%s\nwant\n%s", tt.text, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// Each kind is found only if it is selected, and none by default.
func TestBareKinds(t *testing.T) {
	const text = "10.1000/182 ISBN 0-521-43108-5 ISSN 0167-739X 0000-0002-1825-0097 arXiv:2101.00001 PMID: 19029910 PMC2651791"
	if got := bareFindings(text, Options{}); len(got) != 0 {
		t.Errorf("by default: got %q, want nothing", got)
	}
	for k := DOI; k < kinds; k++ {
		got := bareFindings(text, Options{Bare: KindsOf(k)})
		if len(got) != 1 || !strings.HasPrefix(got[0], k.String()+" ") {
			t.Errorf("%s: got %q, want one", k, got)
		}
		set, err := ParseBareKinds(k.String())
		if err != nil || set != KindsOf(k) {
			t.Errorf("ParseBareKinds(%q) = %b, %v", k, set, err)
		}
	}
	if set, err := ParseBareKinds("doi, isbn,all"); err != nil || set != BareKinds {
		t.Errorf("all: got %b, %v, want %b", set, err, BareKinds)
	}
	if _, err := ParseBareKinds("doi,uri"); err == nil || !strings.Contains(err.Error(), `"uri"`) {
		t.Errorf("uri: got error %v, want one that names it", err)
	}
}

// A DOI in a link is taken whole, also beyond what a URI can contain, or not at
// all.
func TestDOILinks(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"https://doi.org/10.1002/(SICI)1097-4636(199823)43:4<555::AID-JBM1>3.0.CO;2-X,", "https://doi.org/10.1002/(SICI)1097-4636(199823)43:4%3C555::AID-JBM1%3E3.0.CO;2-X"},
		{"doi:10.1002/1521-3951(200110)227:2<289::AID-PSSB289>3.0.CO;2-6", "doi:10.1002/1521-3951(200110)227:2%3C289::AID-PSSB289%3E3.0.CO;2-6"},
		{"http://dx.doi.org/10.1890/0012-9658(2001)082[1655:ETDOTE]2.0.CO;2", "http://dx.doi.org/10.1890/0012-9658(2001)082%5B1655:ETDOTE%5D2.0.CO;2"},
		{"<https://doi.org/10.1002/(SICI)1097-4636(199823)43:4<555::AID-JBM1>3.0.CO;2-X>", "https://doi.org/10.1002/(SICI)1097-4636(199823)43:4%3C555::AID-JBM1%3E3.0.CO;2-X"},
		{"https://doi.org/10.1002/(SICI)1097-4636(199823)43:4<555", ""},
		{"doi:10.1002/(SICI)1097-4636(199823)43:4<555", ""},
		{"doi:10.1016/0022-2836(81", ""},
		{"https://doi.org/10.1000/182<br>", "https://doi.org/10.1000/182"},
		{"http://a.example/<b>", "http://a.example/"},
	} {
		var got []string
		for f := range Bytes([]byte(tt.text), Options{}) {
			got = append(got, f.URI.String())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Identifiers with a scheme of their own are found by default.
func TestPersistentSchemes(t *testing.T) {
	f := required(t, "text", Options{})
	f("see swh:1:cnt:94a9ed024d3859793618152ea559a168bbcbb5e2;lines=1-18.", "swh:1:cnt:94a9ed024d3859793618152ea559a168bbcbb5e2;lines=1-18")
	f("swh:1:xyz:94a9ed024d3859793618152ea559a168bbcbb5e2 swh:1:cnt:94a9", "")
	f("pkg:npm/%40angular/animation@12.3.1, pkg:deb/debian/curl@7.50.3-1?arch=i386.", "pkg:npm/%40angular/animation@12.3.1 pkg:deb/debian/curl@7.50.3-1?arch=i386")
	f("pkg:foo pkg:lib/x pkg::y", "")
}

// A slash in a JSON string may be escaped (RFC 8259, 7).
func TestJSONSlashes(t *testing.T) {
	f := required(t, "text", Options{})
	f(`{"a":"https:\/\/a.example\/b\/c","b": "http://c.example\/d"}`, "https://a.example/b/c http://c.example/d")
	f(`["see https:\/\/a.example\/b, or","http:\/\/b.example"]`, "https://a.example/b http://b.example")
	f(`{"a":"https:\/\/a.example\/{id}"}`, "")
	f(`s/http:\/\/a.example\/b/http:\/\/c.example\/d/`, "")
	f(`x = "a" + http:\/\/a.example\/b`, "")
}
