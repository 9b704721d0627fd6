package registrar

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
)

// typedValues returns the given values in the order of their indexes. If add is true, it adds them
// to the existing values, and replaces existing values with the same index.
func typedValues(existing, given []nomen.Value, add bool) []nomen.Value {
	all := slices.Clone(given)
	if add {
		for _, v := range existing {
			if !slices.ContainsFunc(given, func(g nomen.Value) bool { return g.Index == v.Index }) {
				all = append(all, v)
			}
		}
	}
	slices.SortFunc(all, func(a, b nomen.Value) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

func checkValues(of string, values []nomen.Value) error {
	first := map[int]int{}
	for i := range values {
		v := &values[i]
		if field, f := checkValue(v); f.bad() {
			return refuseAt(of, "values", i, "."+field, f)
		}
		if k, twice := first[v.Index]; twice {
			return refuseAt(of, "values", i, ".index", faultf(0, "index", "%d is also the index of values[%d]; each value needs its own", v.Index, k))
		}
		first[v.Index] = i
	}
	return nil
}

func checkValue(v *nomen.Value) (string, fault) {
	if v.Index < 1 || v.Index > math.MaxInt32 {
		return "index", faultf(0, "index", "%d must be between 1 and %d", v.Index, math.MaxInt32)
	}
	for _, c := range [...]struct {
		field string
		fault fault
	}{
		{"type", checkFull(v.Type, false)},
		{"format", checkFormat(v.Format)},
		{"data", checkData(v)},
		{"permissions", checkPermissions(v.Permissions)},
		{"references", checkReferences(v.References)},
	} {
		if c.fault.bad() {
			return c.field, c.fault
		}
	}
	if !v.TTL.Valid() {
		return "ttl", faultf(0, "ttl", "%q must be seconds, such as 86400, or a time, such as 2026-11-22T13:00:00Z", v.TTL)
	}
	_, f := checkTime(v.Timestamp)
	return "timestamp", f
}

// checkFormat checks the name of a format. The format may be unknown to this program.
func checkFormat(s string) fault {
	const most = 32
	if len(s) > most || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return faultf(0, "format", "%q must have at most %d lower-case letters, digits and hyphens", s, most)
	}
	return fault{}
}

// checkData checks that the data of a value are valid in its format. A text may have any
// characters.
func checkData(v *nomen.Value) fault {
	switch v.Format {
	case nomen.FormatText:
		if !utf8.ValidString(v.Data) {
			return faultf(0, "text", "must be UTF-8; give other bytes in the format base64")
		}
	case nomen.FormatBase64:
		if b, err := v.Bytes(); err != nil || base64.StdEncoding.EncodeToString(b) != v.Data {
			return faultf(0, "base64", "must be base64 with padding and without line breaks")
		}
	default:
		if !utf8.ValidString(v.Data) || !json.Valid([]byte(v.Data)) {
			return faultf(0, "json", "must be a JSON text, because the format is %s", v.Format)
		}
	}
	return fault{}
}

func checkPermissions(s string) fault {
	if s != "" && (len(s) != 4 || strings.Trim(s, "01") != "") {
		return faultf(0, "permissions", "%q must have four digits 0 or 1: admin read, admin write, public read, public write", s)
	}
	return fault{}
}

// checkReferences checks the references of a value to values of other handles, which need not exist.
func checkReferences(s string) fault {
	if s == "" {
		return fault{}
	}
	var list []struct {
		Handle string
		Index  *int32
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.DisallowUnknownFields()
	ok := utf8.ValidString(s) && d.Decode(&list) == nil && !d.More() && len(list) > 0
	for _, r := range list {
		ok = ok && r.Handle != "" && r.Index != nil && *r.Index >= 0
	}
	if !ok {
		return faultf(0, "references", "must be a JSON list with the handle and the index of each value")
	}
	return fault{}
}

func checkView(l *nomen.Location) (string, fault) {
	if l.Index < 0 || l.Index > math.MaxInt32 {
		return "index", faultf(0, "index", "%d must be between 0 and %d", l.Index, math.MaxInt32)
	}
	return "attributes", checkText(l.Attributes, false)
}

// checkNoView returns a fault if a location in a rule has fields that only records may have.
func checkNoView(l *nomen.Location) (string, fault) {
	if l.Index != 0 {
		return "index", faultf(0, "index", "allowed only for a location of a record, not of a rule")
	}
	if l.Attributes != "" {
		return "attributes", faultf(0, "attributes", "allowed only for a location of a record, not of a rule")
	}
	return "", fault{}
}
