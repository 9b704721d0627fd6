package resolve

import (
	"errors"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// aliased answers for a name that nothing here knows, if a record says that it is
// the same as it. The answer is about that record and has its name; what it is said
// to be the same as in turn is not followed, so nothing goes in a circle.
//
// Of several records the active one counts; with more than one of them it is not
// known which is meant. The one that is retired gives its tombstone.
func (d *decision) aliased() (*nomen.Answer, error) {
	names, err := store.Aliased(d.ctx, d.records, d.name)
	if err != nil {
		return nil, err
	}
	var all []*store.Record
	for _, n := range names {
		rec, err := d.records.Get(d.ctx, n, d.q.At)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return nil, err
		case rec.Status != nomen.Reserved && !rec.Redacted && rec.HasAlias(d.set, d.name) && d.mayAlias(rec):
			all = append(all, rec)
		}
	}
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(r *store.Record) bool { return r.Status != nomen.Active })
	}
	if len(all) != 1 {
		e := d.unknown()
		if len(all) > 1 {
			e.Suggestions = nil
		}
		for _, rec := range all {
			e.Suggestions = append(e.Suggestions, rec.Name.Key())
			if d.q.Explain {
				d.explain("%s is said to be the same, and it is not the only one", rec.Name)
			}
		}
		return nil, e
	}
	if d.q.Explain {
		d.explain("the record of %s says that it is the same", all[0].Name)
	}
	second := *d
	second.policy = &noPolicy
	second.about(all[0].Name)
	if second.interpret(); second.service != d.service || second.admit() != nil {
		return nil, d.unknown()
	}
	a, err := second.registered(all[0])
	*d = second // whose authority is that of the answer
	return a, err
}

// mayAlias reports whether a record may answer for the name as for an alias: for one
// that lies under no authority here, and else if its own authority is the same, or
// has an owner in common.
func (d *decision) mayAlias(rec *store.Record) bool {
	theirs := d.set.Of(rec.Name)
	switch {
	case d.authority == nil || d.authority == theirs:
		return true
	case theirs == nil:
		return false
	}
	return slices.ContainsFunc(d.authority.Owners, func(owner string) bool { return slices.Contains(theirs.Owners, owner) })
}
