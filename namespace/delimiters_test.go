package namespace_test

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

// TestDelimiters compares Delimiters with the field Delimiters of the records. A namespace with
// rules but without this field has no delimiters. In other namespaces, Delimiters returns only
// characters of the field.
func TestDelimiters(t *testing.T) {
	for n := range namespace.All() {
		got := namespace.Delimiters(n.NID)
		if want := n.Rules.Check == nil || n.Delimiters != ""; (got != "") != want {
			t.Errorf("Delimiters(%q) = %q, and the record says %q", n.NID, got, n.Delimiters)
		}
		for _, c := range got {
			if n.Delimiters != "" && !strings.ContainsRune(n.Delimiters, c) && n.NID != "gsma" && n.NID != "3gpp2" && n.NID != "lex" && n.NID != "nir" {
				t.Errorf("Delimiters(%q) has %q, and the record says %q", n.NID, c, n.Delimiters)
			}
		}
	}
	for nid, want := range map[string]string{
		"oid": ".", "nbn": "-:", "doi": "/", "uuid": "", "isbn": "", "ietf": ":", "dns": ":", "unheard-of": ":", "urn-5": ":", "urn-7": ".", "urn-3": ":.", "gvat": "/", "s1000d": "-_", "lex": ":;@$~!",
	} {
		if got := namespace.Delimiters(nid); got != want {
			t.Errorf("Delimiters(%q) = %q, want %q", nid, got, want)
		}
	}
}

// TestFoldPrefix folds what names begin with.
func TestFoldPrefix(t *testing.T) {
	for _, tt := range []struct{ nid, in, want string }{
		{"nbn", "FI", "fi"},
		{"nbn", "SE:UU:Diva", "se:uu:diva"},
		{"nbn", "SE:UU:Diva-Ab", "se:uu:diva-Ab"},
		{"nan", "FI:KA", "fi:ka"},
		{"mrn", "IALA", "iala"},
		{"mrn", "IALA:Aton:US", "iala:aton:US"},
		{"gs1", "GDD:BIE:Product", "gdd:bie:Product"},
		{"gs1", "GDD", "gdd"},
		{"gs1", "STD:a:1", "std:a:1"},
		{"3gpp2", "MEID", "meid"},
		{"3gpp2", "Meid:a04b0d56", "meid:A04B0D56"},
		{"3gpp2", "Other:a", "Other:a"},
		{"gsma", "IMEI:90420156", "imei:90420156"},
		{"ietf", "RFC", "rfc"},
		{"iso", "STD:ISO:9999", "std:iso:9999"},
		{"doi", "10.1000%2FAb", "10.1000/ab"},
		{"eidr", "10.1234", "10.1234"},
		{"tree", "TIGER", "tiger"},
		{"bitprint", "3i42h3s6nnfq2msvx7xzkyayscx5qbyj", "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},
		{"oid", "1.3", "1.3"},
		{"newsml", "IPTC.org:20001006", "iptc.org:20001006"},
		{"fdc", "Example.COM:Ab", "example.com:Ab"},
		{"mpeg", "MPEG7", "mpeg7"},
		{"meta", "MARC21:X", "marc21:x"},
		{"meta", "MARC21-X:Y", "marc21-X:Y"},
		{"uci", "G3000+Music", "g3000+music"},
		{"pwid", "ARCHIVE.org", "archive.org"},
		{"pwid", "ARCHIVE.org:2016-01-22t10", "archive.org:2016-01-22T10"},
		{"pwid", "A.org:2016-01-22T10:08:23Z:Page:http://A", "a.org:2016-01-22T10:08:23Z:page:http://A"},
		{"urn-3", "A:B", "a:b"},
		{"urn-4", "A.B", "A.B"},
		{"example", "A", "A"},
	} {
		if got := namespace.FoldPrefix(tt.nid, tt.in); got != tt.want {
			t.Errorf("FoldPrefix(%q, %q) = %q, want %q", tt.nid, tt.in, got, tt.want)
		}
	}
}

// TestFoldPrefixIsThatOfNames divides names at each delimiter, in lower and upper case. The folded
// prefix must be the beginning of the canonical spelling.
func TestFoldPrefixIsThatOfNames(t *testing.T) {
	for n := range namespace.All() {
		u, err := urn.Parse(n.Example)
		if err != nil || n.NID == "dns" { // dns is by the rules of 1995
			continue
		}
		d := namespace.Delimiters(n.NID)
		for _, nss := range []string{u.NSS(), strings.ToLower(u.NSS()), strings.ToUpper(u.NSS())} {
			if n.Check(nss) != nil {
				continue
			}
			key := n.Canonical(nss)
			for i := range len(nss) {
				if strings.IndexByte(d, nss[i]) < 0 {
					continue
				}
				if p := namespace.FoldPrefix(n.NID, nss[:i]); !strings.HasPrefix(key, p) || namespace.FoldPrefix(n.NID, p) != p {
					t.Errorf("FoldPrefix(%q, %q) = %q, and %q is the canonical spelling", n.NID, nss[:i], p, key)
				}
			}
		}
	}
}
