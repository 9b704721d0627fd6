package resolve

import (
	"errors"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// aliased answers a question about an unknown name from a record that lists the name as an alias.
// The answer has the name of that record. To prevent loops, aliases of aliases are not followed.
//
// If several records list the name, exactly one of them must be active, and the answer comes from
// this record. Otherwise the name is unknown. Reserved records are ignored.
func (d *decision) aliased() (*nomen.Answer, error) {
	all, err := d.listing()
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, d.unknownOf(all)
	}
	if d.q.Explain {
		d.explain("the record of %s lists it as an alias", all[0].Name)
	}
	second := *d
	second.policy = &noPolicy
	second.about(all[0].Name)
	if second.interpret(); second.service != d.service || second.admit() != nil {
		return nil, d.unknown()
	}
	a, err := second.registered(all[0])
	*d = second // the policy of the record's authority applies to the answer
	return a, err
}

// unknownOf returns the error for a name that no record lists as an alias, or that several records
// list. It suggests the public names of the records that list the alias.
func (d *decision) unknownOf(all []*store.Record) *nomen.Error {
	if len(all) == 0 {
		return d.unknown()
	}
	e := d.notFound()
	for _, rec := range all {
		if !d.isOpen(rec) {
			continue
		}
		e.Suggestions = append(e.Suggestions, rec.Name.Key())
		if d.q.Explain {
			d.explain("%s lists it as an alias, and so does another record", rec.Name)
		}
	}
	return e
}

// listing returns the records that list the name as an alias. If several records list the name, it
// returns only active records.
func (d *decision) listing() (all []*store.Record, err error) {
	names, err := store.Aliased(d.ctx, d.records, d.name)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		rec, err := d.records.Get(d.ctx, n, d.q.At)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return nil, err
		case d.listedBy(rec):
			all = append(all, rec)
		}
	}
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(r *store.Record) bool { return r.Status != nomen.Active })
	}
	return all, nil
}

// listedBy reports whether a public record lists the name as an alias, and whether it may do so.
func (d *decision) listedBy(rec *store.Record) bool {
	return isPublic(rec) && rec.HasAlias(d.set, d.name) && d.mayAlias(rec)
}

// mayAlias reports whether a record may list the name as an alias. If the name has no authority in
// this store, any record may list it. Otherwise the name and the record must have the same
// authority, or authorities with a common owner.
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
