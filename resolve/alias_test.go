package resolve_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// A name without a record has the locations of the record that lists it as an alias.
func TestAliases(t *testing.T) {
	same := func(spelling string, status nomen.Status, aliases ...string) *store.Record {
		r := record(spelling, nomen.Location{URL: "https://example.org/" + spelling})
		r.Status, r.SameAs = status, aliases
		if status == nomen.Retired {
			r.Reason = "lost"
		}
		return r
	}
	authority := func(prefix, owner string, policy store.Policy, fold bool) *store.Authority {
		return &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{owner}, Policy: policy, FoldCase: fold}
	}
	e := resolve.New(fill(t, []*store.Record{
		same("urn:example:1", nomen.Active, "doi:10.5072/ABC", "urn:isbn:0-306-40615-2", "urn:example:2", "urn:dns:a.example:Folded"),
		same("urn:example:2", nomen.Active),
		same("urn:example:3", nomen.Active, "urn:example:twice", "urn:example:chain", "urn:dns:closed.example:x"),
		same("urn:example:4", nomen.Active, "urn:example:twice", "urn:example:past"),
		same("urn:example:5", nomen.Retired, "urn:example:past", "urn:example:gone"),
		same("urn:example:6", nomen.Reserved, "urn:example:reserved"),
		same("urn:dns:a.example:1", nomen.Active, "urn:example:round", "urn:dns:b.example:x", "urn:dns:c.example:x"),
		same("urn:dns:b.example:1", nomen.Active, "urn:dns:b.example:own", "urn:example:stranger"),
		same("urn:dns:closed.example:1", nomen.Active, "urn:example:closed"),
	}, []*store.Authority{
		authority("urn:dns:a.example", "anna", store.Policy{}, true),
		authority("urn:dns:b.example", "berta", store.Policy{}, false),
		authority("urn:dns:c.example", "anna", store.Policy{}, false),
		authority("urn:dns:closed.example", "anna", store.Policy{Access: store.AccessLegal}, false),
	}), resolve.Options{})
	for _, tt := range []struct {
		ask, want string
		kind      nomen.Kind
	}{
		{ask: "doi:10.5072/abc", want: "urn:example:1"},
		{ask: "urn:isbn:9780306406157", want: "urn:example:1"},
		{ask: "urn:example:2", want: "urn:example:2"}, // it has a record of its own
		{ask: "urn:example:twice", kind: nomen.Unknown},
		{ask: "urn:example:past", want: "urn:example:4"}, // the other one is retired
		{ask: "urn:example:gone", kind: nomen.Gone},
		{ask: "urn:example:reserved", kind: nomen.Unknown},
		{ask: "urn:example:closed", kind: nomen.Unknown},
		{ask: "urn:example:nothing", kind: nomen.Unknown},
		{ask: "urn:dns:b.example:own", want: "urn:dns:b.example:1"},
		{ask: "urn:dns:b.example:x", kind: nomen.Unknown}, // the authorities have no common owner
		{ask: "urn:dns:c.example:x", want: "urn:dns:a.example:1"},
		{ask: "urn:dns:a.example:folded", kind: nomen.Unknown}, // a record under no authority
	} {
		a, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse(tt.ask), Service: nomen.I2L, Explain: true})
		var no *nomen.Error
		refused := errors.As(err, &no)
		switch {
		case tt.want == "" && (!refused || no.Kind != tt.kind):
			t.Errorf("%s: %+v, %v; want %s", tt.ask, a, err, tt.kind)
		case tt.want != "" && (err != nil || a.Name.Key() != tt.want || a.Locations[0].URL != "https://example.org/"+tt.want):
			t.Errorf("%s: %+v, %v; want %s", tt.ask, a, err, tt.want)
		case tt.want != "" && tt.want != tt.ask && !slices.ContainsFunc(a.Why, func(s string) bool { return strings.Contains(s, "the record of "+tt.want+" lists it as an alias") }):
			t.Errorf("%s: why %q", tt.ask, a.Why)
		case tt.ask == "urn:example:twice" && !slices.Equal(no.Suggestions, []string{"urn:example:3", "urn:example:4"}):
			t.Errorf("%s: suggestions %q", tt.ask, no.Suggestions)
		}
	}
}

// As of an earlier time a name is an alias if the record listed it then.
func TestAliasesOfThePast(t *testing.T) {
	s := fill(t, nil, nil)
	early, late := time.UnixMilli(1000), time.UnixMilli(2000)
	first := record("urn:example:1", nomen.Location{URL: "https://example.org/"})
	second := first.Clone()
	second.SameAs = []string{"doi:10.5072/a"}
	if _, err := s.Apply(t.Context(), []store.Change{{Record: first, Expected: 0, Time: early}, {Record: second, Expected: 1, Time: late}}); err != nil {
		t.Fatal(err)
	}
	e := resolve.New(s, resolve.Options{})
	for at, want := range map[time.Time]bool{early: false, late: true, {}: true} {
		_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("doi:10.5072/A"), At: at})
		if (err == nil) != want {
			t.Errorf("at %v: %v", at, err)
		}
	}
}
