package handle

import (
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// valuesOf returns the values of a record, in the order of their indexes. A location is a value of
// the type URL. If it is not the view of a stored value, it gets the lowest free index.
func valuesOf(rec *store.Record) []nomen.Value {
	all := slices.Clone(rec.Values)
	taken := map[int]bool{}
	for _, v := range all {
		taken[v.Index] = true
	}
	for _, l := range rec.Locations {
		if v := find(all, l.Index); v != nil {
			v.Data = l.URL
			continue
		}
		index := l.Index
		for index == 0 || taken[index] {
			index++
		}
		taken[index] = true
		all = append(all, nomen.Value{Index: index, Type: typeURL, Data: l.URL, Timestamp: timestamp(rec.Modified)})
	}
	slices.SortFunc(all, func(a, b nomen.Value) int { return a.Index - b.Index })
	return all
}

// find returns the value with an index, or nil.
func find(all []nomen.Value, index int) *nomen.Value {
	for i := range all {
		if all[i].Index == index && index > 0 {
			return &all[i]
		}
	}
	return nil
}

// changed returns the request that gives a name its values. The parameter there is the record that
// it has, or nil.
func changed(n name.Name, handle string, there *store.Record, values []nomen.Value) registrar.Request {
	rec := &store.Record{Name: n, Spelling: spelling(n, handle), Status: nomen.Active}
	req := registrar.Request{Record: rec, Fields: registrar.FieldStatus | registrar.FieldLocations | registrar.FieldValues}
	if there != nil {
		rec.Spelling, req.Expected = there.Spelling, there.Revision
	}
	for _, v := range values {
		if isLocation(&v) {
			rec.Locations = append(rec.Locations, locationOf(there, &v, len(rec.Locations)+1))
			v.Data = ""
		}
		rec.Values = append(rec.Values, v)
	}
	return req
}

// isLocation reports whether a value is kept as a location.
func isLocation(v *nomen.Value) bool {
	return isType(v.Type, typeURL) && v.Format == nomen.FormatText
}

// locationOf returns the location for a value. If the record has this location already, it keeps its
// other fields.
func locationOf(there *store.Record, v *nomen.Value, priority int) nomen.Location {
	l := nomen.Location{URL: v.Data}
	if there != nil {
		if i := slices.IndexFunc(there.Locations, func(o nomen.Location) bool { return o.URL == v.Data }); i >= 0 {
			l = there.Locations[i]
		}
	}
	l.Index, l.Priority = v.Index, priority
	return l
}
