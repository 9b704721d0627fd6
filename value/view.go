package value

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// Types of values that are generated from locations.
const (
	TypeURL       = "URL"
	TypeLocations = "10320/loc" // in any letter case
)

// Of returns all values of a record, including private ones, sorted by index. It does not modify
// the record.
func Of(r *store.Record) []nomen.Value {
	v := newView(r)
	all := v.values
	slices.SortFunc(all, func(a, b nomen.Value) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

// A view contains the values of a record, and the index of the value that shows each location.
type view struct {
	record *store.Record
	values []nomen.Value
	at     []int // index of the value for each location; 0 means none yet
}

func newView(r *store.Record) *view {
	v := &view{record: r, at: make([]int, len(r.Locations))}
	for _, value := range r.Values {
		if v.fill(&value) {
			v.values = append(v.values, value)
		}
	}
	v.rest()
	return v
}

// fill sets the data of a value that shows locations. It returns false for a value of the type URL
// whose location the record no longer has.
func (v *view) fill(value *nomen.Value) bool {
	if isURL(value) && value.Data == "" {
		i := slices.IndexFunc(v.record.Locations, func(l nomen.Location) bool { return l.Index == value.Index })
		if i < 0 {
			return false
		}
		value.Data, v.at[i] = v.record.Locations[i].URL, value.Index
		return true
	}
	set, ok := emptySet(value)
	if !ok {
		return true
	}
	for i, l := range v.record.Locations {
		if l.Index == value.Index {
			set.locations = append(set.locations, fromLocation(&l))
			v.at[i] = value.Index
		}
	}
	value.Data = set.text()
	return true
}

// rest adds values for the locations that no value shows, in the order of their priorities.
func (v *view) rest() {
	var left []int
	for i, index := range v.at {
		if index == 0 {
			left = append(left, i)
		}
	}
	priority := func(i int) int { return max(v.record.Locations[i].Priority, 1) }
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(priority(a), priority(b)) })
	free := 1
	for _, i := range left {
		for v.record.Value(free) != nil {
			free++
		}
		v.values = append(v.values, nomen.Value{Index: free, Type: TypeURL, Data: v.record.Locations[i].URL})
		v.at[i] = free
		free++
	}
}

func isURL(v *nomen.Value) bool { return v.Type == TypeURL && v.Format == nomen.FormatText }

func isSet(v *nomen.Value) bool {
	return strings.EqualFold(v.Type, TypeLocations) && v.Format == nomen.FormatText
}

// emptySet parses a value of the type 10320/loc. It returns false unless the XML is a set without
// locations, which means that the locations are in the record.
func emptySet(v *nomen.Value) (locationSet, bool) {
	if !isSet(v) {
		return locationSet{}, false
	}
	set, ok := parseSet(v.Data)
	return set, ok && len(set.locations) == 0
}
