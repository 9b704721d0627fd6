package registrar

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// undelimited returns the names without the delimiters around them, such as "<" and ">", which are
// not part of a name (1995, 2).
func undelimited(names []string) []string {
	if !slices.ContainsFunc(names, func(s string) bool { return strings.Contains(s, "<") }) {
		return names
	}
	names = slices.Clone(names)
	for i, s := range names {
		names[i], _ = uri.Undelimit(s)
	}
	return names
}

// fill sets *rec to the record after a request for the name n. For a new name, existing is nil, and
// the result is in normal form except for time and revision. fill does not modify the request or
// the existing record, but *rec may share slices with both.
func fill(rec *store.Record, n name.Name, existing *store.Record, req *Request) {
	*rec = store.Record{Name: n, Spelling: req.Record.Spelling}
	if existing != nil {
		rec.Status = existing.Status
		if req.Fields != 0 {
			*rec = *existing
		}
		if rec.Spelling == "" {
			rec.Spelling = existing.Spelling
		}
	}
	rec.Spelling = cmp.Or(rec.Spelling, n.Key())
	rec.Status = cmp.Or(rec.Status, nomen.Active)
	set(rec, req, req.Add && existing != nil)
	rec.Spelling, _ = uri.Undelimit(rec.Spelling)
	rec.Successors = undelimited(rec.Successors)
	if rec.Status != nomen.Retired && existing != nil && existing.Status == nomen.Retired {
		if rec.ShowLocations = rec.ShowLocations && !existing.ShowLocations; rec.Reason == existing.Reason {
			rec.Reason = ""
		}
	}
}

// set sets the fields that the request gives. If add is true, values are added to lists instead of
// replacing them.
func set(rec *store.Record, req *Request, add bool) {
	from, fields := req.Record, req.meant()
	if fields.has(FieldStatus) && from.Status != "" {
		rec.Status = from.Status
	}
	if fields.has(FieldReason) {
		rec.Reason = from.Reason
	}
	if fields.has(FieldShowLocations) {
		rec.ShowLocations = from.ShowLocations
	}
	if fields.has(FieldSameAs) {
		rec.SameAs = list(without(rec.SameAs, req.Remove, itself), from.SameAs, add)
	}
	if fields.has(FieldSuccessors) {
		rec.Successors = list(rec.Successors, from.Successors, add)
	}
	if fields.has(FieldMetadata) {
		rec.Metadata = metadata(rec.Metadata, from.Metadata, add)
	}
	if fields.has(FieldValues) {
		rec.Values = typedValues(rec.Values, from.Values, add)
	}
	if fields.has(FieldLocations) {
		given := normal(from.Locations)
		existing := without(rec.Locations, req.Remove, urlOf)
		if req.ReplaceLocations {
			rec.Locations = completedAll(existing, given)
		} else {
			rec.Locations = locations(existing, given, add)
		}
	}
}

func itself(s string) string { return s }

func urlOf(l nomen.Location) string { return l.URL }

func without[T any](list []T, remove []string, key func(T) string) []T {
	if len(remove) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(v T) bool { return slices.Contains(remove, key(v)) })
}

// missing returns the first value in Remove that the existing record does not have. The existing
// record may be nil.
func (q *Request) missing(existing *store.Record) (string, bool) {
	for _, s := range q.Remove {
		if existing == nil || !slices.Contains(existing.SameAs, s) && !slices.ContainsFunc(existing.Locations, func(l nomen.Location) bool { return l.URL == s }) {
			return s, true
		}
	}
	return "", false
}

// completedAll returns the given locations, with empty fields filled in from the first existing
// location with the same URL and component. A given location with only a URL and a component stands
// for all existing locations with that URL and component.
func completedAll(existing, given []nomen.Location) []nomen.Location {
	all := make([]nomen.Location, 0, len(given))
	for _, l := range given {
		bare := l == nomen.Location{URL: l.URL, Component: l.Component}
		before := len(all)
		for _, have := range existing {
			if placeOf(have) != placeOf(l) || !bare && len(all) > before {
				continue
			}
			all = append(all, completed(have, l))
		}
		if len(all) == before {
			all = append(all, l)
		}
	}
	return all
}

// meant returns the fields that the request gives. If Fields is 0, these are all fields.
func (q *Request) meant() Fields {
	if q.Fields == 0 {
		return ^Fields(0)
	}
	return q.Fields
}

// list returns the given values if add is false. If add is true, it returns the existing values,
// followed by the given values that are not among them.
func list(existing, given []string, add bool) []string {
	switch {
	case len(given) == 0 && !add:
		return nil
	case !add:
		return given
	}
	all := slices.Clone(existing)
	for _, s := range given {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func metadata(existing, given nomen.Metadata, add bool) nomen.Metadata {
	if !add && len(given) == 0 {
		return nil
	}
	if !add && full(given) {
		return given
	}
	all := make(nomen.Metadata, len(given))
	if add {
		maps.Copy(all, existing)
	}
	for element, values := range given {
		all[element] = values
		if len(values) == 0 {
			delete(all, element)
		}
	}
	return all
}

func full(m nomen.Metadata) bool {
	for _, values := range m {
		if len(values) == 0 {
			return false
		}
	}
	return true
}

// normal returns the given locations with country and charset in upper case. It returns nil for an
// empty list.
func normal(given []nomen.Location) []nomen.Location {
	if len(given) == 0 {
		return nil
	}
	copied := false
	for i := range given {
		country, charset := strings.ToUpper(given[i].Country), strings.ToUpper(given[i].Charset)
		if country == given[i].Country && charset == given[i].Charset {
			continue
		}
		if !copied {
			given, copied = slices.Clone(given), true
		}
		given[i].Country, given[i].Charset = country, charset
	}
	return given
}

func differences(a, b *store.Record) (f Fields) {
	for _, d := range [...]struct {
		field Fields
		same  bool
	}{
		{FieldName, a.Spelling == b.Spelling},
		{FieldStatus, a.Status == b.Status},
		{FieldLocations, slices.Equal(a.Locations, b.Locations)},
		{FieldMetadata, maps.EqualFunc(a.Metadata, b.Metadata, slices.Equal[[]string])},
		{FieldSameAs, slices.Equal(a.SameAs, b.SameAs)},
		{FieldSuccessors, slices.Equal(a.Successors, b.Successors)},
		{FieldReason, a.Reason == b.Reason},
		{FieldShowLocations, a.ShowLocations == b.ShowLocations},
		{FieldValues, slices.Equal(a.Values, b.Values)},
	} {
		if !d.same {
			f |= d.field
		}
	}
	return f
}

// undone returns the fields in which a request reverts changes of an earlier request for the same
// record. The record was old before both requests, middle after the first request, and final after
// the second. If the name did not exist, old is nil.
func undone(old, middle, final *store.Record) (f Fields) {
	if old == nil {
		old = new(store.Record)
	}
	for _, d := range [...]struct {
		field  Fields
		undone bool
	}{
		{FieldName, middle.Spelling != old.Spelling && final.Spelling != middle.Spelling},
		{FieldStatus, middle.Status != old.Status && final.Status != middle.Status},
		{FieldReason, middle.Reason != old.Reason && final.Reason != middle.Reason},
		{FieldShowLocations, middle.ShowLocations != old.ShowLocations && final.ShowLocations != middle.ShowLocations},
		{FieldLocations, lost(old.Locations, middle.Locations, final.Locations)},
		{FieldSameAs, lost(old.SameAs, middle.SameAs, final.SameAs)},
		{FieldSuccessors, lost(old.Successors, middle.Successors, final.Successors)},
		{FieldValues, lost(old.Values, middle.Values, final.Values)},
	} {
		if d.undone {
			f |= d.field
		}
	}
	for element, values := range middle.Metadata {
		if !slices.Equal(values, old.Metadata[element]) && !slices.Equal(values, final.Metadata[element]) {
			f |= FieldMetadata
		}
	}
	return f
}

// lost reports whether middle has an element that is in neither of the other lists.
func lost[T comparable](before, middle, after []T) bool {
	return slices.ContainsFunc(middle, func(v T) bool { return !slices.Contains(after, v) && !slices.Contains(before, v) })
}

// locations returns the locations of a record after a request. If add is false, these are the given
// locations.
//
// If add is true, these are the existing locations, and each given location is merged into them. If
// an existing location with the same URL and component already has all fields of the given
// location, nothing changes. Otherwise, the given location fills in the empty fields of an existing
// location with the same URL and component. Several given locations never change the same existing
// location. If no such location is left, the given location is appended.
func locations(existing, given []nomen.Location, add bool) []nomen.Location {
	if !add || len(existing) == 0 {
		return given
	}
	all := slices.Clone(existing)
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

// A place identifies a location in a record.
type place struct{ url, component string }

func placeOf(l nomen.Location) place { return place{l.URL, l.Component} }

// completed returns l with each non-empty field of update.
func completed(l, update nomen.Location) nomen.Location {
	for _, f := range [...]struct{ to, from *string }{
		{&l.Type, &update.Type},
		{&l.Lang, &update.Lang},
		{&l.Rel, &update.Rel},
		{&l.Country, &update.Country},
		{&l.Charset, &update.Charset},
		{&l.Note, &update.Note},
		{&l.ValidFrom, &update.ValidFrom},
		{&l.ValidUntil, &update.ValidUntil},
		{&l.Attributes, &update.Attributes},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if update.Priority != 0 {
		l.Priority = update.Priority
	}
	if update.Weight != 0 {
		l.Weight = update.Weight
	}
	if update.Index != 0 {
		l.Index = update.Index
	}
	l.Down = l.Down || update.Down
	return l
}
