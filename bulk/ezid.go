package bulk

import (
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/store"
)

const ezidLabels = 1000

// An ezidEncoder writes CSV in the form of the batch downloads of EZID. The table has a row for
// each identifier and a column for each metadata label.
type ezidEncoder struct {
	labels map[string]bool
	sorted []string // the labels in order
}

func newEZIDEncoder() *ezidEncoder {
	e := &ezidEncoder{labels: map[string]bool{}}
	for _, label := range []string{
		ezid.Owner, ezid.OwnerGroup, ezid.Created, ezid.Updated, ezid.Profile, ezid.Target, ezid.Status, ezid.Export,
	} {
		e.labels[label] = true
	}
	return e
}

func (e *ezidEncoder) survey(r *store.Record) {
	for label := range ezid.Of(r, ezid.Home) {
		if len(e.labels) < ezidLabels && !ezid.IsColumn(label) {
			e.labels[label] = true
		}
	}
}

func (e *ezidEncoder) head() []byte {
	e.sorted = slices.Sorted(maps.Keys(e.labels))
	b := []byte(ezid.IDColumn)
	for _, label := range e.sorted {
		b = appendCell(append(b, ','), label)
	}
	return append(b, "\r\n"...)
}

func (e *ezidEncoder) record(b []byte, r *store.Record) ([]byte, error) {
	if n, ok := ezid.ParseID(ezid.ID(r.Name)); !ok || n != r.Name {
		return b, &heldError{"name", "must be an ARK, a DOI or a UUID that EZID accepts"}
	}
	b = appendCell(b, ezidSpelling(r))
	elements, written := ezid.Of(r, ezid.Home), ezid.Elements{}
	for _, label := range e.sorted {
		value := strings.ReplaceAll(elements[label], "\r\n", "\n") // as readers of CSV do
		b = appendCell(append(b, ','), value)
		if value != "" {
			written[label] = value
		}
	}
	b = append(b, "\r\n"...)
	if lost := ezidLost(r, written); len(lost) > 0 {
		return b, &partError{lost}
	}
	return b, nil
}

// ezidSpelling returns the identifier of a record for EZID. It keeps the original spelling if EZID
// would accept this spelling for the same name.
func ezidSpelling(r *store.Record) string {
	id := ezid.ID(r.Name)
	label := id[:strings.IndexByte(id, ':')+1]
	if r.Name.Scheme() == "ark" {
		label += "/"
	}
	if n, ok := ezid.ParseID(r.Spelling); ok && n == r.Name && r.Spelling != n.Key() && strings.HasPrefix(r.Spelling, label) {
		return r.Spelling
	}
	return id
}

// ezidLost returns the fields of a record that would be lost if the record were restored from the
// EZID elements.
func ezidLost(r *store.Record, e ezid.Elements) (lost []string) {
	again := &store.Record{Name: r.Name, Status: nomen.Active, Modified: r.Modified, Revision: r.Revision}
	for _, label := range slices.Sorted(maps.Keys(e)) {
		if ezid.Apply(again, ezid.Elements{label: e[label]}, ezid.Rules{Base: ezid.Home, New: true, Import: true}) != nil {
			lost = append(lost, label)
		}
	}
	for _, f := range []struct {
		name string
		kept bool
	}{
		{"status", r.Status == again.Status && r.Reason == again.Reason},
		{"locations", slices.Equal(r.Locations, again.Locations)},
		{"metadata", maps.EqualFunc(r.Metadata, again.Metadata, slices.Equal)},
		{"same_as", len(r.SameAs) == 0},
		{"successors", len(r.Successors) == 0},
		{"show_locations", !r.ShowLocations},
		{"values", ezid.KeptAll(r) && maps.Equal(ezidValues(r), ezidValues(again))},
	} {
		if !f.kept {
			lost = append(lost, f.name)
		}
	}
	return lost
}

func ezidValues(r *store.Record) ezid.Elements {
	e := ezid.Of(r, ezid.Home)
	delete(e, ezid.Status)
	delete(e, ezid.Target)
	return e
}
