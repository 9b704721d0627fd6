package bulk

import (
	"strconv"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// record reads a record, and returns the set of fields that are present. It is not recursive.
func (d *decoder) record() (*store.Record, registrar.Fields) {
	rec := new(store.Record)
	fields := registrar.FieldName
	seen := memberSet(0)
	for key := range d.members {
		d.field = key
		bit := recordBit(key)
		if !d.first(&seen, bit) {
			break
		}
		fields |= d.value(rec, bit)
		d.field = ""
	}
	d.end()
	if rec.Spelling == "" && d.err == nil {
		d.field = "name"
		d.fail(0, "missing: a record needs a name")
	}
	return rec, fields
}

// These constants are the bits of a memberSet. They stand for the members of a record or a
// location.
const (
	isUnknown = iota
	isName
	isStatus
	isLocations
	isMetadata
	isSameAs
	isSuccessors
	isReason
	isShowLocations
	isValues
	isModified
	isRevision
	isURL
	isType
	isLang
	isRel
	isPriority
	isWeight
	isCountry
	isComponent
	isCharset
	isNote
	isDown
	isValidFrom
	isValidUntil
	isIndex
	isAttributes
	isData
	isFormat
	isTTL
	isPermissions
	isTimestamp
	isReferences
)

type memberSet uint64

// members contains the names of the members, which are used as JSON keys and as column titles.
var members = [...]string{
	isName: "name", isStatus: "status", isLocations: "locations", isMetadata: "metadata", isSameAs: "same_as",
	isSuccessors: "successors", isReason: "reason", isShowLocations: "show_locations", isValues: "values", isModified: "modified", isRevision: "revision",
	isURL: "url", isType: "type", isLang: "lang", isRel: "rel", isPriority: "priority", isWeight: "weight",
	isCountry: "country", isComponent: "component", isCharset: "charset", isNote: "note", isDown: "down",
	isValidFrom: "valid_from", isValidUntil: "valid_until", isIndex: "index", isAttributes: "attributes",
	isData: "data", isFormat: "format", isTTL: "ttl", isPermissions: "permissions", isTimestamp: "timestamp", isReferences: "references",
}

func recordBit(key string) int { return memberBit(key, isName, isRevision) }

func locationBit(key string) int { return memberBit(key, isURL, isAttributes) }

func valueBit(key string) int {
	if key == members[isType] {
		return isType
	}
	switch bit := memberBit(key, isIndex, isReferences); bit {
	case isAttributes:
		return isUnknown
	default:
		return bit
	}
}

func memberBit(key string, first, last int) int {
	for bit := first; bit <= last; bit++ {
		if members[bit] == key {
			return bit
		}
	}
	return isUnknown
}

// first adds a member to the set before its value is read. An unknown or repeated key is an error.
// The result is false if the decoder has an error.
func (d *decoder) first(members *memberSet, bit int) bool {
	switch {
	case bit == isUnknown:
		d.fail(d.key, "unknown field")
	case *members&(1<<bit) != 0:
		d.fail(d.key, "given twice")
	}
	*members |= 1 << bit
	return d.err == nil
}

func (d *decoder) value(rec *store.Record, bit int) registrar.Fields {
	switch bit {
	case isName:
		rec.Spelling = d.text()
	case isStatus:
		rec.Status = nomen.Status(d.text())
		return registrar.FieldStatus
	case isLocations:
		rec.Locations = d.locations()
		return registrar.FieldLocations
	case isMetadata:
		rec.Metadata = d.metadata()
		return registrar.FieldMetadata
	case isSameAs:
		rec.SameAs = d.texts()
		return registrar.FieldSameAs
	case isSuccessors:
		rec.Successors = d.texts()
		return registrar.FieldSuccessors
	case isReason:
		rec.Reason = d.text()
		return registrar.FieldReason
	case isShowLocations:
		rec.ShowLocations = d.boolean()
		return registrar.FieldShowLocations
	case isValues:
		rec.Values = d.values()
		return registrar.FieldValues
	case isModified:
		d.time()
	case isRevision:
		rec.Revision = uint64(d.integer(0))
	}
	return 0
}

// time checks a time and discards the value.
func (d *decoder) time() {
	at := d.space()
	var t time.Time
	if s := d.text(); s != "" && t.UnmarshalText([]byte(s)) != nil {
		d.fail(at, "expected a time in the form 2006-01-02T15:04:05Z")
	}
}

func (d *decoder) texts() []string {
	var all []string
	for i := range d.elements {
		d.index = i
		all = append(all, d.text())
	}
	return all
}

func (d *decoder) locations() []nomen.Location {
	var all []nomen.Location
	for i := range d.elements {
		d.index = i
		all = append(all, nomen.Location{})
		d.location(&all[i])
	}
	return all
}

func (d *decoder) location(l *nomen.Location) {
	seen := memberSet(0)
	for key := range d.members {
		d.sub = key
		bit := locationBit(key)
		if !d.first(&seen, bit) {
			return
		}
		switch bit {
		case isPriority:
			l.Priority = int(d.integer(minRank))
		case isWeight:
			l.Weight = int(d.integer(minRank))
		case isIndex:
			l.Index = int(d.integer(minRank))
		case isDown:
			l.Down = d.boolean()
		default:
			*textOf(l, bit) = d.text()
		}
		d.sub = ""
	}
}

func (d *decoder) values() []nomen.Value {
	var all []nomen.Value
	for i := range d.elements {
		if d.index = i; i == store.MaxRecordValues {
			d.fail(d.space(), "a record has at most "+strconv.Itoa(store.MaxRecordValues)+" values")
			break
		}
		all = append(all, nomen.Value{})
		d.typedValue(&all[i])
	}
	return all
}

func (d *decoder) typedValue(v *nomen.Value) {
	seen := memberSet(0)
	for key := range d.members {
		d.sub = key
		bit := valueBit(key)
		if !d.first(&seen, bit) {
			return
		}
		switch bit {
		case isIndex:
			v.Index = int(d.integer(minRank))
		case isTTL:
			v.TTL = d.ttl()
		default:
			*valueText(v, bit) = d.text()
		}
		d.sub = ""
	}
}

func (d *decoder) ttl() nomen.TTL {
	if d.space() < len(d.in) && d.in[d.at] == '"' {
		return nomen.TTL(d.text())
	}
	return nomen.Seconds(int(d.integer(minRank)))
}

func valueText(v *nomen.Value, bit int) *string {
	switch bit {
	case isType:
		return &v.Type
	case isData:
		return &v.Data
	case isFormat:
		return &v.Format
	case isPermissions:
		return &v.Permissions
	case isReferences:
		return &v.References
	}
	return &v.Timestamp
}

// minRank is the minimum for integers such as a priority. It is negative because the registrar has
// a better error message for negative numbers than the decoder.
const minRank = -1 << 31

func textOf(l *nomen.Location, bit int) *string {
	switch bit {
	case isURL:
		return &l.URL
	case isType:
		return &l.Type
	case isLang:
		return &l.Lang
	case isRel:
		return &l.Rel
	case isCountry:
		return &l.Country
	case isComponent:
		return &l.Component
	case isCharset:
		return &l.Charset
	case isNote:
		return &l.Note
	case isValidFrom:
		return &l.ValidFrom
	case isAttributes:
		return &l.Attributes
	}
	return &l.ValidUntil
}

func (d *decoder) metadata() nomen.Metadata {
	m := nomen.Metadata{}
	for key := range d.members {
		d.sub = key
		if _, twice := m[key]; twice {
			d.fail(d.key, "given twice")
			return nil
		}
		m[key] = d.texts()
		d.sub = ""
	}
	return m
}
