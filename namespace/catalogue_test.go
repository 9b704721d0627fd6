package namespace_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// TestRecords checks that each record is complete (N12-63), that it has what the draft requires
// (N12-35, N12-56), and that its example is valid.
func TestRecords(t *testing.T) {
	last := ""
	for n := range namespace.All() {
		if n.NID <= last || n.NID != strings.ToLower(n.NID) {
			t.Errorf("%s after %s: not in order, or not in lower case", n.NID, last)
		}
		last = n.NID
		if missing := n.Missing(); len(missing) > 0 {
			t.Errorf("%s: Missing() = %q", n.NID, missing)
		}
		if n.Rules.Check == nil && !strings.Contains(n.Note, "syntax only") {
			t.Errorf("%s: no rule, and the note %q does not say so", n.NID, n.Note)
		}
		if (n.Rules.Canonical != nil) != (n.Equivalence != "") {
			t.Errorf("%s: equivalence %q", n.NID, n.Equivalence)
		}
		if n.Example == "" {
			if n.Rules.Check != nil {
				t.Errorf("%s: no example", n.NID)
			}
			continue
		}
		u, err := urn.Parse(n.Example)
		if err != nil || !strings.EqualFold(u.NID(), n.NID) {
			t.Errorf("%s: example %q: %v", n.NID, n.Example, err)
			continue
		}
		if f := n.Check(u.NSS()); f != nil {
			t.Errorf("%s: example %q: %v", n.NID, n.Example, f)
		}
	}
}

// TestLookup finds namespaces in any case.
func TestLookup(t *testing.T) {
	for _, nid := range []string{"isbn", "ISBN", "IsBn", "3gpp", "URN-5", "broadband-forum-org"} {
		if n, ok := namespace.Lookup(nid); !ok || !strings.EqualFold(n.NID, nid) {
			t.Errorf("Lookup(%q) = %q, %v", nid, n.NID, ok)
		}
	}
	for _, nid := range []string{"", "isb", "isbnn", "urn", "urn-9", "zzz"} {
		if n, ok := namespace.Lookup(nid); ok {
			t.Errorf("Lookup(%q) = %q, want none", nid, n.NID)
		}
	}
}

// TestRecord hands the records to package urn, with the kinds of the reserved
// patterns (N12-10) and what namespaces say of services, keywords and fragments
// (N12-35, N12-56).
func TestRecord(t *testing.T) {
	r, err := namespace.Standard().Registry()
	if err != nil {
		t.Fatal(err)
	}
	for n := range namespace.All() {
		got, ok := r.Lookup(n.NID)
		if !ok || got.Kind != n.Kind || got.Functional != n.Functional || got.Special != n.Delimiters || got.Equivalence != n.Equivalence {
			t.Errorf("%s: record %+v", n.NID, got)
		}
	}
	if n, _ := r.Lookup("isbn"); !n.FragmentAllowed || n.Template == "" || n.Registered != "" {
		t.Errorf("isbn: record %+v", n)
	}
	if n, _ := r.Lookup("dns"); !n.Accepts("s", "I2C") || n.Accepts("s", "I2X") {
		t.Errorf("dns: record %+v", n)
	}
}

// TestCheck checks findings about names that the general syntax accepts (N12-02). Their offsets are
// those in the URN.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		in          string
		code        namespace.Code
		severity    uri.Severity
		offset, end int
	}{
		{"urn:isbn:978-951-0-18435-7", namespace.CodeCheckDigit, uri.SeverityError, 25, 26},
		{"URN:NBN:de:101:1-201102033593", namespace.CodeCheckDigit, uri.SeverityError, 28, 29},
		{"urn:doi:10.1000", namespace.CodeRule, uri.SeverityError, 15, 15},
		{"urn:issn:1234-1231#a", namespace.CodeComponent, uri.SeverityWarning, 18, 20},
		{"urn:issn:12341231", namespace.CodeForm, uri.SeverityInfo, 9, 17},
	} {
		found := namespace.Check(urn.MustParse(tt.in))
		if len(found) != 1 {
			t.Errorf("Check(%q) = %+v, want one finding", tt.in, found)
			continue
		}
		f := found[0]
		if f.Code != tt.code || f.Severity != tt.severity || f.Offset != tt.offset || f.End != tt.end {
			t.Errorf("Check(%q) = %+v, want %s %v %d-%d", tt.in, f, tt.code, tt.severity, tt.offset, tt.end)
		}
	}
	for _, in := range []string{"urn:isbn:9789510184356#p1", "urn:example:x", "urn:ietf:rfc:2648", "urn:urn-5:x", "urn:foo:x", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8?=a"} {
		if found := namespace.Check(urn.MustParse(in)); len(found) != 0 {
			t.Errorf("Check(%q) = %+v, want nothing", in, found)
		}
	}
	if found := namespace.Check(urn.URN{}); found != nil {
		t.Errorf("Check(zero) = %+v, want nil", found)
	}
	old, err := urn.Draft1995.Parse("<urn:dns:example.com:a b>")
	if err != nil {
		t.Fatal(err)
	}
	if found := namespace.Check(old); len(found) != 0 {
		t.Errorf("Check(%s) = %+v", old, found)
	}
}

// TestOverruled checks that names that are equivalent by the general syntax stay equivalent, even
// if their namespace disagrees (N12-54).
func TestOverruled(t *testing.T) {
	n := namespace.Namespace{NID: "odd", Name: "Odd", Kind: urn.KindUnregistered, Reference: "this test", Security: "none"}
	calls := 0
	n.Rules.Canonical = func(nss string) string {
		calls++
		return nss + strings.Repeat("x", calls)
	}
	c, err := namespace.Standard().With(n)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := urn.MustParse("urn:odd:a%2f"), urn.MustParse("URN:ODD:a%2F"); !c.Equivalent(a, b) {
		t.Errorf("Equivalent(%s, %s) = false", a, b)
	}
}

// TestWith registers namespaces at run time and refuses incomplete ones (N12-63),
// those that can never be registered, and those whose example is wrong.
func TestWith(t *testing.T) {
	full := namespace.Namespace{NID: "Foo", Name: "Foo", Kind: urn.KindFormal, Reference: "RFC 0", Security: "none"}
	full.Keywords = []urn.KeywordUse{{Keyword: "c", Values: []string{"toc"}}} // N12-35
	c, err := namespace.Standard().With(full)
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := c.Lookup("FOO"); !ok || n.Keywords[0].Values[0] != "toc" {
		t.Errorf("Lookup after With = %+v, %v", n, ok)
	}
	if _, ok := namespace.Lookup("foo"); ok {
		t.Error("With changed the standard catalogue")
	}
	full.Name = "Again"
	again, err := c.With(full)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := again.Lookup("foo"); n.Name != "Again" {
		t.Errorf("With of a known identifier: name %q, want Again", n.Name)
	}
	if got, want := len(slices.Collect(again.All())), len(slices.Collect(c.All())); got != want {
		t.Errorf("With of a known identifier: %d records, want %d", got, want)
	}
	for name, change := range map[string]func(*namespace.Namespace){
		"security":       func(n *namespace.Namespace) { n.Security = "" },
		"reference":      func(n *namespace.Namespace) { n.Reference = "" },
		"urn":            func(n *namespace.Namespace) { n.NID = "URN" },
		"identifier":     func(n *namespace.Namespace) { n.NID = "a_b" },
		"example":        func(n *namespace.Namespace) { n.Example = "foo" },
		"other example":  func(n *namespace.Namespace) { n.Example = "urn:bar:x" },
		"broken example": func(n *namespace.Namespace) { *n = mustLookup(t, "isbn"); n.Example = "urn:isbn:1" },
	} {
		n := full
		change(&n)
		if _, err := namespace.Standard().With(n); err == nil {
			t.Errorf("%s: With accepts %+v", name, n)
		}
	}
}

// TestJoin escapes the delimiters of a namespace inside of parts (N12-18).
func TestJoin(t *testing.T) {
	n := namespace.Namespace{Delimiters: ":"}
	for _, tt := range []struct {
		delimiter byte
		parts     []string
		want      string
	}{
		{':', []string{"a:b", "c"}, "a%3Ab:c"},
		{'-', []string{"a:b", "c-d"}, "a%3Ab-c%2Dd"},
		{':', []string{"é/", "100%"}, "%C3%A9%2F:100%25"},
		{':', []string{"A-z~"}, "A-z~"},
		{':', nil, ""},
	} {
		if got := n.Join(tt.delimiter, tt.parts...); got != tt.want {
			t.Errorf("Join(%q, %q) = %q, want %q", tt.delimiter, tt.parts, got, tt.want)
		}
	}
}

// TestNoAllocations checks that checking a valid name allocates nothing. The namespace dns is an
// exception, because it uses the parser of 1995.
func TestNoAllocations(t *testing.T) {
	for nid, list := range good {
		n := mustLookup(t, nid)
		if nid == "dns" {
			continue
		}
		for _, nss := range list {
			if got := testing.AllocsPerRun(20, func() { n.Check(nss) }); got != 0 {
				t.Errorf("%s: Check(%q): %v allocations, want 0", nid, nss, got)
			}
		}
	}
	for _, in := range []string{"urn:isbn:9789510184356", "urn:issn:1234-1231", "urn:nbn:de:101:1-201102033592", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "urn:example:a"} {
		u := urn.MustParse(in)
		if got := testing.AllocsPerRun(20, func() { namespace.Canonical(u) }); got != 0 {
			t.Errorf("Canonical(%s): %v allocations, want 0", u, got)
		}
	}
}

// TestLongNames checks that the memory that a rule allocates does not grow with the square of the
// length of a name. The names have 60 kB of repeated text. The test counts bytes and does not
// measure time.
func TestLongNames(t *testing.T) {
	const size, most = 60_000, 200 * 60_000 // a part of a name is four words
	for n := range namespace.All() {
		_, head, _ := strings.Cut(strings.TrimPrefix(n.Example, "urn:"), ":")
		for _, start := range []string{"", head} {
			for _, unit := range []string{"1", "a", ":a", ".1", ";a", ";a=b", "-1", "%20", "@a", "~", "/a", ":4321:a"} {
				nss := start + strings.Repeat(unit, size/len(unit))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				n.Check(nss)
				n.Lint(nss)
				n.Parts(nss)
				n.Canonical(nss)
				n.Display(nss)
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > most {
					t.Errorf("%s: %.20s and many %s: %d bytes", n.NID, start, unit, got)
				}
			}
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, in := range []string{"urn:isbn:9789510184356", "urn:nbn:de:101:1-201102033592", "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8"} {
		u := urn.MustParse(in)
		b.Run(u.NID(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				namespace.Check(u)
			}
		})
	}
}
