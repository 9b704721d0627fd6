package value

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// Set replaces the values of a record, and converts values of the types URL and 10320/loc to the
// locations of the record. It is the inverse of [Of]. Set does not check the values; that is the
// task of the registrar.
//
// A location that is already in the record keeps the fields that a value cannot contain, such as
// the note. New locations get ascending priorities, first the locations in values of the type
// 10320/loc and then those in values of the type URL. Values of the same type are sorted by index.
func Set(r *store.Record, values []nomen.Value) {
	s := setter{old: newView(r)}
	sorted := slices.Clone(values)
	slices.SortStableFunc(sorted, func(a, b nomen.Value) int { return cmp.Compare(a.Index, b.Index) })
	for i := range sorted {
		s.set(&sorted[i])
	}
	for i := range sorted {
		s.url(&sorted[i])
	}
	slices.SortStableFunc(s.found, func(a, b found) int { return cmp.Compare(a.was, b.was) })
	r.Values, r.Locations = sorted, nil
	for _, f := range s.found {
		r.Locations = append(r.Locations, f.Location)
	}
}

// A setter converts values to locations.
type setter struct {
	old   *view
	found []found
	last  int // highest priority so far
}

// A found is a location that a value contains.
type found struct {
	nomen.Location
	isNew bool
	was   int // its old position in the record, or a higher number if it is new
}

func (s *setter) url(v *nomen.Value) {
	if !isURL(v) || v.Data == "" {
		return
	}
	f := s.known(v.Index, func(l *nomen.Location) bool { return l.Attributes == "" })
	f.URL, f.Index, v.Data = v.Data, v.Index, ""
	s.rank(&f, 0)
}

// set converts a value of the type 10320/loc to locations. If locations cannot represent the value,
// set leaves it unchanged.
func (s *setter) set(v *nomen.Value) {
	if !isSet(v) {
		return
	}
	set, ok := parseSet(v.Data)
	all := make([]nomen.Location, len(set.locations))
	for i := 0; i < len(all) && ok; i++ {
		ok = toLocation(&all[i], set.locations[i])
	}
	if !ok || len(all) == 0 || len(all) > store.MaxLocations {
		return
	}
	first, from := s.last, len(s.found)
	for _, l := range all {
		f := s.known(v.Index, func(have *nomen.Location) bool { return have.URL == l.URL })
		f.Location = withOwn(l, &f.Location)
		f.Index = v.Index
		s.rank(&f, first+1+unweighted(&l))
	}
	s.join(s.found[from:])
	v.Data = locationSet{attributes: set.attributes}.text()
}

// join gives all locations of a set the position of the first, so that sorting keeps them together
// and in order.
func (s *setter) join(set []found) {
	first := len(s.old.at)
	for _, f := range set {
		first = min(first, f.was)
	}
	for i := range set {
		set[i].was = first
	}
}

func (s *setter) known(index int, accept func(*nomen.Location) bool) found {
	for i, at := range s.old.at {
		l := &s.old.record.Locations[i]
		if at == index && accept(l) {
			s.old.at[i] = 0
			return found{Location: *l, was: i}
		}
	}
	return found{isNew: true, was: len(s.old.at)}
}

// rank adds a location to s.found. A new location gets the given priority. If the priority is 0, it
// is one more than the last priority.
func (s *setter) rank(f *found, priority int) {
	if f.isNew {
		if f.Priority = cmp.Or(priority, s.last+1); f.Priority == 1 {
			f.Priority = 0 // 1 is the default
		}
	}
	s.last = max(s.last, f.Priority, 1)
	s.found = append(s.found, *f)
}

// withOwn returns l with the fields of source that a value of the type 10320/loc cannot contain.
func withOwn(l nomen.Location, source *nomen.Location) nomen.Location {
	l.Priority, l.Component, l.Charset, l.Note = source.Priority, source.Component, source.Charset, source.Note
	l.Down, l.ValidFrom, l.ValidUntil = source.Down, source.ValidFrom, source.ValidUntil
	return l
}

// unweighted returns 1 for a location with the weight 0, and otherwise 0. Handle clients choose a
// location with the weight 0 only because of other attributes. In nomen such a location has a lower
// precedence than the others, by one priority.
func unweighted(l *nomen.Location) int {
	for _, a := range parseAttributes(l.Attributes) {
		if a.name == "weight" && strings.Trim(a.value, "0.") == "" {
			return 1
		}
	}
	return 0
}
