package bulk

import (
	"fmt"
	"io"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Line is one record of a file.
type Line struct {
	Number int              // of its first line, from 1
	Offset int64            // of its first byte, from 0, after decompression
	Record *store.Record    // Name is zero; Spelling is as in the file
	Fields registrar.Fields // fields of the record that are in the file
	size   int              // bytes
	table  *table           // the table that it comes from, if any
	places []place          // positions of its locations, if it comes from a table
}

// A Reader reads the records of a file one after another.
type Reader struct {
	lines *lines
	next  func() (Line, error)
}

// NewReader returns a Reader of r. The error is a [*BrokenError] if even the beginning cannot
// be read, a [*LineError] for an invalid header line of a table, or a [*SheetError]. The
// caller must close the Reader, which does not close r.
func NewReader(r io.Reader, f Format, c Compression, sheet Sheet) (*Reader, error) {
	if !f.Readable() {
		return nil, fmt.Errorf("bulk: reading the format %s is not supported", f)
	}
	if err := sheet.Check(); err != nil {
		return nil, err
	}
	if sheet.Spreadsheet && f == JSONLines {
		return nil, &SheetError{"spreadsheet", f.String(), "only csv and tsv have marked cells"}
	}
	l, err := newLines(r, c, sheet)
	if err != nil {
		return nil, err
	}
	reader := &Reader{lines: l}
	if f == JSONLines {
		reader.next = (&jsonReader{lines: l}).next
		return reader, nil
	}
	t, err := newTable(l, f, sheet)
	if err != nil {
		l.close()
		return nil, err
	}
	reader.next = t.next
	return reader, nil
}

// Close releases the resources of the Reader.
func (r *Reader) Close() { r.lines.close() }

// Next returns the next record. The error is a [*LineError] for an invalid one, after which
// Next can be called again; a [*BrokenError] if the input ended too early; and io.EOF at the
// end.
func (r *Reader) Next() (Line, error) {
	line, err := r.next()
	if err == nil {
		r.lines.fruitful()
	}
	return line, err
}

// A jsonReader reads JSON Lines.
type jsonReader struct {
	lines *lines
	d     decoder
}

func (r *jsonReader) next() (Line, error) {
	l := r.lines
	for {
		text, err := l.read()
		if err != nil {
			return Line{}, err
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
		if r.d.err == nil {
			return Line{Number: l.number, Offset: l.offset, Record: rec, Fields: fields, size: len(text)}, nil
		}
		if r.d.short && l.done != nil {
			return Line{}, l.broken(l.number, io.ErrUnexpectedEOF)
		}
		bad := r.d.err
		bad.Name = rec.Spelling
		bad.Line, bad.Offset = l.number, l.offset+int64(bad.Column-1)
		return Line{}, bad
	}
}
