package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A Record is the record of one name.
type Record struct {
	Name          name.Name        `json:"-"`                        // the canonical form of Spelling
	Spelling      string           `json:"name"`                     // the name as the user entered it; the key of Name if empty
	Status        nomen.Status     `json:"status"`                   // never empty in a stored record
	Locations     []nomen.Location `json:"locations"`                // in the order in which they were given
	Metadata      nomen.Metadata   `json:"metadata"`                 // elements without values are dropped
	SameAs        []string         `json:"same_as"`                  // other identifiers of the same resource
	Successors    []string         `json:"successors"`               // names to use instead
	Reason        string           `json:"reason"`                   // why the name was retired
	ShowLocations bool             `json:"show_locations,omitempty"` // show the locations on the public tombstone page
	Values        []nomen.Value    `json:"values,omitempty"`         // typed values in the order of their indexes, which are unique
	Modified      time.Time        `json:"modified,omitzero"`        // time of the last change; set by the store
	Revision      uint64           `json:"revision"`                 // number of the last change, from 1; set by the store
	Redacted      bool             `json:"redacted,omitempty"`       // the content was removed by a redaction; set by the store
}

// MarshalJSON implements [json.Marshaler]. It writes the fields in the order of [Record], and
// writes empty lists and objects instead of null, so that equal records have equal JSON texts.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	p := plain(r)
	if p.Spelling == "" {
		p.Spelling = p.Name.Key()
	}
	p.Locations = orEmpty(p.Locations)
	p.SameAs = orEmpty(p.SameAs)
	p.Successors = orEmpty(p.Successors)
	if p.Metadata == nil {
		p.Metadata = nomen.Metadata{}
	}
	return marshal(p)
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Clone returns a deep copy of r in normal form.
func (r *Record) Clone() *Record {
	c := r.normal()
	c.Locations = slices.Clone(c.Locations)
	c.Metadata = cloneMetadata(c.Metadata)
	c.SameAs = slices.Clone(c.SameAs)
	c.Successors = slices.Clone(c.Successors)
	c.Values = slices.Clone(c.Values)
	return &c
}

// normal returns a copy of r in normal form. The copy shares memory with r where possible.
func (r *Record) normal() Record {
	c := *r
	if c.Spelling == "" {
		c.Spelling = c.Name.Key()
	}
	if c.Status == "" {
		c.Status = nomen.Active
	}
	c.Locations = orNil(c.Locations)
	for _, values := range c.Metadata {
		if len(values) == 0 {
			c.Metadata = cloneMetadata(c.Metadata)
			break
		}
	}
	if len(c.Metadata) == 0 {
		c.Metadata = nil
	}
	c.SameAs = orNil(c.SameAs)
	c.Successors = orNil(c.Successors)
	c.Values = orNil(c.Values)
	c.Modified = wholeMillis(c.Modified)
	return c
}

func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// SameContent reports whether r and o differ at most in Modified and Revision. Both must be in
// normal form.
func (r *Record) SameContent(o *Record) bool {
	return r.Name == o.Name &&
		r.Spelling == o.Spelling &&
		r.Status == o.Status &&
		slices.Equal(r.Locations, o.Locations) &&
		maps.EqualFunc(r.Metadata, o.Metadata, slices.Equal[[]string]) &&
		slices.Equal(r.SameAs, o.SameAs) &&
		slices.Equal(r.Successors, o.Successors) &&
		r.Reason == o.Reason &&
		r.ShowLocations == o.ShowLocations &&
		slices.Equal(r.Values, o.Values) &&
		r.Redacted == o.Redacted
}

// PublicLocations returns the public locations of r. It omits a location that is a view of a
// private typed value, and clears Index and Attributes in views of other values. PublicLocations
// does not modify r.
func (r *Record) PublicLocations() []nomen.Location {
	if !slices.ContainsFunc(r.Locations, isView) {
		return r.Locations
	}
	var public []nomen.Location
	for _, l := range r.Locations {
		if v := r.Value(l.Index); v == nil || v.Public() {
			l.Index, l.Attributes = 0, ""
			public = append(public, l)
		}
	}
	return public
}

// HidesLocations reports whether the record has locations that are not public. Views of private
// typed values are not public. The locations of a retired record are public only if ShowLocations
// is set.
func (r *Record) HidesLocations() bool {
	if r.Status == nomen.Retired && !r.ShowLocations && len(r.Locations) > 0 {
		return true
	}
	return slices.ContainsFunc(r.Locations, func(l nomen.Location) bool {
		v := r.Value(l.Index)
		return isView(l) && v != nil && !v.Public()
	})
}

func (r *Record) hasPrivateValues() bool {
	return slices.ContainsFunc(r.Values, func(v nomen.Value) bool { return !v.Public() })
}

// isView reports whether l is a view of a typed value of the record.
func isView(l nomen.Location) bool { return l.Index != 0 || l.Attributes != "" }

// Value returns the typed value with the given index, or nil. The result points into r.Values.
func (r *Record) Value(index int) *nomen.Value {
	i, ok := slices.BinarySearchFunc(r.Values, index, func(v nomen.Value, index int) int { return cmp.Compare(v.Index, index) })
	if !ok {
		return nil
	}
	return &r.Values[i]
}

func cloneList[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

func cloneMetadata(m nomen.Metadata) nomen.Metadata {
	var c nomen.Metadata
	for k, values := range m {
		if len(values) == 0 {
			continue
		}
		if c == nil {
			c = make(nomen.Metadata, len(m))
		}
		c[k] = slices.Clone(values)
	}
	return c
}

func wholeMillis(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}
