package namespace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

func mustLookup(t testing.TB, nid string) namespace.Namespace {
	t.Helper()
	n, ok := namespace.Lookup(nid)
	if !ok {
		t.Fatalf("Lookup(%q): not there", nid)
	}
	return n
}

// TestISBNCorpus checks that the check digits, the conversion and the ranges agree with real
// numbers.
func TestISBNCorpus(t *testing.T) {
	isbn := mustLookup(t, "isbn")
	good, _ := testrun.Lines(t, "isbn/isbn-goodbooks.tsv")
	for _, line := range good[1:] {
		f := strings.Split(line, "\t")
		if f[2] == "" {
			f[2] = isbn.Display(f[1]) // the number is in a range that is not assigned
		}
		for _, s := range f[:3] {
			if got := isbn.Check(s); got != nil {
				t.Errorf("Check(%q) = %v, want nil", s, got)
			}
			if got := isbn.Canonical(s); got != f[1] {
				t.Errorf("Canonical(%q) = %q, want %q", s, got, f[1])
			}
		}
		if got := isbn.Display(f[1]); got != f[2] {
			t.Errorf("Display(%q) = %q, want %q", f[1], got, f[2])
		}
	}
	bad, _ := testrun.Lines(t, "isbn/isbn10-bad.txt")
	for _, s := range bad {
		if got := isbn.Check(s); got == nil {
			t.Errorf("Check(%q) = nil, want a finding", s)
		} else if got.Code == namespace.CodeCheckDigit {
			if again := isbn.Check(s[:got.Offset] + got.Right + s[got.End:]); again != nil {
				t.Errorf("Check(%q), mended as told: %v", s, again)
			}
		}
	}
	t.Logf("%d good, %d bad", len(good)-1, len(bad))
}

func TestISSNCorpus(t *testing.T) {
	issn := mustLookup(t, "issn")
	good, _ := testrun.Lines(t, "collections/issn-good.txt")
	bad, _ := testrun.Lines(t, "collections/issn-bad.txt")
	for _, s := range good {
		if got := issn.Check(s); got != nil {
			t.Errorf("Check(%q) = %v, want nil", s, got)
		}
		if got := issn.Canonical(strings.ReplaceAll(s, "-", "")); got != strings.ToUpper(s) {
			t.Errorf("Canonical of %q without its hyphen = %q", s, got)
		}
	}
	for _, s := range bad {
		if got := issn.Check(s); got == nil {
			t.Errorf("Check(%q) = nil, want a finding", s)
		}
	}
	t.Logf("%d good, %d bad", len(good), len(bad))
}

// TestRegistry compares the catalogue with the registry of IANA.
func TestRegistry(t *testing.T) {
	registered := map[string]bool{}
	all, whole := testrun.Lines(t, "iana/urn-namespaces.tsv")
	for _, line := range all[1:] {
		f := strings.Split(line, "\t")
		registered[f[0]] = true
		n, ok := namespace.Lookup(f[0])
		if !ok {
			t.Errorf("Lookup(%q): not there", f[0])
			continue
		}
		if got := n.Kind.String(); got != f[1] {
			t.Errorf("%s: kind %s, want %s", f[0], got, f[1])
		}
		if rfc := strings.Split(f[2], ";")[0]; strings.HasPrefix(rfc, "RFC") && !strings.Contains(n.Reference, rfc) {
			t.Errorf("%s: reference %q, want %q in it", f[0], n.Reference, rfc)
		}
	}
	for n := range namespace.All() {
		if want := n.Kind != urn.KindUnregistered; whole && registered[n.NID] != want {
			t.Errorf("%s: in the registry %v, kind %v", n.NID, registered[n.NID], n.Kind)
		}
	}
}

// TestTemplateExamples checks that the rules accept the examples of the registrations.
func TestTemplateExamples(t *testing.T) {
	checked := 0
	examples, _ := testrun.Lines(t, "iana/template-examples.tsv")
	for _, line := range examples {
		file, example, _ := strings.Cut(line, "\t")
		u, err := urn.Parse(example)
		if err != nil || notAName[example] {
			continue
		}
		n, ok := namespace.Lookup(u.NID())
		if !ok || n.Rules.Check == nil {
			continue
		}
		checked++
		if f := n.Check(u.NSS()); f != nil {
			t.Errorf("%s: %s: %v", file, u, f)
		}
	}
	if checked < 70 {
		t.Errorf("checked %d examples, want more", checked)
	}
}

// notAName are words of the registrations that look like a name, but are only the beginning of
// names.
var notAName = map[string]bool{
	"URN:ISBN:978-951": true, // all numbers of Finland
	"URN:ISBN:978-952": true,
	"urn:mrn:iala":     true, // all names of an organization
}

// A classOf is a class of findings whose messages differ only in numbers and quoted text.
type classOf struct{ severity, nid, rule, found string }

// varying matches the parts of a message that differ from name to name.
var varying = regexp.MustCompile(`"[^"]*"|[0-9]+`)

// TestRealNames compares the findings about real names with the tables of
// docs/reference/names-refused.md. Each class must be there with its count, and with an example of
// this class.
func TestRealNames(t *testing.T) {
	classes, names := map[classOf][]string{}, 0
	all, whole := testrun.Lines(t, "urns/urns-real.txt")
	for _, line := range all {
		u, err := urn.Parse(line)
		if err != nil {
			continue
		}
		if n, ok := namespace.Lookup(u.NID()); !ok || n.Rules.Check == nil {
			continue
		}
		names++
		for _, f := range namespace.Check(u) {
			n, _ := namespace.Lookup(u.NID())
			c := classOf{f.Severity.String(), n.NID, f.Rule, varying.ReplaceAllString(f.Message, "…")}
			classes[c] = append(classes[c], line)
		}
	}
	text, explained := explanations(t)
	if want := fmt.Sprintf(" %d names ", names); whole && !strings.Contains(text, want) {
		t.Errorf("the text does not speak of%s", want)
	}
	for c, met := range classes {
		row := explained[c]
		if row.count < len(met) || whole && (row.count != len(met) || !slices.Contains(met, row.example)) {
			t.Errorf("%+v: %d names, as %s; the table has %d, as %s", c, len(met), met[0], row.count, row.example)
		}
		delete(explained, c)
	}
	for c := range explained {
		if whole {
			t.Errorf("%+v: in the table, and not met", c)
		}
	}
}

type explanation struct {
	count   int
	example string
}

// explanations reads the tables: names, severity, namespace, rule, what is found,
// example and explanation.
func explanations(t *testing.T) (text string, rows map[classOf]explanation) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "docs", "reference", "names-refused.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows = map[classOf]explanation{}
	for line := range strings.Lines(string(b)) {
		f := strings.Split(line, "|")
		if len(f) != 9 {
			continue
		}
		for i := range f {
			f[i] = strings.Trim(f[i], " `\n")
		}
		if n, err := strconv.Atoi(strings.ReplaceAll(f[1], ",", "")); err == nil {
			rows[classOf{f[2], f[3], f[4], f[5]}] = explanation{n, f[6]}
			if f[7] == "" {
				t.Errorf("no explanation: %s", line)
			}
		}
	}
	return string(b), rows
}
