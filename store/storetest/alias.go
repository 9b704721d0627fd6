package storetest

import (
	"fmt"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// aliased: a name is found that present records say they are the same as, in any
// spelling and case, and nothing else of it shows where locations are found.
func aliased(s *suite) {
	if _, ok := s.Store.(store.Finder); !ok {
		return // it finds no aliases
	}
	same := func(k string, n int, same ...string) store.Change {
		return write(&store.Record{Name: key(k), Status: nomen.Active, SameAs: same}, n)
	}
	check := func(what, alias string, want ...string) {
		s.Helper()
		names, err := store.Aliased(s.Context(), s.Store, name.MustParse(alias))
		if err != nil {
			s.Fatalf("%s: Aliased(%s): %v", what, alias, err)
		}
		var got []string
		for _, n := range names {
			got = append(got, n.Key())
		}
		s.equal(what+": "+alias, got, orNil(want))
	}
	check("empty store", "urn:isbn:9780306406157")
	s.apply(
		same("urn:x-s:1", 0, "urn:isbn:0-306-40615-2", "DOI:10.5072/ABC", "not a name", "urn:x-s:1", "urn:example:Aa"),
		same("urn:x-s:2", 0, "urn:isbn:978-0-306-40615-7"),
		same("urn:x-s:3", 0),
	)
	check("spellings", "urn:isbn:9780306406157", "urn:x-s:1", "urn:x-s:2")
	check("spellings", "doi:10.5072/abc", "urn:x-s:1")
	check("case", "urn:example:aA", "urn:x-s:1")
	check("itself", "urn:x-s:1")
	check("a longer one", "urn:isbn:97803064061571")
	check("a shorter one", "doi:10.5072/ab")
	s.equal("locations", s.places("", store.Place{}), []string(nil))
	s.apply(same("urn:x-s:1", 1, "doi:10.5072/abc"), same("urn:x-s:3", 1, "urn:isbn:9780306406157"))
	check("moved", "urn:isbn:9780306406157", "urn:x-s:2", "urn:x-s:3")
	check("stayed", "doi:10.5072/abc", "urn:x-s:1")
	retired := same("urn:x-s:2", 1, "urn:isbn:9780306406157")
	retired.Record.Status = nomen.Retired
	s.apply(retired)
	check("retired", "urn:isbn:9780306406157", "urn:x-s:2", "urn:x-s:3")
	var many []store.Change
	for i := range 2 * store.MaxAliased {
		many = append(many, same(fmt.Sprintf("urn:x-t:%02d", i), 0, "urn:example:many"))
	}
	s.apply(many...)
	names, err := store.Aliased(s.Context(), s.Store, name.MustParse("urn:example:many"))
	if err != nil || len(names) != store.MaxAliased {
		s.Errorf("many: %v, %v", names, err)
	}
}
