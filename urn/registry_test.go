package urn

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

func TestRegisterNamespaces(t *testing.T) {
	table := IANANamespaces()
	good := Namespace{NID: "Good", Kind: KindFormal, Reference: "RFC 9999", Security: "none known"}
	for _, tt := range []struct {
		nid, field string
		change     func(*Namespace)
	}{
		{"good", "", nil},
		{"urn", "NID", nil},
		{"URN", "NID", nil},
		{"a_b", "NID", nil},
		{"ab", "NID", nil},
		{"de-foo", "NID", nil},
		{"xn--foo", "NID", nil},
		{"x-foo", "NID", nil},
		{"urn-foo", "NID", nil},
		{"urn-08", "NID", nil},
		{"urn-9", "kind", nil},
		{"urn-9", "", func(n *Namespace) { n.Kind = KindInformal }},
		{"ISBN", "name", nil},
		{"good", "security", func(n *Namespace) { n.Security = "" }},
		{"good", "reference", func(n *Namespace) { n.Reference = "" }},
	} {
		n := good
		n.NID = tt.nid
		if tt.change != nil {
			tt.change(&n)
		}
		after, err := table.Register(n)
		fieldOf(t, "N12-09, N12-58, N12-63: "+tt.nid, err, tt.field)
		if err == nil && (after.Len() != table.Len()+1 || table.Len() != 105) {
			t.Errorf("%s: %d entries, then %d", tt.nid, table.Len(), after.Len())
		}
	}
	local, err := table.With(Namespace{NID: "X-Foo", Kind: KindExperimental, Security: "?"}, Namespace{NID: "isbn", Security: "new"})
	if n, ok := local.Lookup("x-fOO"); err != nil || !ok || n.NID != "x-foo" {
		t.Errorf("N12-10: local names: %v, %v, %v", n, ok, err)
	}
	if n, _ := local.Lookup("isbn"); n.Security != "new" || local.Len() != table.Len()+1 {
		t.Errorf("an entry takes the place of another: %v", n)
	}
	if _, err := table.With(Namespace{NID: "foo"}); err == nil {
		t.Error("N12-63: a record without security considerations was taken")
	}
}

// fieldOf checks which field of an entry an error is about.
func fieldOf(t *testing.T, name string, err error, want string) {
	t.Helper()
	var e *EntryError
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case want != "" && (!errors.As(err, &e) || e.Field != want):
		t.Errorf("%s: %v, want a refusal of %s", name, err, want)
	}
}

// IANA's table has the whole registry, in order. Its records are complete, except those whose
// templates have no field for security.
func TestIANANamespaces(t *testing.T) {
	table := IANANamespaces()
	kinds := map[NIDKind]int{}
	var nids, incomplete []string
	for n := range table.All() {
		kinds[n.Kind]++
		nids = append(nids, n.NID)
		if len(n.Missing()) > 0 {
			incomplete = append(incomplete, n.NID)
		}
	}
	if kinds[KindFormal] != 97 || kinds[KindInformal] != 8 || len(kinds) != 2 || !slices.IsSorted(nids) {
		t.Errorf("%v, sorted: %v", kinds, slices.IsSorted(nids))
	}
	if want := "urn-1 urn-2 urn-3 urn-4 urn-5 urn-6 urn-7"; strings.Join(incomplete, " ") != want {
		t.Errorf("N12-63: incomplete: %s; want %s", incomplete, want)
	}
	for _, nid := range []string{"dns", "cts", "nir"} {
		if _, ok := table.Lookup(nid); ok {
			t.Errorf("%s is registered", nid)
		}
	}
}

// The table agrees with the registry.
func TestIANAFacts(t *testing.T) {
	lines, _ := testrun.Lines(t, "iana/urn-namespaces.tsv")
	table := IANANamespaces()
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		n, ok := table.Lookup(cells[0])
		reference, _, _ := strings.Cut(cells[2], "; rfc-errata")
		if !ok || n.Kind.String() != cells[1] || !strings.HasPrefix(n.Reference, reference) || n.Template != cells[3] || n.Registered != cells[4] {
			t.Errorf("%q became %+v", cells, n)
		}
	}
	if rows := len(lines) - 1; rows != table.Len() {
		t.Errorf("%d rows, %d entries", rows, table.Len())
	}
}

func TestRegisterSchemeIDs(t *testing.T) {
	table := SchemeIDs1995()
	for _, tt := range []struct {
		e     SchemeID
		field string
	}{
		{SchemeID{"Handle", "Handles", "RFC 3650"}, ""},
		{SchemeID{"X-foo", "ours", "none"}, "SchemeID"},
		{SchemeID{"a:b", "", "RFC 1"}, "SchemeID"},
		{SchemeID{"foo", "", ""}, "reference"},
		{SchemeID{"DNS", "again", "RFC 1034"}, "name"},
	} {
		_, err := table.Register(tt.e)
		fieldOf(t, "Y95-15, Y95-16, Y95-17: "+tt.e.ID, err, tt.field)
	}
	local, err := table.With(SchemeID{ID: "X-foo"})
	if _, ok := local.Lookup("x-foo"); err != nil || !ok {
		t.Error("local use of an experimental SchemeID is not allowed", err)
	}
}

func TestRegisterKeywords(t *testing.T) {
	table := Keywords2012()
	support := []Support{{"isbn", "RFC 9999"}}
	for _, tt := range []struct {
		e     Keyword
		field string
	}{
		{Keyword{"part", "a part", ScopeGlobal, "RFC 9999, 3", nil}, ""},
		{Keyword{"part", "a part", ScopeSpecific, "its registration", support}, ""},
		{Keyword{"a--b", "a part", ScopeGlobal, "RFC 9999", nil}, "keyword"},
		{Keyword{"part", "", ScopeGlobal, "RFC 9999", nil}, "purpose"},
		{Keyword{"part", "a part", 7, "RFC 9999", nil}, "scope"},
		{Keyword{"part", "a part", ScopeGlobal, "", nil}, "reference"},
		{Keyword{"part", "a part", ScopeGlobal, "a draft", nil}, "reference"},
		{Keyword{"part", "a part", ScopeSpecific, "its registration", nil}, "supported by"},
		{Keyword{"s", "service", ScopeGlobal, "RFC 9999", nil}, "name"},
		{Keyword{"S", "another: case matters", ScopeGlobal, "RFC 9999", nil}, ""},
	} {
		_, err := table.Register(tt.e)
		fieldOf(t, "N12-59: "+tt.e.Keyword, err, tt.field)
	}
	s, _ := table.Lookup("s")
	more, err := table.With(s.WithSupport(support[0]))
	after, _ := more.Lookup("s")
	before, _ := table.Lookup("s")
	if err != nil || len(after.SupportedBy) != 1 || len(before.SupportedBy) != 0 {
		t.Errorf("N12-59: support: %v, %v, %v", after, before, err)
	}
	for scope, want := range map[Scope][2]string{ // 2012, 9.2.1
		ScopeGlobal:   {"IETF Review", "IESG"},
		ScopeSpecific: {"namespace registration", "stakeholders of the namespace"},
	} {
		if got := [2]string{scope.Policy(), scope.ChangeController()}; got != want {
			t.Errorf("N12-59: policy and change controller of %s: %q, want %q", scope, got, want)
		}
	}
}

func TestRegisterServices(t *testing.T) {
	table := Services2012()
	for _, tt := range []struct {
		e     Service
		field string
	}{
		{Service{"I2X", "URI to X", StatusStandard, "RFC 9999"}, ""},
		{Service{"i2l", "case matters", StatusExperimental, "RFC 9999"}, ""},
		{Service{"I2X", "URI to X", StatusProvisional, "a draft"}, ""},
		{Service{"I2X", "URI to X", StatusStandard, "a draft"}, "reference"},
		{Service{"I2X", "URI to X", StatusProvisional, ""}, "reference"},
		{Service{"I2X", "URI to X", StatusDeprecated, "RFC 9999"}, "status"},
		{Service{"I2X", "URI to X", 9, "RFC 9999"}, "status"},
		{Service{"I2X", "", StatusStandard, "RFC 9999"}, "purpose"},
		{Service{"I 2", "URI to X", StatusStandard, "RFC 9999"}, "name"},
		{Service{"", "URI to X", StatusStandard, "RFC 9999"}, "name"},
		{Service{"I2L", "again", StatusStandard, "RFC 9999"}, "name"},
	} {
		_, err := table.Register(tt.e)
		fieldOf(t, "N12-60: "+tt.e.Name, err, tt.field)
	}
	for _, tt := range []struct {
		e    Service
		want string
	}{
		{Service{"I2X", "URI to X", StatusStandard, "a draft"}, `urn: registry entry "I2X": reference must be an RFC whose category matches the status`},
		{Service{"I2X", "URI to X", StatusExperimental, "a draft"}, `urn: registry entry "I2X": reference must be an RFC whose category matches the status`},
		{Service{"I2X", "URI to X", StatusProvisional, ""}, `urn: registry entry "I2X": reference is required`},
		{Service{"I2X", "URI to X", StatusDeprecated, "RFC 9999"}, `urn: registry entry "I2X": status of a new service cannot be deprecated`},
		{Service{"I2X", "URI to X", 9, "RFC 9999"}, `urn: registry entry "I2X": status must be one of std, exp, provisional, deprecated`},
	} {
		if _, err := table.Register(tt.e); err == nil || err.Error() != tt.want {
			t.Errorf("N12-60: Register(%+v)\ngot  %v\nwant %s", tt.e, err, tt.want)
		}
	}
	l, _ := table.Lookup("I2L")
	l.Status = StatusDeprecated
	if after, err := table.With(l); err != nil || after.Len() != table.Len() {
		t.Error("the IESG cannot deprecate a service", err)
	}
	for status, want := range map[Status]string{ // 2012, 9.2.2
		StatusStandard:     "RFC Required, standards track",
		StatusExperimental: "RFC Required, experimental",
		StatusProvisional:  "early allocation",
		StatusDeprecated:   "IESG Approval",
	} {
		if got := status.Policy(); got != want {
			t.Errorf("N12-60: policy of %s: %q, want %q", status, got, want)
		}
	}
}

// A table can be loaded and written as JSON, and its contents cannot be modified.
func TestTablesAreData(t *testing.T) {
	const data = `[{"nid":"foo","kind":"experimental","reference":"ours","security":"none","special":":",
		"services":["I2L"],"default_service":"I2L","keywords":[{"keyword":"c","values":["ToC"]}],
		"fragment_allowed":true,"equivalence":"case","functional":"ask us"}]`
	var read []Namespace
	if err := json.Unmarshal([]byte(data), &read); err != nil {
		t.Fatal(err)
	}
	table, err := Namespaces{}.With(read...)
	if err != nil {
		t.Fatal(err)
	}
	read[0].Services[0] = "changed"
	got, _ := table.Lookup("foo")
	got.Keywords[0].Values[0] = "changed"
	got.Services[0] = "changed"
	again, _ := table.Lookup("FOO")
	if again.Services[0] != "I2L" || again.Functional != "ask us" || again.Special != ":" || again.Keywords[0].Values[0] != "ToC" || again.Kind != KindExperimental {
		t.Errorf("N12-35, N12-56, N12-61: the table was changed: %+v", again)
	}
	for range table.All() {
		break
	}
	for _, bad := range []string{`[{"kind":"x"}]`, `[{"scope":"x"}]`, `[{"status":"x"}]`} {
		if json.Unmarshal([]byte(bad), &[]Namespace{}) == nil && json.Unmarshal([]byte(bad), &[]Keyword{}) == nil && json.Unmarshal([]byte(bad), &[]Service{}) == nil {
			t.Errorf("%s was read", bad)
		}
	}
	k, _ := Keywords2012().Lookup("c")
	if text, err := json.Marshal(k); !strings.HasSuffix(string(text), `"reference":"draft-ietf-urnbis-rfc2141bis-urn-03, 2.3.2","supported_by":[]}`) {
		t.Errorf("keyword %s, %v", text, err)
	}
	text, err := json.Marshal([]any{KindFormal, ScopeSpecific, StatusStandard})
	if string(text) != `["formal","specific","std"]` || err != nil {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestKindOf(t *testing.T) {
	for nid, want := range map[string]NIDKind{
		"isbn": KindFormal, "URN-7": KindInformal, "urn-07": KindReserved, "urn-": KindReserved, "urn": KindReserved,
		"X-foo": KindExperimental, "de-foo": KindReserved, "xn--a": KindReserved, "a1-b": KindFormal, "ab": KindReserved,
		"de1": KindFormal, "urnx": KindFormal,
	} {
		if got := KindOf(nid); got != want {
			t.Errorf("N12-10: KindOf(%q) = %v, want %v", nid, got, want)
		}
	}
	if NIDKind(9).String() != "invalid" || Purpose(9).String() != "invalid" || PurposeCache.String() != "cache" || PurposeResource.String() != "resource" {
		t.Error("names of values")
	}
}

// All fields of the template are filled.
func TestScheme(t *testing.T) {
	v := reflect.ValueOf(Scheme())
	for i := range v.NumField() {
		if v.Field(i).String() == "" {
			t.Errorf("N12-57: %s is empty", v.Type().Field(i).Name)
		}
	}
	if v.NumField() != 11 {
		t.Errorf("N12-57: %d fields, want 11", v.NumField())
	}
}
