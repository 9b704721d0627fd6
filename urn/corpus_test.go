package urn

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/internal/testrun"
)

// metLines returns the lines of a list of URNs found in practice, without empty lines. If the whole
// list is not there, it returns the lines of the part that is committed.
func metLines(t testing.TB, name string) (lines []string, whole bool) {
	t.Helper()
	lines, whole = testrun.Lines(t, "urns/"+name)
	return slices.DeleteFunc(lines, func(s string) bool { return s == "" }), whole
}

// metMalformed returns the strings that the collectors of the list classified as malformed.
func metMalformed(t testing.TB) []string {
	var bad []string
	lines, _ := metLines(t, "urns-malformed.tsv")
	for _, line := range lines[1:] {
		s, _, _ := strings.Cut(line, "\t")
		bad = append(bad, s)
	}
	return bad
}

// accepted counts the lines that each dialect accepts.
func accepted(lines []string) map[string]int {
	n := map[string]int{}
	for _, s := range lines {
		for d := Draft1995; d.IsValid(); d++ {
			if _, err := d.Parse(s); err == nil {
				n[d.String()]++
			}
		}
	}
	return n
}

// The counts of valid and invalid names in docs/reference/urns-met.md are correct.
func TestMetSyntax(t *testing.T) {
	good, whole := metLines(t, "urns-real.txt")
	bad := metMalformed(t)
	if !whole { // how the collectors classified them
		if real, malformed := accepted(good)["rfc8141"], accepted(bad)["rfc8141"]; real != len(good) || malformed != 0 {
			t.Errorf("%d of %d are right, and %d of those that are not", real, len(good), malformed)
		}
		return
	}
	for _, tt := range []struct {
		name  string
		lines []string
		size  int
		want  map[string]int
	}{
		{"real", good, 94163, map[string]int{"1995": 91268, "rfc2141": 94095, "2012": 94106, "rfc8141": 94163}},
		{"malformed", bad, 7386, map[string]int{"1995": 42, "rfc2141": 5}},
	} {
		if len(tt.lines) != tt.size {
			t.Errorf("%s: %d lines, want %d", tt.name, len(tt.lines), tt.size)
		}
		if diff := cmp.Diff(accepted(tt.lines), tt.want); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// refusals counts why a dialect refuses lines.
func refusals(d Dialect, lines []string) map[string]int {
	n := map[string]int{}
	for _, s := range lines {
		var e *Error
		if _, err := d.Parse(s); errors.As(err, &e) {
			n[e.Rule+": "+e.Message]++
		}
	}
	return n
}

// ofPart prepares the counts of a part for the comparison with those of the whole list. If a count
// of the part is not greater, ofPart sets it to the count of the whole list. So only counts that
// the part cannot have differ.
func ofPart(got, whole map[string]int) {
	for what, n := range whole {
		if got[what] <= n {
			got[what] = n
		}
	}
}

func TestMetRefusals(t *testing.T) {
	good, whole := metLines(t, "urns-real.txt")
	bad := metMalformed(t)
	for _, tt := range []struct {
		name  string
		d     Dialect
		lines []string
		want  map[string]int
	}{
		{"malformed", RFC8141, bad, map[string]int{
			`NSS: contains "|"`:                                        7335,
			`NSS: contains " "`:                                        41,
			`NSS: begins with "|"`:                                     1,
			`NSS: begins with "/"`:                                     1,
			`assigned-name: has no ":" after the NID`:                  3,
			`f-component: contains "#"`:                                3,
			`rq-components: "?" is followed by "E", not by "+" or "="`: 1,
			`rq-components: "?" is followed by "G", not by "+" or "="`: 1,
		}},
		{"real", Draft2012, good, map[string]int{`NSS: contains "/"`: 57}},
		{"real", RFC2141, good, map[string]int{`NSS: contains "&"`: 41, `NSS: contains "~"`: 27}},
		{"real", Draft1995, good, map[string]int{
			"urn95: fields missing: a name must have the four fields urn:SchemeID:AuthorityID:ElementID": 2772,
			`ElementID: reserved character "#"`:              90,
			`ElementID: contains "~", which must be escaped`: 27,
			"AuthorityID: empty":                             6,
		}},
	} {
		got := refusals(tt.d, tt.lines)
		if !whole {
			ofPart(got, tt.want)
		}
		if diff := cmp.Diff(got, tt.want); diff != "" {
			t.Errorf("%s, %s: %s", tt.name, tt.d, diff)
		}
	}
}

// The counts of findings about these names.
func TestMetFindings(t *testing.T) {
	in := Inspector{Namespaces: IANANamespaces()}
	n := map[string]int{}
	lines, whole := metLines(t, "urns-real.txt")
	for _, s := range lines {
		for _, f := range in.Inspect(RFC8141, s) {
			n[string(f.Code)]++
		}
	}
	want := map[string]int{
		"unregistered-nid": 28902, "experimental-nid": 423, "reserved-nid": 54,
		"uppercase-nid": 401, "uppercase-scheme": 341,
	}
	if !whole {
		ofPart(n, want)
	}
	if diff := cmp.Diff(n, want); diff != "" {
		t.Error(diff)
	}
}

// Our table and the collectors agree which names are in registered namespaces.
func TestMetRegistered(t *testing.T) {
	table := IANANamespaces()
	lines, _ := metLines(t, "urns-real.tsv")
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		nid := MustParse(cells[0]).NID()
		if _, ok := table.Lookup(nid); ok != (cells[2] == "y") {
			t.Errorf("%s: registered %v, they say %s", nid, ok, cells[2])
		}
	}
}

// The canonical spelling of a name, parsed again, is canonical. Equivalent names in the list differ
// only in an f-component or in the case of the scheme or the NID.
func TestMetCanonical(t *testing.T) {
	byName := map[Name][]URN{}
	lines, whole := metLines(t, "urns-real.txt")
	for _, s := range lines {
		u := MustParse(s)
		n, err := u.Name()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseName(n.String()); err != nil || again != n {
			t.Fatalf("%q: %v, %v", s, again, err)
		}
		byName[n] = append(byName[n], u)
	}
	byCase, byFragment := 0, 0
	for _, all := range byName {
		if len(all) > 1 && slices.ContainsFunc(all, func(u URN) bool { return !u.IsAssigned() }) {
			byFragment++
		} else if len(all) > 1 {
			byCase++
		}
	}
	if got, want := [3]int{len(byName), byCase, byFragment}, [3]int{94086, 3, 12}; whole && got != want {
		t.Errorf("names, shared by case, shared by f-component: %v, want %v", got, want)
	}
}
