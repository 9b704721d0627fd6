package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A row is a row of a table. It consists of several lines if a quoted cell contains line breaks.
type row struct {
	text   string // as read, with its line break
	number int    // of its first line
	offset int64  // of its first byte
	cells  []cell
	bad    *LineError // the first error; cells has only the cells before it
	sheet  string     // of a workbook; "" for other files
}

// A cell is one value of a row.
type cell struct {
	text string
	at   int  // offset in the text of the row
	day  bool // in a workbook: a date without a time
}

// place returns the line, the column and the offset in the file for an offset in the row. For a
// workbook, it returns the row number, the column number and 0.
func (r *row) place(at int) (line, column int, offset int64) {
	if r.sheet != "" {
		for _, c := range r.cells {
			if c.at <= at {
				column++
			}
		}
		return r.number, column, 0
	}
	before := r.text[:at]
	return r.number + strings.Count(before, "\n"), at - strings.LastIndexByte(before, '\n'), r.offset + int64(at)
}

func (r *row) fail(at int, field, format string, args ...any) {
	if r.bad != nil {
		return
	}
	r.bad = &LineError{Sheet: r.sheet, Field: field, Message: fmt.Sprintf(format, args...)}
	r.bad.Line, r.bad.Column, r.bad.Offset = r.place(at)
}

// unmark removes the apostrophes that [Mark] adds.
func (r *row) unmark() {
	for i := range r.cells {
		c := &r.cells[i]
		if text := unmarked(c.text); len(text) < len(c.text) {
			c.text = text
			c.at++
		}
	}
}

type rowReader struct {
	lines *lines
	book  *bookReader // nil unless the file is a workbook
	tabs  bool        // TSV
	row   row         // the last row
	long  []byte

	delimiter byte                   // delimiter of the cells of CSV; 0 to recognize it in the first row
	recognise func(line string) byte // returns the delimiter; nil for a comma
}

// next returns the next row that is not empty. The row is valid until the next call. If the row has
// an invalid cell, its field bad is set. The error is a [*LineError] for a line that is too long, a
// [*BrokenError], or io.EOF.
func (t *rowReader) next() (*row, error) {
	if t.book != nil {
		return t.book.next(&t.row)
	}
	for {
		text, err := t.lines.read()
		if err != nil {
			return nil, err
		}
		if blank(text) {
			continue
		}
		r := &t.row
		*r = row{number: t.lines.number, offset: t.lines.offset, cells: r.cells[:0]}
		ended := true
		if !t.tabs && bytes.Count(text, []byte{'"'})%2 != 0 {
			if text, ended, err = t.gather(text); err != nil {
				return nil, err
			}
		}
		r.text = string(text)
		if t.delimiter == 0 && t.named() {
			continue
		}
		if err := t.split(ended); err != nil {
			return nil, err
		}
		if r.bad != nil || !r.empty() {
			return r, nil
		}
	}
}

// named determines the delimiter from the first row. It returns true if the row is a "sep=" line of
// Excel, which only specifies the delimiter.
func (t *rowReader) named() bool {
	if t.delimiter = ','; t.recognise == nil {
		return false
	}
	line := strings.TrimRight(t.row.text, "\r\n")
	if d, ok := strings.CutPrefix(line, "sep="); ok && len(d) == 1 && strings.Contains(delimiters, d) {
		t.delimiter = d[0]
		return true
	}
	t.delimiter = t.recognise(t.row.text)
	return false
}

// gather appends lines to the row until the number of quotes is even, or the row exceeds the
// maximum length. It reports whether the number is even.
func (t *rowReader) gather(text []byte) ([]byte, bool, error) {
	t.long = append(t.long[:0], text...)
	for len(t.long) <= maxLine {
		part, err := t.lines.read()
		if errors.Is(err, io.EOF) {
			return t.long, false, nil
		}
		var bad *LineError
		if errors.As(err, &bad) {
			t.lines.unreadLong(bad)
			return t.long, false, nil
		}
		var broken *BrokenError
		if errors.As(err, &broken) {
			return nil, false, t.lines.broken(t.row.number, broken.Err)
		}
		t.long = append(t.long, part...)
		if bytes.Count(part, []byte{'"'})%2 != 0 {
			return t.long, true, nil
		}
	}
	return t.long, false, nil
}

// split splits the row into cells. The parameter even reports whether the row has an even number of
// quotes. A superfluous quote can join later lines to an invalid cell. In this case, split pushes
// these lines back, so that they are read as separate rows. The error is a [*BrokenError].
func (t *rowReader) split(even bool) error {
	r := &t.row
	if !utf8.ValidString(r.text) {
		r.fail(invalid(r.text), "", notUTF8)
	} else if at := t.lines.replaced(r.text); at >= 0 {
		r.fail(at, "", notEncoded, t.lines.encoding)
	}
	if t.tabs {
		r.splitTabs()
		return nil
	}
	opened := r.splitCells(t.delimiter)
	if opened >= 0 && r.bad == nil {
		if !even && t.lines.done != nil && !t.lines.pending() && len(r.text) <= maxLine {
			line, column, _ := r.place(opened)
			return t.lines.broken(r.number, fmt.Errorf("the quote in line %d, column %d is never closed: %w", line, column, io.ErrUnexpectedEOF))
		}
		r.fail(opened, "", "the quote is not closed within %d bytes", maxLine)
	}
	if opened >= 0 {
		end := opened + strings.IndexByte(r.text[opened:]+"\n", '\n') + 1
		if end < len(r.text) {
			t.lines.unread(r.text[end:])
		}
	}
	return nil
}

func (r *row) splitTabs() {
	text := strings.TrimSuffix(strings.TrimSuffix(r.text, "\n"), "\r")
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\t')
		if n < 0 {
			r.cells = append(r.cells, cell{text: text[at:], at: at})
			return
		}
		r.cells = append(r.cells, cell{text: text[at : at+n], at: at})
		at += n + 1
	}
}

// splitCells splits the row at delimiters (RFC 4180, 2). It returns the offset of the first invalid
// cell, or -1.
func (r *row) splitCells(delimiter byte) int {
	for at := 0; ; {
		begin := at
		if at < len(r.text) && r.text[at] == '"' {
			at = r.quoted(at + 1)
		} else {
			at = r.bare(at, delimiter)
		}
		if at < 0 {
			return begin
		}
		switch rest := r.text[at:]; {
		case rest == "", rest == "\n", rest == "\r\n":
			return -1
		case rest[0] == delimiter:
			at++
		case rest[0] == '\r':
			r.fail(at, "", "a carriage return without a line feed; put a cell that contains one in quotes")
			return begin
		default:
			r.fail(at, "", "unexpected %s after the closing quote of a cell", shown(rest))
			return begin
		}
	}
}

// bare reads an unquoted cell. It returns the offset after the cell, or -1 if the cell is invalid.
func (r *row) bare(at int, delimiter byte) int {
	i := at
	for ; i < len(r.text); i++ {
		c := r.text[i]
		if c == delimiter || c == '\n' || c == '\r' {
			break
		}
		if c == '"' {
			r.fail(i, "", `a quote in a cell that does not begin with one; put the cell in quotes, and double the quote`)
			return -1
		}
	}
	r.cells = append(r.cells, cell{text: r.text[at:i], at: at})
	return i
}

// quoted reads a quoted cell. The parameter at is the offset after the opening quote. The result is
// the offset after the closing quote, or -1 if there is no closing quote.
func (r *row) quoted(at int) int {
	twice := false
	for i := at; ; {
		n := strings.IndexByte(r.text[i:], '"')
		if n < 0 {
			return -1
		}
		if i += n; strings.HasPrefix(r.text[i+1:], `"`) {
			i, twice = i+2, true
			continue
		}
		text := r.text[at:i]
		if twice {
			text = strings.ReplaceAll(text, `""`, `"`)
		}
		r.cells = append(r.cells, cell{text: text, at: at})
		return i + 1
	}
}

func (r *row) empty() bool {
	for _, c := range r.cells {
		if c.text != "" {
			return false
		}
	}
	return true
}

func shown(s string) string {
	c, _ := utf8.DecodeRuneInString(s)
	return strconv.QuoteRune(c)
}
