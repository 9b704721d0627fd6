package pgstore

import (
	"fmt"

	"github.com/nomen-project/nomen/store"
)

// A unit is a row of nomen_pending, which contains changes of one transaction in order.
type unit struct {
	id      []byte
	part    int
	names   int
	entries []entry
}

// inOrderOf sorts units so that each revision of a subject follows the previous revision. It
// returns the first units, at least limit if possible. The parameter units is in the order of the
// clock of the database. Usually this is the right order, but the clock may have been set back, or
// the servers of the database may have different clocks.
func inOrderOf(units []unit, limit int) ([]unit, error) {
	next := map[store.Subject]uint64{} // lowest waiting revision of each subject
	for _, u := range units {
		for i := range u.entries {
			e := &u.entries[i]
			if first, ok := next[e.subject()]; !ok || e.revision < first {
				next[e.subject()] = e.revision
			}
		}
	}
	ordered := make([]unit, 0, len(units))
	for len(units) > 0 && len(ordered) < limit {
		var wait []unit
		for _, u := range units {
			if !follows(u, next) {
				wait = append(wait, u)
				continue
			}
			ordered = append(ordered, u)
			for i := range u.entries {
				next[u.entries[i].subject()] = u.entries[i].revision + 1
			}
		}
		if len(wait) == len(units) {
			e := wait[0].entries[0]
			return nil, fmt.Errorf("%w: revision %d of %s is to be sealed, but the one before it is missing", errBroken, e.revision, e.key)
		}
		units = wait
	}
	return ordered, nil
}

func follows(u unit, next map[store.Subject]uint64) bool {
	within := map[store.Subject]uint64{}
	for i := range u.entries {
		e := &u.entries[i]
		want, ok := within[e.subject()]
		if !ok {
			want = next[e.subject()]
		}
		if e.revision != want {
			return false
		}
		within[e.subject()] = want + 1
	}
	return true
}
