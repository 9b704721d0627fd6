package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/xlsx"
)

// A bookReader reads the rows of one sheet in a workbook. It sets the text of each row to the cells
// in CSV form.
type bookReader struct {
	sheet string
	rows  *xlsx.Rows
	width int // columns of the first row
}

// newBookReader returns a reader of the sheet called name. If name is empty, it chooses the only
// sheet that has values, and fails if several sheets have values. If the workbook cannot be opened,
// the error is a [*LineError].
func newBookReader(r io.Reader, name string) (*bookReader, error) {
	data, err := io.ReadAll(io.LimitReader(r, xlsx.MaxSize+1))
	if err != nil {
		return nil, &BrokenError{Line: 1, Err: err}
	}
	if len(data) > xlsx.MaxSize {
		return nil, &LineError{Line: 1, Message: fmt.Sprintf("a workbook can have at most %d MiB; save the sheet as CSV", xlsx.MaxSize>>20)}
	}
	book, err := xlsx.Open(bytes.NewReader(data), int64(len(data)))
	if errors.Is(err, xlsx.ErrNotWorkbook) {
		err = fmt.Errorf("%w; save it as .xlsx without a password, or as CSV", err)
	}
	if err == nil && name == "" {
		name, err = onlySheet(book)
	}
	var rows *xlsx.Rows
	if err == nil {
		rows, err = book.Rows(name)
	}
	if err != nil {
		return nil, &LineError{Line: 1, Message: err.Error()}
	}
	return &bookReader{sheet: name, rows: rows}, nil
}

func onlySheet(book *xlsx.Workbook) (string, error) {
	names := book.Sheets()
	var full []string
	for _, name := range names {
		empty, err := book.Empty(name)
		if err != nil {
			return "", err
		}
		if !empty {
			full = append(full, name)
		}
	}
	switch {
	case len(full) > 1:
		return "", fmt.Errorf("the workbook has several sheets: choose one of %s", strings.Join(full, ", "))
	case len(full) == 1:
		return full[0], nil
	case len(names) > 0:
		return names[0], nil
	}
	return "", errors.New("all sheets of the workbook are hidden: choose one of them by its name")
}

// next returns the next row, as [rowReader.next] does.
func (b *bookReader) next(r *row) (*row, error) {
	read, err := b.rows.Next()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	*r = row{number: r.number, cells: r.cells[:0], sheet: b.sheet}
	if err != nil {
		return nil, &BrokenError{Line: r.number + 1, Err: err}
	}
	r.number = read.Number
	last := read.Cells[len(read.Cells)-1].Column
	if b.width == 0 {
		b.width = last + 1
	}
	texts := make([]string, max(last+1, b.width))
	for _, c := range read.Cells {
		texts[c.Column] = c.Text
	}
	var text strings.Builder
	for i, s := range texts {
		if i > 0 {
			text.WriteByte(',')
		}
		r.cells = append(r.cells, cell{text: s, at: text.Len()})
		text.WriteString(quoted(s))
	}
	text.WriteByte('\n')
	r.text = text.String()
	for _, c := range read.Cells {
		if r.cells[c.Column].day = c.Day; c.Problem != "" {
			r.fail(r.cells[c.Column].at, "", "%s", c.Problem)
		}
	}
	return r, nil
}

func quoted(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") && !strings.HasPrefix(s, " ") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// columnOf returns the number of the workbook column that contains a field, counted from 1. If the
// workbook has no such column, columnOf returns the number of the name column.
func (t *table) columnOf(field string) int {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.title == field })
	if i < 0 {
		i = t.name
	}
	return i + 1
}

// Place formats a position in a file for display. A position in a workbook is a cell, such as
// "Names!B7". A position in any other file is a line and a column, such as "7:12". A line or column
// of 0 means unknown, and Place omits the number.
func Place(sheet string, line, column int) string {
	switch {
	case sheet != "" && column > 0:
		return fmt.Sprintf("%s!%s%d", sheet, xlsx.ColumnName(column-1), line)
	case sheet != "":
		return fmt.Sprintf("%s!%d", sheet, line)
	case line > 0 && column > 0:
		return fmt.Sprintf("%d:%d", line, column)
	case line > 0:
		return fmt.Sprint(line)
	}
	return ""
}
