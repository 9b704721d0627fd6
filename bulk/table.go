package bulk

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A table reads records from CSV, TSV or a workbook. Consecutive rows with the same name form one
// record (see sameName).
type table struct {
	rows    rowReader
	sheet   Sheet
	columns []column
	titles  []string // of the columns, as in the file
	name    int      // index of the column of the name
	keep    bool     // keep the lines of each record

	open  bool     // a record is being read
	line  fileLine // the record that is being read
	first []given
	bad   *LineError // why the record is invalid
	gap   int        // number of an unreadable line after the rows of the record, or 0
	done  error      // why reading ended

	held  []*LineError // errors of unreadable lines since the record began, at most maxHeld
	queue []result     // results to return, in the order of lines
}

type result struct {
	line fileLine
	err  error
}

// maxHeld is the maximum number of errors that a table holds back. Errors for unreadable lines are
// returned in line order, so they must wait until the record before them is complete.
const maxHeld = 1000

// A given is the first cell of a record in a column that applies to the whole record.
type given struct {
	text string
	line int
}

// A place is the position of a location in the file.
type place struct {
	line   int
	offset int64
}

// newTable reads the header line and returns a table. The parameter book is nil unless the file is
// a workbook.
func newTable(l *lines, f Format, sheet Sheet, book *bookReader) (*table, error) {
	delimiter, err := sheet.delimiter()
	if err != nil {
		return nil, err
	}
	t := &table{rows: rowReader{lines: l, book: book, tabs: f == TSV, delimiter: delimiter}, sheet: sheet, name: -1}
	if delimiter == 0 && f == CSV {
		t.rows.recognise = sheet.recognise
	}
	if book != nil {
		t.rows.delimiter = ','
	}
	head, err := t.rows.next()
	switch {
	case errors.Is(err, io.EOF): // a pipe that broke before its first line looks like this
		return nil, &LineError{Line: 1, Column: 1, Message: "the file is empty: a table must begin with a line that names its columns, even if no record follows"}
	case err != nil:
		return nil, err
	}
	if t.header(head); head.bad != nil {
		return nil, head.bad
	}
	t.first = make([]given, len(t.columns))
	return t, nil
}

func (t *table) header(head *row) {
	if head.bad != nil {
		return
	}
	seen, mapped := map[string]bool{}, map[string]bool{}
	var unknown []int
	for i, c := range head.cells {
		col, isMapped := t.sheet.column(c.text)
		mapped[c.text] = isMapped
		switch {
		case c.text == "" && !col.ignored:
			head.fail(c.at, "", "column %d has no title", i+1)
		case col.ignored:
		case col.bit == isUnknown:
			unknown = append(unknown, i)
		case seen[col.title]:
			head.fail(c.at, col.title, "the column is repeated")
		case col.bit == isName:
			t.name = i
		}
		seen[col.title] = !col.ignored
		t.columns, t.titles = append(t.columns, col), append(t.titles, c.text)
	}
	if len(unknown) > 0 {
		t.failUnknown(head, unknown)
	}
	for _, m := range t.sheet.Columns {
		if title, _, _ := cutLast(m, '='); !mapped[title] {
			head.fail(0, "", "map %q: the file has no column with this title", m)
		}
	}
	if t.name < 0 {
		head.fail(0, "name", "the first line must name the columns, and one of them must be name")
	}
}

func (t *table) failUnknown(head *row, columns []int) {
	var all []string
	for _, i := range columns {
		title := head.cells[i].text
		all = append(all, fmt.Sprintf("%s (number %d%s)", shorten(title), i+1, t.hint(title)))
	}
	first := head.cells[columns[0]]
	head.bad = nil // the error about unknown titles says more
	head.fail(first.at, shorten(first.text), "unknown columns: %s; there are %s (map TITLE=COLUMN says what a title means, and TITLE= leaves it out)",
		strings.Join(all, ", "), strings.Join(titles(), " "))
}

func (t *table) hint(title string) string {
	lower := strings.ToLower(strings.TrimSpace(title))
	dublin := elementColumn + strings.TrimPrefix(strings.TrimPrefix(lower, "dc."), "dcterms.")
	switch {
	case parseColumn(lower).bit != isUnknown:
		return fmt.Sprintf(": write %q", lower)
	case parseColumn(dublin).bit != isUnknown:
		return fmt.Sprintf(": write %q", dublin)
	case t.rows.tabs && strings.ContainsAny(title, ",;"):
		return ": the file has no tabs between its columns; set the format to csv"
	case !t.rows.tabs && strings.ContainsAny(title, delimiters):
		return ": it contains one of , ; | or a tab; set the delimiter"
	}
	return ""
}

func (t *table) next() (fileLine, error) {
	if len(t.queue) > 0 {
		r := t.queue[0]
		t.queue = t.queue[1:]
		return r.line, r.err
	}
	for t.done == nil {
		r, err := t.row()
		var bad *LineError
		switch {
		case errors.As(err, &bad):
			if t.unreadable(bad) {
				continue
			}
			return fileLine{}, bad
		case err != nil:
			return t.end(err)
		}
		if t.open && sameName(t.line.Record.Spelling, t.nameOf(r)) {
			t.add(r)
			continue
		}
		was, bad, open, held := t.line, t.bad, t.open, t.held
		t.begin(r)
		if open {
			return t.finish(was, bad, held)
		}
	}
	if t.open {
		t.open = false
		return t.finish(t.line, t.bad, t.held)
	}
	return fileLine{}, t.done
}

// row returns the next row. If the row is invalid, but its name can be read, row returns it without
// an error, and its field bad is set. For any other invalid row, the error is a [*LineError].
func (t *table) row() (*row, error) {
	r, err := t.rows.next()
	if err != nil {
		return nil, err
	}
	if t.sheet.Spreadsheet {
		r.unmark()
	}
	t.check(r)
	switch {
	case r.bad == nil:
	case t.cut(r):
		return nil, t.rows.lines.broken(r.number, fmt.Errorf("the last line has too few cells: %w", io.ErrUnexpectedEOF))
	case t.nameOf(r) == "":
		if t.keep {
			r.bad.lines = []keptLine{{r.number, r.text}}
		}
		return nil, r.bad
	}
	return r, nil
}

// unreadable handles the error for a line that cannot be read. It returns true if it holds the
// error back until the current record is complete. Otherwise the caller must return the error.
func (t *table) unreadable(bad *LineError) bool {
	t.gap = bad.Line
	if !t.open || len(t.held) == maxHeld {
		return false
	}
	t.held = append(t.held, bad)
	return true
}

// finish queues the current record, or the error for it, together with the errors that were held
// back. It sorts them by line, and returns the first.
func (t *table) finish(l fileLine, bad *LineError, held []*LineError) (fileLine, error) {
	line, err := finished(l, bad)
	if len(held) == 0 {
		return line, err
	}
	for _, h := range held {
		if bad != nil && h.Line < bad.Line {
			t.queue = append(t.queue, result{err: h})
		}
	}
	t.queue = append(t.queue, result{line, err})
	for _, h := range held {
		if bad == nil || h.Line >= bad.Line {
			t.queue = append(t.queue, result{err: h})
		}
	}
	return t.next()
}

// end handles the end of the input. If the input is truncated, end drops the last record, because
// some of its lines may be missing.
func (t *table) end(err error) (fileLine, error) {
	t.done = err
	var broken *BrokenError
	if t.open && errors.As(err, &broken) && !t.complete(broken.Line) {
		t.open = false
		for _, h := range t.held {
			t.queue = append(t.queue, result{err: h})
		}
		t.done = &BrokenError{Line: t.line.Number, Err: broken.Err}
	}
	return t.next()
}

// complete reports whether the current record is complete, although the given line is truncated.
// This is so if the name in the truncated line is complete and differs from the name of the record.
func (t *table) complete(line int) bool {
	r := &t.rows.row
	return r.number == line && len(r.cells) > t.name+1 && !sameName(t.line.Record.Spelling, t.nameOf(r))
}

func finished(l fileLine, bad *LineError) (fileLine, error) {
	if bad != nil {
		bad.Name, bad.lines = l.Record.Spelling, l.lines
		return fileLine{}, bad
	}
	return l, nil
}

func (t *table) check(r *row) {
	have, want := len(r.cells), len(t.columns)
	switch {
	case r.bad != nil:
	case have > want:
		r.fail(r.cells[want].at, "", "the line has %d cells, expected %d", have, want)
	case have < want:
		r.fail(len(strings.TrimRight(r.text, "\r\n")), t.columns[have].title, "the line has %d cells, expected %d", have, want)
	case r.cells[t.name].text == "":
		r.fail(r.cells[t.name].at, "name", "missing: every line must have a name")
	}
}

// cut reports whether a row looks like a truncated line.
func (t *table) cut(r *row) bool {
	return len(r.cells) < len(t.columns) && t.rows.lines.done != nil && !t.rows.lines.pending() && !strings.HasSuffix(r.text, "\n")
}

func (t *table) nameOf(r *row) string {
	if t.name >= len(r.cells) {
		return ""
	}
	return t.text(r, t.name)
}

// sameName reports whether two cells are equal, or differ only in letter case and have the same
// canonical key. Other spellings with the same key, such as "ark:12345/x-5" and "ark:12345/x5",
// begin different records.
func sameName(a, b string) bool {
	if a == b || !strings.EqualFold(a, b) {
		return a == b
	}
	n, err := name.Parse(a)
	m, other := name.Parse(b)
	return err == nil && other == nil && n == m
}

func (t *table) begin(r *row) {
	t.open, t.bad, t.gap, t.held = true, nil, 0, nil
	clear(t.first)
	t.line = fileLine{
		Number: r.number, Offset: r.offset, Fields: registrar.FieldName, table: t,
		Record: &store.Record{Spelling: t.nameOf(r)},
	}
	t.add(r)
}

func (t *table) add(r *row) {
	if t.line.size += len(r.text); t.line.size > maxLine {
		r.fail(0, "", "the lines of this name have more than %d bytes", maxLine)
	}
	if t.keep && t.line.size <= maxLine {
		t.line.lines = append(t.line.lines, keptLine{r.number, r.text})
	}
	if t.gap > 0 {
		r.fail(0, "", "line %d, between the lines of this name, cannot be read", t.gap)
	}
	if r.bad == nil {
		t.take(r)
	}
	if t.bad == nil {
		t.bad = r.bad
	}
}

func (t *table) take(r *row) {
	var l nomen.Location
	part := -1 // the last cell of a location
	for i := range r.cells {
		c := &r.cells[i]
		if c.text == "" {
			continue
		}
		col := &t.columns[i]
		switch col.bit {
		case isName, isUnknown: // ignored
		case isStatus, isReason, isShowLocations, isSameAs, isSuccessors, isValues, isMetadata:
			t.value(r, i)
		case isPriority:
			l.Priority, part = t.number(r, i), i
		case isWeight:
			l.Weight, part = t.number(r, i), i
		case isIndex:
			l.Index, part = t.number(r, i), i
		case isDown:
			l.Down, part = t.boolean(r, i), i
		default:
			*textOf(&l, col.bit), part = t.text(r, i), i
			if c.day && (col.bit == isValidFrom || col.bit == isValidUntil) {
				*textOf(&l, col.bit) += "T00:00:00Z"
			}
		}
	}
	switch {
	case part < 0 || r.bad != nil:
	case l.URL == "":
		r.fail(r.cells[part].at, t.columns[part].title, "belongs to a location, but the line has no url")
	case len(t.line.Record.Locations) == store.MaxLocations:
		r.fail(0, "url", "a record has at most %d locations", store.MaxLocations)
	default:
		t.line.Record.Locations = append(t.line.Record.Locations, l)
		t.line.places = append(t.line.places, place{r.number, r.offset})
		t.line.Fields |= registrar.FieldLocations
	}
}

func (l *fileLine) sheet() string {
	if l.table == nil || l.table.rows.book == nil {
		return ""
	}
	return l.table.rows.book.sheet
}

// title converts the path of a field in a record, such as "locations[2].url", to the title of a
// column. The line and the offset are the position of the location if the field belongs to one, and
// otherwise the position of the record.
func (l *fileLine) title(field string) (column string, line int, offset int64) {
	line, offset = l.Number, l.Offset
	if l.table == nil {
		return field, line, offset
	}
	list, sub, _ := strings.Cut(field, ".")
	base, index, isElement := strings.Cut(list, "[")
	switch {
	case base == "metadata":
		element, _, _ := strings.Cut(sub, "[")
		return elementColumn + element, line, offset
	case base != "locations" || !isElement:
		return base, line, offset
	}
	i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
	if err == nil && i < len(l.places) {
		line, offset = l.places[i].line, l.places[i].offset
	}
	return sub, line, offset
}
