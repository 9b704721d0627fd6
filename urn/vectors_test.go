package urn

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nomen-project/nomen/uri"
)

// A vector is an entry of docs/spec/vectors; files use the fields they need.
type vector struct {
	ID, Dialect, Production, Input, A, B, Reason string

	SchemeID    string  `json:"scheme_id"`
	AuthorityID string  `json:"authority_id"`
	ElementID   string  `json:"element_id"`
	Reserved    bool    `json:"reserved_request"`
	NID, NSS    string  //
	R           *string `json:"r_component"`
	Q           *string `json:"q_component"`
	F           *string `json:"f_component"`
	Equivalent  bool

	Purpose         string
	Query, Fragment *string
	NIDCanonical    string `json:"nid_canonical"`
	Assigned        bool
	Directives      [][2]string
	Effective       map[string]string
	Service         *string
	Component       *string
	Valid           bool

	Op, Special, Expect string
	Error               bool
	Findings            []uri.FindingCode
	NotFindings         []uri.FindingCode `json:"not_findings"`
}

// vectors calls test for every entry of a file in a dialect of this package.
func vectors(t *testing.T, file string, test func(*testing.T, Dialect, vector)) {
	var all struct {
		Vectors []json.RawMessage
	}
	readVectors(t, file, &all)
	ran := 0
	for _, raw := range all.Vectors {
		var which struct{ Dialect string }
		if err := json.Unmarshal(raw, &which); err != nil {
			t.Fatal(err)
		}
		d, ok := ParseDialect(which.Dialect)
		if !ok {
			continue
		}
		var v vector
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) { test(t, d, v) })
		ran++
	}
	if ran == 0 {
		t.Fatalf("%s has no vector for this package", file)
	}
}

func readVectors(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile("../docs/spec/vectors/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func TestVectorsParse(t *testing.T) {
	vectors(t, "parse-urn.json", func(t *testing.T, d Dialect, v vector) {
		u, err := d.Parse(v.Input)
		if err != nil {
			t.Fatal(err)
		}
		if d == Draft1995 {
			// Case is not significant in the second field (Y95-02).
			got := [3]string{strings.ToLower(u.SchemeID()), u.AuthorityID(), u.ElementID()}
			if want := [3]string{v.SchemeID, v.AuthorityID, v.ElementID}; got != want || u.IsReservedRequest() != v.Reserved {
				t.Errorf("got %q, reserved %v; want %q, %v", got, u.IsReservedRequest(), want, v.Reserved)
			}
			return
		}
		if d == Draft2012 {
			vector2012(t, u, v)
		}
		if u.NID() != v.NID || u.NSS() != v.NSS {
			t.Errorf("got NID %q, NSS %q; want %q, %q", u.NID(), u.NSS(), v.NID, v.NSS)
		}
		component(t, "r", v.R, u.RComponent)
		component(t, "q", v.Q, u.QComponent)
		if d == RFC8141 {
			component(t, "f", v.F, u.FComponent)
		}
	})
}

// vector2012 checks the parts that only names of 2012 have.
func vector2012(t *testing.T, u URN, v vector) {
	component(t, "query", v.Query, u.Query)
	component(t, "fragment", v.Fragment, u.FComponent)
	if got := u.IsAssigned(); got != v.Assigned {
		t.Errorf("assigned: %v, want %v", got, v.Assigned)
	}
	if _, err := Draft2012.ParseAssigned(v.Input); (err == nil) != v.Assigned {
		t.Errorf("read as assigned: %v, want %v", err, v.Assigned)
	}
	if got := u.Assigned().Canonical(); !strings.HasPrefix(got, "urn:"+v.NIDCanonical+":") {
		t.Errorf("canonical %q, want the NID %q", got, v.NIDCanonical)
	}
	if v.Directives != nil {
		pairs(t, u.Directives(Keywords2012(), nil), v.Directives)
	}
}

func pairs(t *testing.T, got Directives, want [][2]string) {
	if len(got) != len(want) {
		t.Fatalf("directives %v, want %v", got, want)
	}
	for i, d := range got {
		if d.Keyword != want[i][0] || d.Value != want[i][1] {
			t.Errorf("directive %d: %v, want %v", i, d, want[i])
		}
	}
}

// The namespace of the test supports the services of the registry and one component.
func TestVectorsQuery2012(t *testing.T) { // N12-25 to N12-35
	ns := Namespace{Keywords: []KeywordUse{{Keyword: "c", Values: []string{"ToC"}}}}
	for s := range Services2012().All() {
		ns.Services = append(ns.Services, s.Name)
	}
	vectors(t, "urn-query-2012.json", func(t *testing.T, d Dialect, v vector) {
		if err := d.CheckRule("urn-query", *v.Query); (err == nil) != v.Valid {
			t.Fatalf("urn-query %q: %v, want valid = %v", *v.Query, err, v.Valid)
		}
		u, err := d.Parse("urn:foo:a?" + *v.Query)
		if (err == nil) != v.Valid {
			t.Fatalf("%q: %v, want valid = %v", *v.Query, err, v.Valid)
		}
		if err != nil {
			return
		}
		ds := u.Directives(Keywords2012(), ns.Accepts)
		pairs(t, ds, v.Directives)
		got := map[string]string{}
		for _, d := range ds {
			if !d.Ignored {
				got[d.Keyword] = d.Value
			}
		}
		if !maps.Equal(got, v.Effective) {
			t.Errorf("effective %v, want %v", got, v.Effective)
		}
		component(t, "service", v.Service, func() (string, bool) { return ds.Get("s") })
		component(t, "component", v.Component, func() (string, bool) { return ds.Get("c") })
	})
}

func TestVectorsEscape(t *testing.T) { // N12-16 to N12-21, N12-23
	vectors(t, "escape.json", func(t *testing.T, d Dialect, v vector) {
		if v.Op != "encode-nss" {
			t.Fatalf("unknown operation %q", v.Op)
		}
		got, err := d.EncodeNSS(v.Input, v.Special)
		if got != v.Expect || (err != nil) != v.Error {
			t.Errorf("EncodeNSS(%q, %q) = %q, %v; want %q", v.Input, v.Special, got, err, v.Expect)
		}
	})
}

func TestVectorsSecurity(t *testing.T) {
	in := Inspector{Namespaces: IANANamespaces(), SchemeIDs: SchemeIDs1995(), Keywords: Keywords2012(), Services: Services2012()}
	vectors(t, "security.json", func(t *testing.T, d Dialect, v vector) {
		got := map[uri.FindingCode]bool{}
		for _, f := range in.Inspect(d, v.Input) {
			got[f.Code] = true
		}
		for _, c := range v.Findings {
			if !got[c] {
				t.Errorf("N12-62: no finding %s, only %v", c, got)
			}
		}
		for _, c := range v.NotFindings {
			if got[c] {
				t.Errorf("finding %s", c)
			}
		}
	})
}

// In running text, a name ends at the offset in the vectors of extraction.
func TestVectorsExtract(t *testing.T) {
	var all struct {
		Vectors []struct {
			ID, Dialect, Text string
			Expect            []string
		}
	}
	readVectors(t, "extract.json", &all)
	for _, v := range all.Vectors {
		at := strings.Index(v.Text, "urn:")
		if v.Dialect == "2012" && len(v.Expect) == 1 {
			if got := v.Text[at:][:Draft2012.EndInText(v.Text[at:])]; got != v.Expect[0] {
				t.Errorf("N12-22: %s: %q ends as %q, want %q", v.ID, v.Text, got, v.Expect[0])
			}
		}
	}
}

// One input for each difference between the dialects.
func TestVectorsDifferences(t *testing.T) {
	var all struct {
		Rows []struct {
			ID, Group, Op string
			Input         json.RawMessage
			Results       map[string]any
		}
	}
	readVectors(t, "dialect-diff.json", &all)
	for _, row := range all.Rows {
		if row.Group != "urn" {
			continue
		}
		for name, want := range row.Results {
			d, ok := ParseDialect(name)
			if !ok || want == nil {
				continue
			}
			if got := difference(t, d, row.Op, row.Input); got != want {
				t.Errorf("%s: %s in %s: %v, want %v", row.ID, row.Input, d, got, want)
			}
		}
	}
}

// difference returns the result of an operation in the words of the table of differences.
func difference(t *testing.T, d Dialect, op string, input json.RawMessage) any {
	var one string
	var two [2]string
	if json.Unmarshal(input, &one) != nil {
		if err := json.Unmarshal(input, &two); err != nil {
			t.Fatal(err)
		}
	}
	u, err := d.Parse(one)
	switch {
	case op == "equivalent":
		a, errA := d.Parse(two[0])
		b, errB := d.Parse(two[1])
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		resource, cache := Equivalent(a, b), Comparer{Purpose: PurposeCache}.Equivalent(a, b)
		if resource != cache {
			return fmt.Sprintf("resource: %v, cache: %v", resource, cache)
		}
		return resource
	case err != nil:
		return "invalid"
	case op == "validate":
		return "valid"
	}
	return u.String()
}

// The initial registries are those of the drafts (N12-58 to N12-61).
func TestVectorsRegistries(t *testing.T) {
	var want struct {
		SchemeIDs struct{ Entries []SchemeID } `json:"scheme_ids_1995"`
		Keywords  struct{ Entries []Keyword }  `json:"query_keywords_2012"`
		Services  struct{ Entries []Service }  `json:"service_designators_2012"`
		NIDs      struct{ Entries []string }   `json:"reserved_nids_2012"`
	}
	readVectors(t, "registries.json", &want)
	entries(t, SchemeIDs1995(), want.SchemeIDs.Entries)
	for i := range want.Keywords.Entries {
		k := &want.Keywords.Entries[i]
		k.Reference = "draft-ietf-urnbis-rfc2141bis-urn-03, " + k.Reference
	}
	entries(t, Keywords2012(), want.Keywords.Entries)
	entries(t, Services2012(), want.Services.Entries)
	for _, nid := range want.NIDs.Entries {
		if KindOf(nid) != KindReserved || !strings.Contains(NamespaceNote, `"`+nid+`"`) {
			t.Errorf("%q is not reserved", nid)
		}
	}
}

// entries checks that a table with the given entries equals the table got.
func entries[E Entry[E]](t *testing.T, got Table[E], want []E) {
	t.Helper()
	loaded, err := Table[E]{}.With(want...)
	if err != nil {
		t.Fatal(err)
	}
	opts := cmpopts.EquateEmpty()
	if diff := cmp.Diff(slices.Collect(got.All()), slices.Collect(loaded.All()), opts); diff != "" {
		t.Error(diff)
	}
}

func component(t *testing.T, which string, want *string, get func() (string, bool)) {
	got, ok := get()
	if ok != (want != nil) || ok && got != *want {
		t.Errorf("%s-component: got %q, %v; want %v", which, got, ok, want)
	}
}

func TestVectorsValid(t *testing.T) {
	vectors(t, "valid.json", func(t *testing.T, d Dialect, v vector) {
		if err := d.CheckRule(ruleOf(v), v.Input); err != nil {
			t.Error(err)
		}
	})
}

func TestVectorsInvalid(t *testing.T) {
	vectors(t, "invalid.json", func(t *testing.T, d Dialect, v vector) {
		if err := d.CheckRule(ruleOf(v), v.Input); err == nil || errors.Is(err, ErrUnknownRule) {
			t.Errorf("%s %q: %v; it is wrong: %s", v.Production, v.Input, err, v.Reason)
		}
	})
}

// ruleOf returns the production in the spelling of the document.
func ruleOf(v vector) string {
	if v.Production == "urn" {
		return "URN"
	}
	return v.Production
}

func TestVectorsEquivalence(t *testing.T) {
	vectors(t, "urn-equivalence.json", func(t *testing.T, d Dialect, v vector) {
		a, errA := d.Parse(v.A)
		b, errB := d.Parse(v.B)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		purpose := PurposeResource
		if v.Purpose == "cache" {
			purpose = PurposeCache
		}
		if got := (Comparer{Purpose: purpose}).Equivalent(a, b); got != v.Equivalent {
			t.Errorf("%s: Equivalent(%q, %q) = %v, want %v", purpose, v.A, v.B, got, v.Equivalent)
		}
		if got := a.Key(purpose) == b.Key(purpose); got != v.Equivalent {
			t.Errorf("%s: keys %q, %q; want equal = %v", purpose, a.Key(purpose), b.Key(purpose), v.Equivalent)
		}
	})
}
