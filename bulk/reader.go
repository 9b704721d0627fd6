package bulk

import (
	"bufio"
	"fmt"
	"io"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

type fileLine struct {
	Number int           // number of its first line, from 1
	Offset int64         // offset of its first byte after decompression
	Record *store.Record // the record without its Name; Spelling is as in the file
	Fields registrar.Fields
	size   int     // bytes
	table  *table  // the table of the record; nil for JSON Lines
	places []place // positions of the locations in the table
	lines  []keptLine
}

type keptLine struct {
	number int // from 1
	text   string
}

type reader struct {
	lines *lines
	read  func() (fileLine, error)
	table *table // nil for JSON Lines
	json  jsonReader
}

func (r *reader) keep() {
	if r.json.keep = true; r.table != nil {
		r.table.keep = true
	}
}

// newReader returns a reader of the records in r. The error is a [*BrokenError] if the beginning of
// r cannot be read, a [*LineError] for an invalid header line or a workbook that cannot be opened,
// or a [*SheetError]. The caller must close the reader. Closing the reader does not close r.
func newReader(r io.Reader, f Format, c Compression, sheet Sheet) (*reader, error) {
	if !f.Readable() {
		return nil, fmt.Errorf("bulk: reading the format %s is not supported", f)
	}
	if err := sheet.Check(); err != nil {
		return nil, err
	}
	if err := sheet.Fits(f); err != nil {
		return nil, err
	}
	if f == XLSX {
		return newTableOfBook(r, c, sheet)
	}
	l, err := newLines(r, c, sheet)
	if err != nil {
		return nil, err
	}
	in := &reader{lines: l}
	if f == JSONLines {
		in.json.lines, in.read = l, in.json.next
		return in, nil
	}
	t, err := newTable(l, f, sheet, nil)
	if err != nil {
		l.close()
		return nil, err
	}
	in.table, in.read = t, t.next
	return in, nil
}

func newTableOfBook(r io.Reader, c Compression, sheet Sheet) (*reader, error) {
	file := &counter{r: r}
	plain, closing, err := decompress(bufio.NewReaderSize(file, bufferSize), c)
	if err != nil {
		return nil, &BrokenError{Line: 1, Err: err}
	}
	book, err := newBookReader(plain, sheet.Name)
	if err == nil {
		l := &lines{close: func() { book.rows.Close(); closing() }, yield: yield{file: file}}
		var t *table
		if t, err = newTable(l, XLSX, sheet, book); err == nil {
			return &reader{lines: l, table: t, read: t.next}, nil
		}
		book.rows.Close()
	}
	closing()
	return nil, err
}

func (r *reader) close() { r.lines.close() }

// next returns the next record. The error is one of these:
//
//   - a [*LineError] for an invalid record, after which next can be called again;
//   - a [*BrokenError] if the input ended too early;
//   - io.EOF at the end.
func (r *reader) next() (fileLine, error) {
	line, err := r.read()
	if err == nil {
		r.lines.fruitful()
	}
	return line, err
}

// A jsonReader reads JSON Lines.
type jsonReader struct {
	lines *lines
	keep  bool // keep the lines
	d     decoder
}

func (r *jsonReader) next() (fileLine, error) {
	l := r.lines
	for {
		text, err := l.read()
		if err != nil {
			return fileLine{}, err
		}
		if blank(text) {
			continue
		}
		line := string(trimEnd(text))
		r.d.reset(line)
		if at := l.replaced(line); at >= 0 {
			r.d.fail(at, fmt.Sprintf(notEncoded, l.encoding))
		}
		rec, fields := r.d.record()
		var kept []keptLine
		if r.keep {
			kept = []keptLine{{l.number, line}}
		}
		if r.d.err == nil {
			return fileLine{Number: l.number, Offset: l.offset, Record: rec, Fields: fields, size: len(text), lines: kept}, nil
		}
		if r.d.short && l.done != nil {
			return fileLine{}, l.broken(l.number, io.ErrUnexpectedEOF)
		}
		bad := r.d.err
		bad.Name, bad.lines = rec.Spelling, kept
		bad.Line, bad.Offset = l.number, l.offset+int64(bad.Column-1)
		return fileLine{}, bad
	}
}
