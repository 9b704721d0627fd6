package bulk

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
)

// value sets a field of the current record from cell i of a row. Several rows of the same record
// may repeat a value, but must not contradict each other.
func (t *table) value(r *row, i int) {
	c, col, first := &r.cells[i], &t.columns[i], &t.first[i]
	if first.line > 0 {
		if first.text != c.text {
			r.fail(c.at, col.title, "differs from line %d of the same name; put several values into one cell, separated by bars", first.line)
		}
		return
	}
	*first = given{c.text, r.number}
	rec := t.line.Record
	switch col.bit {
	case isStatus:
		rec.Status = nomen.Status(t.text(r, i))
		t.line.Fields |= registrar.FieldStatus
	case isReason:
		rec.Reason = t.text(r, i)
		t.line.Fields |= registrar.FieldReason
	case isShowLocations:
		rec.ShowLocations = t.boolean(r, i)
		t.line.Fields |= registrar.FieldShowLocations
	case isSameAs:
		rec.SameAs = t.list(r, i)
		t.line.Fields |= registrar.FieldSameAs
	case isSuccessors:
		rec.Successors = t.list(r, i)
		t.line.Fields |= registrar.FieldSuccessors
	case isValues:
		rec.Values = t.typedValues(r, i)
		t.line.Fields |= registrar.FieldValues
	case isMetadata:
		if rec.Metadata == nil {
			rec.Metadata = nomen.Metadata{}
		}
		rec.Metadata[col.element] = t.list(r, i)
		t.line.Fields |= registrar.FieldMetadata
	}
}

func (t *table) typedValues(r *row, i int) []nomen.Value {
	d := decoder{index: -1}
	d.reset(t.text(r, i))
	d.field = "values"
	values := d.values()
	d.end()
	if d.err != nil {
		r.fail(r.cells[i].at, t.columns[i].title, "byte %d of the value: %s", d.err.Column, strings.TrimPrefix(d.err.Field+": "+d.err.Message, ": "))
	}
	return values
}

func (t *table) boolean(r *row, i int) bool {
	c := &r.cells[i]
	if c.text != "true" && c.text != "false" {
		r.fail(c.at, t.columns[i].title, "expected true or false, found %q", shorten(c.text))
	}
	return c.text == "true"
}

func (t *table) number(r *row, i int) int {
	c := &r.cells[i]
	n, err := strconv.ParseInt(c.text, 10, 32)
	if err != nil || c.text[0] == '+' || len(c.text) > 1 && c.text[0] == '0' {
		r.fail(c.at, t.columns[i].title, "expected a whole number, found %q", shorten(c.text))
	}
	return int(n)
}

func (t *table) text(r *row, i int) string {
	if s := r.cells[i].text; !t.rows.tabs || strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return t.values(r, i, false)[0]
}

// list splits a cell at vertical bars.
func (t *table) list(r *row, i int) []string {
	if separator := t.columns[i].separator; separator != "" {
		var values []string
		for v := range strings.SplitSeq(t.text(r, i), separator) {
			if v = strings.TrimSpace(v); v != "" {
				values = append(values, v)
			}
		}
		return values
	}
	values := t.values(r, i, true)
	for _, v := range values {
		if v == "" {
			r.fail(r.cells[i].at, t.columns[i].title, `a value is empty: a bar separates two values; write \| for a bar within a value`)
		}
	}
	return values
}

// values decodes the escapes in a cell. For a list, it also splits the cell at vertical bars.
func (t *table) values(r *row, i int, list bool) []string {
	c := &r.cells[i]
	special := `\`
	if list {
		special = `\|`
	}
	if !strings.ContainsAny(c.text, special) {
		return []string{c.text}
	}
	var all []string
	value := make([]byte, 0, len(c.text))
	for at := 0; at < len(c.text); at++ {
		b := c.text[at]
		switch {
		case b == '|' && list:
			all = append(all, string(value))
			value = value[:0]
		case b == '\\':
			meant, ok := t.escape(c.text[at+1:], list)
			if !ok {
				r.fail(c.at, t.columns[i].title, `byte %d of the value: invalid escape; write a backslash as \\; the escapes are %s`, at+1, t.escapes(list))
			}
			value = append(value, meant)
			at++
		default:
			value = append(value, b)
		}
	}
	return append(all, string(value))
}

// escape returns the byte for which an escape stands. The parameter tail is the text after the
// backslash.
func (t *table) escape(tail string, list bool) (byte, bool) {
	if tail == "" {
		return 0, false
	}
	switch c := tail[0]; {
	case c == '\\', c == '|' && list:
		return c, true
	case !t.rows.tabs:
	case c == 't':
		return '\t', true
	case c == 'n':
		return '\n', true
	case c == 'r':
		return '\r', true
	}
	return 0, false
}

func (t *table) escapes(list bool) string {
	s := `\\`
	if list {
		s += ` \|`
	}
	if t.rows.tabs {
		s += ` \t \n \r`
	}
	return s
}
