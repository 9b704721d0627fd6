package bulk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// A tableEncoder writes CSV or TSV. Each record has a row for each of its locations. The first row
// also has the values that apply to the whole record.
type tableEncoder struct {
	tabs    bool
	marks   bool // put an apostrophe before cells that a spreadsheet would execute
	columns []column
	scratch []byte // buffer for a list
	err     error  // error for the first value of a record that the format cannot represent
}

func (e *tableEncoder) head() []byte {
	var b []byte
	for i, title := range titles() {
		e.columns = append(e.columns, parseColumn(title))
		b = e.separate(b, i)
		b = append(b, title...)
	}
	return e.end(b)
}

func (e *tableEncoder) separate(b []byte, i int) []byte {
	switch {
	case i == 0:
		return b
	case e.tabs:
		return append(b, '\t')
	}
	return append(b, ',')
}

// end appends a line break: CRLF in CSV (RFC 4180, 2), LF in TSV.
func (e *tableEncoder) end(b []byte) []byte {
	if e.tabs {
		return append(b, '\n')
	}
	return append(b, "\r\n"...)
}

func (e *tableEncoder) record(b []byte, r *store.Record) ([]byte, error) {
	e.err = nil
	for element := range r.Metadata {
		if !slices.Contains(elements(), element) {
			e.fail("metadata."+element, "there is no column for it")
		}
	}
	b = e.row(b, r, 0)
	for i := 1; i < len(r.Locations); i++ {
		b = e.row(b, r, i)
	}
	return b, e.err
}

func (e *tableEncoder) fail(field, format string, args ...any) {
	if e.err == nil {
		e.err = &heldError{field, fmt.Sprintf(format, args...)}
	}
}

func (e *tableEncoder) row(b []byte, r *store.Record, i int) []byte {
	var l nomen.Location
	if i < len(r.Locations) {
		if l = r.Locations[i]; l.URL == "" {
			e.fail(fmt.Sprintf("locations[%d].url", i), "is empty")
		}
	}
	for k := range e.columns {
		c := &e.columns[k]
		b = e.separate(b, k)
		switch c.bit {
		case isName:
			b = e.text(b, r.Spelling)
		case isPriority:
			b = appendNumber(b, "", l.Priority)
		case isWeight:
			b = appendNumber(b, "", l.Weight)
		case isIndex:
			b = appendNumber(b, "", l.Index)
		case isDown:
			if l.Down {
				b = append(b, "true"...)
			}
		case isStatus, isReason, isShowLocations, isSameAs, isSuccessors, isValues, isMetadata:
			if i == 0 {
				b = e.value(b, r, c)
			}
		default:
			b = e.text(b, *textOf(&l, c.bit))
		}
	}
	return e.end(b)
}

func (e *tableEncoder) value(b []byte, r *store.Record, c *column) []byte {
	switch c.bit {
	case isStatus:
		return e.text(b, string(r.Status))
	case isReason:
		return e.text(b, r.Reason)
	case isShowLocations:
		if !r.ShowLocations {
			return b
		}
		return append(b, "true"...)
	case isSameAs:
		return e.list(b, c, r.SameAs)
	case isSuccessors:
		return e.list(b, c, r.Successors)
	case isValues:
		if len(r.Values) == 0 {
			return b
		}
		return e.text(b, string(appendValues(nil, r.Values)))
	}
	return e.list(b, c, r.Metadata[c.element])
}

func (e *tableEncoder) list(b []byte, c *column, values []string) []byte {
	for i, v := range values {
		if v == "" {
			e.fail(c.title+"["+strconv.Itoa(i)+"]", "is empty")
		}
	}
	switch {
	case len(values) == 0:
		return b
	case len(values) == 1 && !strings.ContainsAny(values[0], `\|`):
		return e.text(b, values[0])
	}
	all := e.scratch[:0]
	for i, v := range values {
		if i > 0 {
			all = append(all, '|')
		}
		if e.tabs {
			all = escapeTabs(all, v, true)
			continue
		}
		for k := range len(v) {
			if v[k] == '\\' || v[k] == '|' {
				all = append(all, '\\')
			}
			all = append(all, v[k])
		}
	}
	e.scratch = all
	if e.tabs {
		return e.mark(append(b, all...), len(b))
	}
	return e.text(b, string(all))
}

// mark inserts an apostrophe before the cell at offset if e.marks is set and a spreadsheet could
// execute the cell.
func (e *tableEncoder) mark(b []byte, offset int) []byte {
	if e.marks && isFormula(b[offset:]) {
		return slices.Insert(b, offset, '\'')
	}
	return b
}

// Mark adds an apostrophe to the beginning of a cell if a spreadsheet could execute the cell as a
// formula. An import with [Sheet].Spreadsheet removes the apostrophe.
func Mark(cell string) string {
	if isFormula(cell) {
		return "'" + cell
	}
	return cell
}

// isFormula reports whether a spreadsheet may execute a cell as a formula because of its first
// character (OWASP, CSV Injection). In some languages, the full-width forms of these characters
// also begin a formula. isFormula ignores leading apostrophes. A cell that begins with an
// apostrophe and a formula therefore gets another apostrophe, so that an import can remove one
// apostrophe from each such cell.
func isFormula[T string | []byte](cell T) bool {
	const wide = 3 // bytes of a full-width form
	i := apostrophes(cell)
	if len(cell)-i >= wide {
		switch string(cell[i : i+wide]) {
		case "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20":
			return true
		}
	}
	return i < len(cell) && strings.IndexByte("=+-@\t\r\n", cell[i]) >= 0
}

func apostrophes[T string | []byte](cell T) int {
	i := 0
	for i < len(cell) && cell[i] == '\'' {
		i++
	}
	return i
}

func unmarked(cell string) string {
	if isFormula(cell) && cell[0] == '\'' {
		return cell[1:]
	}
	return cell
}

func (e *tableEncoder) text(b []byte, s string) []byte {
	if e.tabs {
		return e.mark(escapeTabs(b, s, false), len(b))
	}
	if e.marks && isFormula(s) {
		s = "'" + s
	}
	return appendCell(b, s)
}

func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

func escapeTabs(b []byte, s string, list bool) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\\', c == '|' && list:
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return b
}
