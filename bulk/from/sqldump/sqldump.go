package sqldump

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// These are the limits for reading a dump.
const (
	maxCell    = 4 << 20 // length of a cell, and of a name, in bytes
	maxRow     = 8 << 20 // total length of the cells of a row, in bytes
	maxColumns = 1000    // columns of a table
	maxTables  = 10_000  // tables whose columns are remembered
)

// An Error reports that a dump is invalid at a position.
type Error struct {
	Line, Column int // from 1; the column in bytes
	Reason       string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// A Cell is the value of a column in a row.
type Cell struct {
	Text  string
	Valid bool // false for NULL, and for a column that the table lacks
	bytea bool // Text may be the hexadecimal form of bytes in PostgreSQL
}

// Bytes returns the value of a binary column.
func (c Cell) Bytes() []byte {
	if digits, ok := strings.CutPrefix(c.Text, `\x`); ok && c.bytea {
		if b, err := hex.DecodeString(digits); err == nil {
			return b
		}
	}
	return []byte(c.Text)
}

// A Row is a row of a table.
type Row struct {
	Line   int    // where it begins
	Column int    // in bytes, from 1
	Table  string // without the name of the schema

	columns []string
	cells   []Cell
}

// Cell returns the cell of a column. It ignores the letter case of the column name.
func (r *Row) Cell(column string) Cell {
	for i, c := range r.columns {
		if ascii.EqualFold(c, column) && i < len(r.cells) {
			return r.cells[i]
		}
	}
	return Cell{}
}

// All returns an iterator over the column names and the texts of the cells. The text for NULL is
// "".
func (r *Row) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i, c := range r.columns {
			if i < len(r.cells) && !yield(c, r.cells[i].Text) {
				return
			}
		}
	}
}

// A Reader reads rows from a dump.
type Reader struct {
	scanner
	tables map[string][]string // columns of the tables, from CREATE TABLE

	wanted func(table string) bool
	table  string
	given  []string // columns of the rows that are being read
	mode   mode
}

// A mode is the kind of input that the reader reads next.
type mode uint8

const (
	statements mode = iota
	tuples          // of INSERT
	copied          // rows of COPY
)

// NewReader returns a Reader that reads the rows of all tables for which accept returns true.
func NewReader(r io.Reader, accept func(table string) bool) *Reader {
	return &Reader{scanner: scanner{in: bufio.NewReaderSize(r, 64<<10), line: 1}, tables: map[string][]string{}, wanted: accept}
}

// Next returns the next row. At the end of the dump, the error is io.EOF. If the dump is invalid,
// the error is an [*Error], and no more rows can be read.
func (r *Reader) Next() (*Row, error) {
	for r.err == nil {
		switch r.mode {
		case tuples:
			if row, ok := r.tuple(); ok {
				return row, r.err
			}
		case copied:
			if row, ok := r.copyLine(); ok {
				return row, r.err
			}
		default:
			r.statement()
		}
	}
	return nil, r.err
}

func (r *Reader) statement() {
	t := r.next()
	switch {
	case r.err != nil || t.is(";"):
	case t.kind == command:
		r.skipLine()
	case t.isWord("INSERT"), t.isWord("REPLACE"):
		r.insert()
	case t.isWord("COPY"):
		r.copy()
	case t.isWord("CREATE"):
		if t = r.next(); !t.isWord("TABLE") {
			r.skip(t)
			return
		}
		r.create()
	default:
		r.skip(t)
	}
}

func (r *Reader) skip(t token) {
	for r.err == nil && !t.is(";") {
		t = r.next()
	}
}

// tableName reads a table name such as `db`.`table` or public.table. It returns the last part of
// the name, and the token after the name.
func (r *Reader) tableName(t token) (string, token) {
	for {
		if t.kind != word && t.kind != quotedName {
			r.fail(t, "want the name of a table")
			return "", t
		}
		last := t.text
		if t = r.next(); !t.is(".") {
			return last, t
		}
		t = r.next()
	}
}

func (r *Reader) columnNames() (all []string) {
	for r.err == nil {
		t := r.next()
		if t.kind != word && t.kind != quotedName || len(all) == maxColumns {
			r.fail(t, "want the name of a column")
			return nil
		}
		all = append(all, t.text)
		switch t = r.next(); {
		case t.is(")"):
			return all
		case !t.is(","):
			r.fail(t, "want a comma or a closing parenthesis")
		}
	}
	return nil
}

func (r *Reader) insert() {
	t := r.next()
	for r.err == nil && !t.isWord("INTO") && !t.is(";") {
		t = r.next()
	}
	if t.is(";") {
		return
	}
	r.table, t = r.tableName(r.next())
	r.given = r.tables[r.table]
	if t.is("(") {
		r.given = r.columnNames()
		t = r.next()
	}
	if !r.wanted(r.table) {
		r.skip(t)
		return
	}
	for r.err == nil && t.isWord("OVERRIDING", "SYSTEM", "USER", "VALUE") {
		t = r.next()
	}
	if !t.isWord("VALUES") {
		r.fail(t, "want VALUES")
	}
	r.mode = tuples
}

// tuple reads a row of an INSERT statement. It returns false at the end of the statement.
func (r *Reader) tuple() (*Row, bool) {
	t := r.next()
	switch {
	case t.is(","):
		t = r.next()
	case t.is(";"), t.isWord("ON"): // ON DUPLICATE KEY, ON CONFLICT
		r.mode = statements
		r.skip(t)
		return nil, false
	}
	if !t.is("(") {
		r.fail(t, "want a row in parentheses")
		return nil, false
	}
	row := &Row{Line: t.line, Column: t.column, Table: r.table, columns: r.given}
	size := 0
	for r.err == nil {
		c, end := r.cell()
		row.cells = append(row.cells, c)
		if size += len(c.Text); size > maxRow || len(row.cells) > maxColumns {
			r.fail(t, "the row is too long")
		}
		if end.is(")") {
			return row, r.known(t)
		}
	}
	return nil, false
}

// known reports whether the columns of the table are known. If they are not, known also records an
// error.
func (r *Reader) known(t token) bool {
	if r.given == nil && r.err == nil {
		r.fail(t, "the columns are unknown: make the dump with CREATE TABLE, or with the names of the columns in INSERT")
	}
	return r.err == nil
}

// cell reads a cell in an INSERT statement, and the comma or parenthesis that follows.
func (r *Reader) cell() (Cell, token) {
	var c Cell
	for r.err == nil {
		switch t := r.next(); {
		case t.is(","), t.is(")"):
			return c, t
		case t.kind == text:
			c = Cell{Text: t.text, Valid: true, bytea: !r.backslash}
		case t.kind == word && t.isWord("NULL"):
			c = Cell{}
		case t.is("::"), t.kind == word && strings.HasPrefix(t.text, "_"):
			if t.is("::") { // a cast
				r.next()
			}
		case t.kind == word && c.Text == "-":
			c = Cell{Text: "-" + t.text, Valid: true}
		case t.kind == word, t.is("-"):
			c = Cell{Text: t.text, Valid: true}
		default:
			r.fail(t, "want a value")
		}
	}
	return c, token{}
}

func (r *Reader) create() {
	t := r.next()
	for r.err == nil && t.isWord("IF", "NOT", "EXISTS") {
		t = r.next()
	}
	table, t := r.tableName(t)
	if !t.is("(") {
		r.skip(t)
		return
	}
	var columns []string
	depth, first := 1, true
	for r.err == nil && depth > 0 {
		switch t = r.next(); {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case first && depth == 1 && (t.kind == quotedName || t.kind == word && !isConstraint(t.text)) && len(columns) < maxColumns:
			columns = append(columns, t.text)
		}
		first = t.is(",") && depth == 1
	}
	if len(r.tables) < maxTables && r.wanted(table) {
		r.tables[table] = columns
	}
	r.skip(t)
}

// isConstraint reports whether a word in a CREATE TABLE statement begins a definition other than
// that of a column.
func isConstraint(word string) bool {
	return slices.Contains([]string{"PRIMARY", "KEY", "UNIQUE", "CONSTRAINT", "INDEX", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK", "EXCLUDE", "LIKE"}, strings.ToUpper(word))
}

func (r *Reader) copy() {
	t := r.next()
	if !t.is("(") { // COPY (SELECT ...) has no rows
		r.table, t = r.tableName(t)
		r.given = r.tables[r.table]
		if t.is("(") {
			r.given = r.columnNames()
			t = r.next()
		}
		if t.isWord("FROM") && r.next().isWord("STDIN") {
			r.skip(r.next())
			r.skipLine()
			r.mode = copied
			return
		}
	}
	r.skip(t)
}

// copyLine reads a row of a COPY statement. It returns false after the last row, and for a row of a
// table that the reader skips.
func (r *Reader) copyLine() (*Row, bool) {
	t := token{line: r.line, column: 1}
	row := &Row{Line: r.line, Column: 1, Table: r.table, columns: r.given}
	whole := r.readLine()
	switch {
	case r.err == io.EOF:
		r.err = &Error{t.line, 1, `the dump ends without "\.": it was not copied completely`}
		return nil, false
	case r.err != nil:
		return nil, false
	case whole == `\.`:
		r.mode = statements
		return nil, false
	case !r.wanted(r.table):
		return nil, false
	}
	for part := range strings.SplitSeq(whole, "\t") {
		var c Cell // NULL
		if part != `\N` {
			c = Cell{Text: unescapeCopy(part), Valid: true, bytea: true}
		}
		row.cells = append(row.cells, c)
	}
	if !r.known(t) {
		return nil, false
	}
	if len(row.cells) != len(row.columns) {
		r.fail(t, fmt.Sprintf("the row has %d columns, want %d", len(row.cells), len(row.columns)))
	}
	return row, r.err == nil
}

func unescapeCopy(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch k := strings.IndexByte("bfnrtv", s[i]); {
		case k >= 0:
			b = append(b, "\b\f\n\r\t\v"[k])
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}
