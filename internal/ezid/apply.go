package ezid

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/store"
)

// A FieldError means that an element cannot be set to the given value.
type FieldError struct {
	Label  string
	Reason string // in the wording of EZID
}

func (e *FieldError) Error() string { return e.Label + ": " + e.Reason }

// Rules determine which elements may be set.
type Rules struct {
	Base   string // URL of the server, for default targets
	New    bool   // the record is new
	Import bool   // the elements are an export of EZID, so all elements and values are allowed
}

// Apply sets elements of a record in place. An empty value removes an element. The error is a
// [*FieldError].
func Apply(rec *store.Record, given Elements, rules Rules) error {
	before, touched := Of(rec, rules.Base), map[string]bool{}
	for _, label := range slices.Sorted(maps.Keys(given)) {
		value := strings.ReplaceAll(clean(given[label]), "${identifier}", ID(rec.Name))
		label = clean(label)
		if strings.HasPrefix(label, "_") {
			if err := rules.reserved(rec, label, value); err != nil {
				return err
			}
			continue
		}
		if value == before[label] {
			continue
		}
		if label == datacite && value != "" && !rules.Import {
			whole, err := withIdentifier(value, ID(rec.Name))
			if err != nil {
				return &FieldError{label, "metadata validation error: " + err.Error()}
			}
			value = whole
		}
		keep(rec, label, value)
		for _, field := range fieldsOf(label) {
			touched[field] = true
		}
	}
	describe(rec, touched)
	return nil
}

func describe(rec *store.Record, touched map[string]bool) {
	if len(touched) == 0 {
		return
	}
	e := kept(rec)
	said, m := e.metadata(e.profile(ID(rec.Name))), nomen.Metadata{}
	maps.Copy(m, rec.Metadata)
	for field := range touched {
		delete(m, field)
		if said[field] != nil {
			m[field] = said[field]
		}
	}
	rec.Metadata = m
}

// keep stores an element as a value of the record. If the element is empty, keep removes this
// value.
func keep(rec *store.Record, label, value string) {
	highest := lastIndex
	for i := range rec.Values {
		v := &rec.Values[i]
		highest = max(highest, v.Index)
		if v.Type != typePrefix+label {
			continue
		}
		rec.Values = slices.Clone(rec.Values)
		if value == "" {
			rec.Values = slices.Delete(rec.Values, i, i+1)
		} else {
			rec.Values[i].Data, rec.Values[i].Format = value, nomen.FormatText
		}
		return
	}
	if value != "" {
		rec.Values = append(slices.Clip(rec.Values), nomen.Value{Index: highest + 1, Type: typePrefix + label, Data: value})
	}
}

func (r Rules) reserved(rec *store.Record, label, value string) error {
	switch {
	case label == Target:
		r.target(rec, value)
	case label == Status:
		return r.status(rec, value)
	case label == Profile:
		if value == (Elements{}).profile(ID(rec.Name)) {
			value = ""
		}
		keep(rec, label, value)
	case label == Export:
		return export(rec, value)
	case label == ShadowedBy && r.Import:
	case (label == Created || label == Updated) && r.Import:
		return keepTime(rec, label, value)
	case r.Import || label == Owner:
		keep(rec, label, value)
	case label == Crossref:
		return &FieldError{label, "registration with Crossref is not supported"}
	default:
		return &FieldError{label, "field is not settable"}
	}
	return nil
}

// target sets the target. For the default target, target removes the location.
func (r Rules) target(rec *store.Record, url string) {
	if scheme, rest, ok := strings.Cut(url, ":"); ok {
		url = strings.ToLower(scheme) + ":" + rest
	}
	if url == DefaultTarget(r.Base, ID(rec.Name)) {
		url = ""
	}
	i := target(rec)
	switch {
	case i >= 0 && rec.Locations[i].URL == url, i < 0 && url == "":
	case i < 0:
		rec.Locations = append([]nomen.Location{{URL: url}}, rec.Locations...)
	case url == "":
		rec.Locations = slices.Delete(slices.Clone(rec.Locations), i, i+1)
	default:
		l := &rec.Locations[i]
		moved := nomen.Location{URL: url, Priority: l.Priority, Weight: l.Weight, Index: l.Index, Attributes: l.Attributes}
		rec.Locations = slices.Clone(rec.Locations)
		rec.Locations[i] = moved
	}
}

// status sets the status. A reserved identifier cannot become unavailable, and an identifier that
// is not reserved cannot become reserved.
func (r Rules) status(rec *store.Record, value string) error {
	bad := func(why string) error { return &FieldError{Status, "invalid identifier status" + why} }
	rest, unavailable := strings.CutPrefix(value, Unavailable)
	reason, hasReason := strings.CutPrefix(strings.TrimLeft(rest, " "), "|")
	switch {
	case value == Reserved:
		if !r.New && !r.Import && rec.Status != nomen.Reserved {
			return bad(" change")
		}
		rec.Status, rec.Reason, rec.ShowLocations = nomen.Reserved, "", false
	case value == Public:
		rec.Status, rec.Reason, rec.ShowLocations = nomen.Active, "", false
	case !unavailable || rest != "" && !hasReason:
		return bad("")
	case !r.Import && (r.New || rec.Status == nomen.Reserved):
		return bad(" change")
	default:
		rec.Status, rec.Reason = nomen.Retired, strings.TrimSpace(reason)
	}
	return nil
}

// export sets whether other services are notified of the identifier.
func export(rec *store.Record, value string) error {
	switch strings.ToLower(value) {
	case yes:
		keep(rec, Export, "")
	case no:
		keep(rec, Export, no)
	default:
		return &FieldError{Export, "value must be 'yes' or 'no'"}
	}
	return nil
}

// keepTime stores a time as seconds since 1970.
func keepTime(rec *store.Record, label, value string) error {
	if _, err := strconv.ParseUint(value, 10, 63); err != nil && value != "" {
		t, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return &FieldError{label, "must be a time, not " + strconv.Quote(ascii.Head(value, maxShown))}
		}
		value = strconv.FormatInt(t.Unix(), 10)
	}
	keep(rec, label, value)
	return nil
}

// maxShown is the maximum number of bytes of a value that a message quotes.
const maxShown = 100

// clean replaces characters that XML 1.1 prohibits or discourages by spaces.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r == 0x85:
		case r < ' ', 0x7F <= r && r < 0xA0, 0xFDD0 <= r && r <= 0xFDDF, r&0xFFFE == 0xFFFE:
			return ' '
		}
		return r
	}, s))
}
