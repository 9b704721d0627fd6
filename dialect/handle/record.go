package handle

import (
	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/value"
)

// valuesOf returns the values of a record, sorted by index. If a value does not have a timestamp,
// valuesOf sets it to the time of the last change, because pyhandle cannot change values without a
// timestamp. Values from batch files and locations do not have timestamps.
func valuesOf(rec *store.Record) []nomen.Value {
	all := value.Of(rec)
	for i := range all {
		if v := &all[i]; v.Timestamp == "" {
			v.Timestamp = timestamp(rec.Modified)
		}
	}
	return all
}

// changed returns the request that sets the values of a name. For a new name, existing is nil.
func changed(n name.Name, handle string, existing *store.Record, values []nomen.Value) registrar.Request {
	rec := &store.Record{Name: n, Spelling: spelling(n, handle)}
	req := registrar.Request{Record: rec, Fields: registrar.FieldStatus | registrar.FieldLocations | registrar.FieldValues}
	if existing != nil {
		rec, req.Expected = existing.Clone(), existing.Revision
		req.Record = rec
	}
	rec.Status = nomen.Active
	value.Set(rec, values)
	return req
}
