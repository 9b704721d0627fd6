package xlsx

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Cell is a cell that has a value.
type Cell struct {
	Column  int    // from 0
	Text    string // numbers as in JSON, dates as in ISO 8601, true and false
	Day     bool   // Text is a date without a time
	Problem string // why the cell has no text, or ""
}

// A Row contains the cells of a row that have values, in column order.
type Row struct {
	Number int // from 1
	Cells  []Cell
}

// Rows is an iterator over the rows of a sheet.
type Rows struct {
	book   *Workbook
	part   *part
	in     bool // inside <sheetData>
	number int
	cells  []Cell
	err    error
}

// Rows returns an iterator over the rows of a sheet. The caller must close the iterator.
func (w *Workbook) Rows(name string) (*Rows, error) {
	for _, s := range w.sheets {
		if s.name == name {
			p, err := w.open(s.part)
			return &Rows{book: w, part: p}, err
		}
	}
	return nil, fmt.Errorf("no sheet %q; the workbook has %s", name, strings.Join(w.Sheets(), ", "))
}

func (r *Rows) Close() { r.part.close() }

// Next returns the next row that has a value. The row is valid until the next call. After the last
// row, the error is io.EOF.
func (r *Rows) Next() (Row, error) {
	for r.err == nil {
		var t xml.Token
		if t, r.err = r.part.next(); r.err != nil {
			break
		}
		switch t := t.(type) {
		case xml.EndElement:
			r.in = r.in && t.Name.Local != "sheetData"
		case xml.StartElement:
			switch {
			case t.Name.Local == "sheetData":
				r.in = true
			case t.Name.Local == "row" && r.in:
				if r.err = r.row(t); r.err == nil && len(r.cells) > 0 {
					r.part.left = maxElement
					return Row{r.number, r.cells}, nil
				}
			}
			r.part.left = maxElement
		}
	}
	return Row{}, r.err
}

func (r *Rows) row(begin xml.StartElement) error {
	before := r.number
	r.number++
	if s := attribute(begin, "r"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n <= before || n > maxRow {
			return r.part.damaged(fmt.Sprintf("invalid row %.20q after row %d", s, before))
		}
		r.number = n
	}
	r.cells = r.cells[:0]
	outside, column := r.part.depth-1, -1
	for {
		t, err := r.part.next()
		if err != nil {
			return r.part.cut(err)
		}
		if r.part.depth == outside {
			return nil
		}
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "c" {
			if column, err = r.column(e, column); err != nil {
				return err
			}
			if err := r.cell(e, column); err != nil {
				return err
			}
		}
	}
}

// column returns the column number of a cell. The parameter before is the column number of the
// previous cell in the row.
func (r *Rows) column(e xml.StartElement, before int) (int, error) {
	at := before + 1
	if s := attribute(e, "r"); s != "" {
		letters := strings.TrimRight(s, "0123456789")
		if n, err := strconv.Atoi(s[len(letters):]); err != nil || n != r.number {
			return 0, r.part.damaged(fmt.Sprintf("invalid cell %.20q in row %d", s, r.number))
		}
		at = columnOf(letters)
	}
	if at <= before || at >= maxColumn {
		return 0, r.part.damaged(fmt.Sprintf("invalid order of the cells in row %d", r.number))
	}
	return at, nil
}

func columnOf(letters string) int {
	n := 0
	for i := range len(letters) {
		c := letters[i] &^ 0x20
		if c < 'A' || c > 'Z' || n > maxColumn {
			return -1
		}
		n = 26*n + int(c-'A') + 1
	}
	return n - 1
}

// ColumnName returns the letters of a column. The first column is 0, and its letter is A.
func ColumnName(column int) string {
	var s string
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		s = string(rune('A'+(n-1)%26)) + s
	}
	return s
}

func (r *Rows) cell(begin xml.StartElement, column int) error {
	c := Cell{Column: column}
	value, formula, has := "", false, false
	outside := r.part.depth - 1
	for {
		t, err := r.part.next()
		if err != nil {
			return r.part.cut(err)
		}
		if r.part.depth == outside {
			break
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "v":
			value, err = r.part.plain()
			has = true
		case "is":
			value, err = r.part.text()
			has = true
		case "f":
			_, err = r.part.plain()
			formula = true
		}
		if err != nil {
			return err
		}
	}
	switch {
	case has:
		if err := r.value(&c, begin, value); err != nil {
			return err
		}
	case formula:
		c.Problem = "the formula has no value: let a spreadsheet program compute the workbook and save it"
	}
	if c.Text != "" || c.Problem != "" {
		r.cells = append(r.cells, c)
	}
	return nil
}

func (r *Rows) value(c *Cell, begin xml.StartElement, value string) error {
	switch t := attribute(begin, "t"); t {
	case "s":
		i, err := strconv.Atoi(value)
		s, ok := r.book.strings.at(i)
		if err != nil || !ok {
			return r.part.damaged(fmt.Sprintf("cell %s%d has no text", ColumnName(c.Column), r.number))
		}
		c.Text = s
	case "inlineStr":
		c.Text = value
	case "str":
		c.Text = unescape(value)
	case "d":
		c.Text = value
		c.Day = len(value) == len("2026-11-24")
	case "b":
		c.Text = strconv.FormatBool(value == "1" || value == "true")
	case "e":
		c.Problem = fmt.Sprintf("the cell has the error %.20s", value)
	case "", "n":
		r.numeric(c, begin, value)
	default:
		return r.part.damaged(fmt.Sprintf("cell %s%d has the unknown type %.20q", ColumnName(c.Column), r.number, t))
	}
	return nil
}

func (r *Rows) numeric(c *Cell, begin xml.StartElement, value string) {
	value = strings.TrimSpace(value)
	if i, err := strconv.Atoi(attribute(begin, "s")); err == nil && i >= 0 && i < len(r.book.styles) && r.book.styles[i] != plain {
		if text, isDay, ok := r.book.dateText(value, r.book.styles[i]); ok {
			c.Text, c.Day = text, isDay
			return
		}
	}
	c.Text = value
	if strings.ContainsAny(value, "eE") {
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			c.Text = strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
}

// Empty reports whether no cell of a sheet has a value.
func (w *Workbook) Empty(name string) (bool, error) {
	r, err := w.Rows(name)
	if err != nil {
		return false, err
	}
	defer r.Close()
	_, err = r.Next()
	if err == io.EOF {
		return true, nil
	}
	return false, err
}
