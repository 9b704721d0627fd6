package registrar

import (
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// merged returns what becomes of the record of n that is there, nil if there is
// none, by a request. Neither is changed.
func merged(n name.Name, there *store.Record, req *Request) *store.Record {
	rec := store.Record{Name: n, Spelling: req.Record.Spelling}
	if there != nil {
		rec.Status = there.Status
		if req.Fields != 0 {
			rec = *there
		}
		if rec.Spelling == "" {
			rec.Spelling = there.Spelling
		}
	}
	if rec.Status == "" {
		rec.Status = nomen.Active
	}
	set(&rec, req, req.Add && there != nil)
	if rec.Status != nomen.Retired && there != nil && there.Status == nomen.Retired && rec.Reason == there.Reason {
		rec.Reason = ""
	}
	return &rec
}

// set puts the fields of the request that are meant into rec, or adds to them.
func set(rec *store.Record, req *Request, add bool) {
	from, fields := req.Record, req.meant()
	if fields.Has(FieldStatus) && from.Status != "" {
		rec.Status = from.Status
	}
	if fields.Has(FieldReason) {
		rec.Reason = from.Reason
	}
	if fields.Has(FieldSameAs) {
		rec.SameAs = list(rec.SameAs, from.SameAs, add)
	}
	if fields.Has(FieldSuccessors) {
		rec.Successors = list(rec.Successors, from.Successors, add)
	}
	if fields.Has(FieldMetadata) {
		rec.Metadata = metadata(rec.Metadata, from.Metadata, add)
	}
	if fields.Has(FieldLocations) {
		rec.Locations = locations(rec.Locations, normal(from.Locations), add)
	}
}

// meant returns the fields of the request: all if it names none.
func (q *Request) meant() Fields {
	if q.Fields == 0 {
		return ^Fields(0)
	}
	return q.Fields
}

// list returns the values of the second list, after those of the first if they
// are added.
func list(there, given []string, add bool) []string {
	var all []string
	if add {
		all = slices.Clone(there)
	}
	for _, s := range given {
		if !add || !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func metadata(there, given nomen.Metadata, add bool) nomen.Metadata {
	all := make(nomen.Metadata, len(given))
	if add {
		maps.Copy(all, there)
	}
	for element, values := range given {
		all[element] = slices.Clone(values)
		if len(values) == 0 {
			delete(all, element)
		}
	}
	return all
}

// normal returns a copy of the locations in which country and charset are in
// upper case.
func normal(given []nomen.Location) []nomen.Location {
	all := slices.Clone(given)
	for i := range all {
		all[i].Country = strings.ToUpper(all[i].Country)
		all[i].Charset = strings.ToUpper(all[i].Charset)
	}
	return all
}

// locations returns the given ones, or those that are there with the given ones
// added. A given location that says nothing new about one of the same URL and
// component adds nothing; one that does completes the first such that no other
// has completed.
func locations(there, given []nomen.Location, add bool) []nomen.Location {
	if !add || len(there) == 0 {
		return given
	}
	all := slices.Clone(there)
	places := make(map[place][]int, len(all))
	for i, l := range all {
		places[placeOf(l)] = append(places[placeOf(l)], i)
	}
	done := make([]bool, len(all))
	for _, l := range given {
		at := places[placeOf(l)]
		if slices.ContainsFunc(at, func(i int) bool { return completed(all[i], l) == all[i] }) {
			continue
		}
		free := slices.IndexFunc(at, func(i int) bool { return !done[i] })
		if free >= 0 {
			i := at[free]
			all[i], done[i] = completed(all[i], l), true
			continue
		}
		places[placeOf(l)] = append(at, len(all))
		all, done = append(all, l), append(done, true)
	}
	return all
}

// A place tells locations apart.
type place struct{ url, component string }

func placeOf(l nomen.Location) place { return place{l.URL, l.Component} }

// completed returns l with what is given put in.
func completed(l, given nomen.Location) nomen.Location {
	for _, f := range [...]struct{ to, from *string }{
		{&l.Type, &given.Type},
		{&l.Lang, &given.Lang},
		{&l.Rel, &given.Rel},
		{&l.Country, &given.Country},
		{&l.Charset, &given.Charset},
		{&l.Note, &given.Note},
		{&l.ValidFrom, &given.ValidFrom},
		{&l.ValidUntil, &given.ValidUntil},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if given.Priority != 0 {
		l.Priority = given.Priority
	}
	if given.Weight != 0 {
		l.Weight = given.Weight
	}
	return l
}
