package bulk

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// errorColumn is the title of the column that says why a line was rejected. An import ignores this
// column.
const errorColumn = "error"

// rejects writes the lines of rejected records as a table, which users can correct and import. The
// table has the columns of the file, or the single column "text" for JSON Lines, followed by the
// column "error". It is encoded in UTF-8 with a byte order mark. Cells that a spreadsheet would
// execute begin with an apostrophe (see [Mark]).
type rejects struct {
	out   *bufio.Writer
	table *table // nil for JSON Lines
	begun bool
	err   error // the first write error, after which nothing more is written
}

// newRejects returns a rejects that writes to w. If w is nil, nothing is written, and only the
// method value is useful.
func newRejects(w io.Writer, t *table) *rejects {
	r := &rejects{table: t}
	if w != nil {
		r.out = bufio.NewWriter(w)
	}
	return r
}

func (r *rejects) add(lines []keptLine, why Refusal) {
	if r.out == nil {
		return
	}
	if !r.begun {
		r.begun = true
		_, r.err = r.out.WriteString("\uFEFF")
		r.write(r.titles(), errorColumn)
	}
	if len(lines) == 0 { // a line that is too long
		lines = []keptLine{{}}
	}
	for _, line := range lines {
		r.write(r.without(r.cells(line.text)), why.String())
	}
}

// maxValue is the maximum number of bytes of [Refusal.Value].
const maxValue = 200

// value returns the content of the cell that caused the rejection, or "" if the cell is unknown.
func (r *rejects) value(lines []keptLine, why Refusal) string {
	if r.table == nil || why.Field == "" {
		return ""
	}
	i := slices.IndexFunc(r.table.columns, func(c column) bool { return c.title == why.Field })
	at := slices.IndexFunc(lines, func(l keptLine) bool { return l.number >= why.Line })
	if i < 0 || at < 0 {
		return ""
	}
	return ascii.Head(r.cells(lines[at].text)[i], maxValue)
}

func (r *rejects) close() error {
	if r.err == nil && r.out != nil {
		r.err = r.out.Flush()
	}
	return r.err
}

func (r *rejects) titles() []string {
	if r.table == nil {
		return []string{"text"}
	}
	return r.without(r.table.titles)
}

func (r *rejects) cells(line string) []string {
	line = strings.ToValidUTF8(line, "\uFFFD")
	if r.table == nil {
		return []string{strings.TrimRight(line, "\r\n")}
	}
	all, delimiter := splitRow(line, r.table.rows.tabs, r.table.rows.delimiter)
	most := len(r.table.titles)
	if len(all) > most {
		all = append(all[:most-1], strings.Join(all[most-1:], delimiter))
	}
	for len(all) < most {
		all = append(all, "")
	}
	return all
}

// without removes the cells of "error" columns, which earlier imports have added.
func (r *rejects) without(cells []string) []string {
	if r.table == nil {
		return cells
	}
	kept := make([]string, 0, len(cells)+1)
	for i, c := range cells {
		if r.table.columns[i].title != errorColumn {
			kept = append(kept, c)
		}
	}
	return kept
}

func (r *rejects) write(cells []string, last string) {
	if r.err != nil {
		return
	}
	if r.table != nil && r.table.rows.tabs {
		text := escapeTabs([]byte(strings.Join(r.marked(cells), "\t")+"\t"), last, false)
		_, r.err = r.out.Write(append(text, "\r\n"...))
		return
	}
	w := csv.NewWriter(r.out)
	w.UseCRLF = true
	if r.table != nil {
		w.Comma = rune(r.table.rows.delimiter)
	}
	r.err = w.Write(r.marked(append(cells, last)))
	w.Flush()
}

// marked adds an apostrophe to cells that a spreadsheet would execute. If the file already has such
// marks, it does not add a second one to a marked cell.
func (r *rejects) marked(cells []string) []string {
	hasMarks := r.table != nil && r.table.sheet.Spreadsheet
	for i, c := range cells {
		if !hasMarks || !strings.HasPrefix(c, "'") {
			cells[i] = Mark(c)
		}
	}
	return cells
}

// splitRow splits a line into cells. If a cell is invalid, the rest of the line becomes the last
// cell.
func splitRow(line string, tabs bool, delimiter byte) (cells []string, separator string) {
	r := &row{text: line}
	if tabs {
		r.splitTabs()
		delimiter = '\t'
	} else if at := r.splitCells(delimiter); at >= 0 {
		for len(r.cells) > 0 && r.cells[len(r.cells)-1].at >= at {
			r.cells = r.cells[:len(r.cells)-1]
		}
		r.cells = append(r.cells, cell{text: strings.TrimRight(line[at:], "\r\n"), at: at})
	}
	for _, c := range r.cells {
		cells = append(cells, c.text)
	}
	return cells, string(rune(delimiter))
}

// Names calls the function each for every record in r that an import with the options o can parse.
// The arguments are the line number and the name as it appears in the file. If the function returns
// an error, Names stops and returns this error.
func Names(r io.Reader, o ImportOptions, each func(line int, spelling string) error) error {
	in, err := newReader(r, o.Format, o.Compression, o.Sheet)
	if err != nil {
		return err
	}
	defer in.close()
	for {
		line, err := in.next()
		switch {
		case errors.As(err, new(*LineError)):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if o.Resolvers {
			mapResolvers(line.Record)
		}
		if err := each(line.Number, line.Record.Spelling); err != nil {
			return err
		}
	}
}
