package ezid

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/anvl"
	"github.com/nomen-project/nomen/store"
)

// Labels of reserved elements.
const (
	Target     = "_target"
	Status     = "_status"
	Profile    = "_profile"
	Export     = "_export"
	Owner      = "_owner"
	OwnerGroup = "_ownergroup"
	Created    = "_created"
	Updated    = "_updated"
	Crossref   = "_crossref"
	Datacenter = "_datacenter"
	ShadowedBy = "_shadowedby"
)

// The values of the element _status. The value unavailable may be followed by a reason.
const (
	Public      = "public"
	Reserved    = "reserved"
	Unavailable = "unavailable"
)

const (
	typePrefix = "ezid:" // begins the type of a value that stores an element
	lastIndex  = 10_000  // the indexes of values that store elements are greater
	yes, no    = "yes", "no"
)

// Elements are the elements of an identifier, by label.
type Elements map[string]string

// Append appends the elements as ANVL, sorted by label.
func (e Elements) Append(b []byte) []byte {
	for _, label := range slices.Sorted(maps.Keys(e)) {
		b = anvl.AppendElement(b, label, e[label])
	}
	return b
}

// Home is the URL of EZID.
const Home = "https://ezid.cdlib.org"

// IDColumn is the column with the identifier in a batch download.
const IDColumn = "_id"

const mappedColumn = "_mapped"

// IsColumn reports whether a column of a batch download is not an element.
func IsColumn(label string) bool {
	return label == IDColumn || strings.HasPrefix(label, mappedColumn)
}

// KeptAll reports whether all values of the record store elements.
func KeptAll(rec *store.Record) bool { return len(kept(rec)) == len(rec.Values) }

func kept(rec *store.Record) Elements {
	e := Elements{}
	for i := range rec.Values {
		v := &rec.Values[i]
		if label, ok := strings.CutPrefix(v.Type, typePrefix); ok && v.Public() && v.Format == nomen.FormatText {
			e[label] = v.Data
		}
	}
	return e
}

// Of returns the elements of a record. The elements _created and _owner are present only if the
// record was imported.
func Of(rec *store.Record, base string) Elements {
	e := kept(rec)
	id := ID(rec.Name)
	profile := e.profile(id)
	e.mend(rec.Metadata, profile)
	e[Profile] = profile
	if e[Export] == "" {
		e[Export] = yes
	}
	e[Target] = DefaultTarget(base, id)
	if i := target(rec); i >= 0 {
		e[Target] = rec.Locations[i].URL
	}
	e[Status] = statusOf(rec)
	if e[Updated] == "" || rec.Revision > 1 {
		e[Updated] = strconv.FormatInt(rec.Modified.Unix(), 10)
	}
	if shadow := Shadow(id); shadow != "" {
		e[ShadowedBy] = shadow
	}
	return e
}

// DefaultTarget returns the target of an identifier without a location. This is the URL of the page
// that shows its elements.
func DefaultTarget(base, id string) string { return base + "/id/" + id }

func (e Elements) profile(id string) string {
	switch {
	case e[Profile] != "":
		return e[Profile]
	case strings.HasPrefix(id, doiLabel):
		return datacite
	}
	return erc
}

// mend corrects the elements whose metadata differ from the metadata of the record.
func (e Elements) mend(have nomen.Metadata, profile string) {
	set := e.metadata(profile)
	for _, field := range fields() {
		if slices.Equal(set[field], have[field]) {
			continue
		}
		for _, p := range ranked(profile) {
			delete(e, labelOf(p, field))
		}
		if len(have[field]) == 0 {
			continue
		}
		label := labelOf(profile, field)
		if label == "" {
			label = labelOf(dc, field)
		}
		e[label] = strings.Join(have[field], "; ")
	}
}

func target(rec *store.Record) int {
	return slices.IndexFunc(rec.Locations, func(l nomen.Location) bool { return nomen.RelationOf(l.Rel) == nomen.Itself })
}

func statusOf(rec *store.Record) string {
	switch rec.Status {
	case nomen.Reserved:
		return Reserved
	case nomen.Retired:
		if rec.Reason == "" {
			return Unavailable
		}
		return Unavailable + " | " + rec.Reason
	}
	return Public
}
