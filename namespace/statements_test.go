package namespace

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// TestStatements compares the table of statements with the catalogue. Every NID has exactly one
// row, every row has an NID of the catalogue and names documents of its namespace, and its values
// are well formed (N12-35, N12-56, N12-68 to N12-70).
func TestStatements(t *testing.T) {
	for nid := range statements() {
		if _, ok := Lookup(nid); !ok {
			t.Errorf("%s: a row, but not in the catalogue", nid)
		}
	}
	for n := range All() {
		s, ok := statements()[n.NID]
		if !ok {
			t.Errorf("%s: no row", n.NID)
			continue
		}
		if n.Delimiters != s.special || n.Functional != s.functional || n.DefaultService != s.byDefault ||
			n.Stated != s.stated || !slices.Equal(n.Services, s.services) {
			t.Errorf("%s: the record says %+v, and the row %+v", n.NID, n, s)
		}
		registered, _ := urn.IANANamespaces().Lookup(n.NID)
		for source := range strings.SplitSeq(s.stated, "; ") {
			document, _, _ := strings.Cut(source, ",")
			if s.stated != "" && !slices.ContainsFunc([]string{n.Reference, registered.Reference, registered.Template}, func(s string) bool { return names(s, document) }) {
				t.Errorf("%s: N12-68: stated %q: neither the reference %q nor the template %q names it", n.NID, source, n.Reference, registered.Template)
			}
		}
		for _, service := range s.services {
			if _, ok := urn.Services2012().Lookup(service); !ok {
				t.Errorf("%s: N12-35: unknown service %q", n.NID, service)
			}
		}
		if s.byDefault != "" && !slices.Contains(s.services, s.byDefault) {
			t.Errorf("%s: N12-56: default service %q is not one of %q", n.NID, s.byDefault, s.services)
		}
		for i := range len(s.special) {
			if c := s.special[i]; strings.IndexByte(s.special[:i], c) >= 0 || !ascii.IsPchar(c) && c != '/' || ascii.IsAlnum(c) {
				t.Errorf("%s: N12-69: special characters %q: %q is repeated or not one", n.NID, s.special, c)
			}
		}
	}
}

// names reports whether text names a document: "RFC 301" is not in "RFC 3010".
func names(text, document string) bool {
	for {
		_, rest, ok := strings.Cut(text, document)
		if !ok {
			return false
		}
		if rest == "" || !ascii.IsAlnum(rest[0]) {
			return true
		}
		text = rest
	}
}
