package storetest

import (
	"fmt"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// aliased checks that Aliased finds the records that currently have a name in same_as, in every
// spelling and regardless of letter case. It also checks that Find yields no aliases.
func aliased(s *suite) {
	check := func(what, alias string, want ...string) {
		s.Helper()
		names, err := store.Aliased(s.Context(), s.Store, name.MustParse(alias))
		if err != nil {
			s.Fatalf("%s: Aliased(%s): %v", what, alias, err)
		}
		s.equal(what+": "+alias, texts(names, name.Name.Key), orNil(want))
	}
	check("empty store", "urn:isbn:9780306406157")
	s.apply(
		sameAs("urn:x-s:1", 0, "urn:isbn:0-306-40615-2", "DOI:10.5072/ABC", "not a name", "urn:x-s:1", "urn:example:Aa"),
		sameAs("urn:x-s:2", 0, "urn:isbn:978-0-306-40615-7"),
		sameAs("urn:x-s:3", 0),
	)
	check("spellings", "urn:isbn:9780306406157", "urn:x-s:1", "urn:x-s:2")
	check("spellings", "doi:10.5072/abc", "urn:x-s:1")
	check("case", "urn:example:aA", "urn:x-s:1")
	check("itself", "urn:x-s:1")
	check("a longer one", "urn:isbn:97803064061571")
	check("a shorter one", "doi:10.5072/ab")
	s.equal("locations", s.places("", store.Place{}), []string(nil))
	s.apply(sameAs("urn:x-s:1", 1, "doi:10.5072/abc"), sameAs("urn:x-s:3", 1, "urn:isbn:9780306406157"))
	check("moved", "urn:isbn:9780306406157", "urn:x-s:2", "urn:x-s:3")
	check("stayed", "doi:10.5072/abc", "urn:x-s:1")
	retired := sameAs("urn:x-s:2", 1, "urn:isbn:9780306406157")
	retired.Record.Status = nomen.Retired
	s.apply(retired)
	check("retired", "urn:isbn:9780306406157", "urn:x-s:2", "urn:x-s:3")
}

func sameAs(k string, n int, aliases ...string) store.Change {
	return write(&store.Record{Name: key(k), Status: nomen.Active, SameAs: aliases}, n)
}

// manyAliased checks that the number of names that Aliased returns is limited.
func manyAliased(s *suite) {
	var many []store.Change
	for i := range 2 * store.MaxAliased {
		many = append(many, sameAs(fmt.Sprintf("urn:x-t:%02d", i), 0, "urn:example:many"))
	}
	s.apply(many...)
	names, err := store.Aliased(s.Context(), s.Store, name.MustParse("urn:example:many"))
	if err != nil || len(names) != store.MaxAliased {
		s.Errorf("many: %v, %v", names, err)
	}
}
