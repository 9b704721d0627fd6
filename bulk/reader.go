package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Line is one record of a file.
type Line struct {
	Number int              // from 1
	Record *store.Record    // Name is zero: Spelling is what the file has
	Fields registrar.Fields // that the file has for it
	size   int              // bytes
}

// A Reader reads the records of a file, one after the other.
type Reader struct {
	in     *bufio.Reader
	close  func()
	number int    // of the last line read
	long   []byte // a line that is longer than the buffer
	done   error  // why there is no more
}

// NewReader returns a Reader of r. The error is a [*BrokenError] when not even
// the beginning can be read. The Reader has to be closed; r stays open.
func NewReader(r io.Reader, f Format, c Compression) (*Reader, error) {
	if f != JSONLines {
		return nil, fmt.Errorf("bulk: unknown format %d", f)
	}
	plain, closing, err := decompress(bufio.NewReaderSize(r, bufferSize), c)
	if err != nil {
		return nil, &BrokenError{Line: 1, Err: err}
	}
	reader := &Reader{in: bufio.NewReaderSize(plain, bufferSize), close: closing}
	if err := reader.mark(); err != nil {
		closing()
		return nil, err
	}
	return reader, nil
}

// decompress returns what r holds.
func decompress(r *bufio.Reader, c Compression) (io.Reader, func(), error) {
	if c == Auto {
		c = guess(r)
	}
	switch c {
	case Gzip:
		z, err := gzip.NewReader(r)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return z, func() {}, err
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return r, func() {}, nil
}

// guess tells the compression from the first bytes.
func guess(r *bufio.Reader) Compression {
	head, _ := r.Peek(4) // what is missing is missed when it is read
	switch {
	case bytes.HasPrefix(head, []byte{0x1F, 0x8B}): // RFC 1952, 2.3.1
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xB5, 0x2F, 0xFD}): // RFC 8878, 3.1.1
		return Zstd
	}
	return Plain
}

// mark skips the byte order mark of UTF-8 and refuses that of UTF-16.
func (r *Reader) mark() error {
	head, _ := r.in.Peek(3) // what is missing is missed when it is read
	switch {
	case bytes.HasPrefix(head, []byte("\uFEFF")):
		_, err := r.in.Discard(len("\uFEFF"))
		return err
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return &BrokenError{Line: 1, Err: errors.New("it is UTF-16; save it as UTF-8")}
	}
	return nil
}

// Close releases what the Reader holds.
func (r *Reader) Close() { r.close() }

// Next returns the next record. The error is a [*LineError] for a line that is
// none, after which Next goes on; a [*BrokenError] when the input broke off; and
// io.EOF at the end.
func (r *Reader) Next() (Line, error) {
	for {
		text, err := r.line()
		if err != nil {
			return Line{}, err
		}
		if blank(text) {
			continue
		}
		d := newDecoder(string(text))
		rec, fields := d.record()
		if d.err == nil {
			return Line{r.number, rec, fields, len(text)}, nil
		}
		if d.short && r.done != nil {
			return Line{}, r.broken(io.ErrUnexpectedEOF)
		}
		d.err.Line = r.number
		return Line{}, d.err
	}
}

// blank reports whether a line has nothing but white space.
func blank(line []byte) bool { return len(bytes.TrimLeft(line, " \t\r")) == 0 }

// broken ends the reading, in the line that was read last.
func (r *Reader) broken(err error) error {
	r.done = &BrokenError{Line: r.number, Err: err}
	return r.done
}

// line returns the next line without its end; it is good until the next call.
// When it was the last, done is set.
func (r *Reader) line() ([]byte, error) {
	if r.done != nil {
		return nil, r.done
	}
	r.number++
	part, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.rest(part)
	}
	switch {
	case err == nil:
		return bytes.TrimSuffix(part[:len(part)-1], []byte("\r")), nil
	case errors.Is(err, io.EOF):
		r.done = io.EOF
		return part, nil
	}
	if _, ok := errors.AsType[*LineError](err); ok {
		return nil, err
	}
	return nil, r.broken(err)
}

// rest reads on after the first part of a line that is longer than the buffer.
// A line that is too long is skipped.
func (r *Reader) rest(part []byte) ([]byte, error) {
	const most = MaxLine + len("\r\n")
	r.long = append(r.long[:0], part...)
	for size := len(part); ; {
		part, err := r.in.ReadSlice('\n')
		if size += len(part); size <= most {
			r.long = append(r.long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF), size <= most && len(bytes.TrimRight(r.long, "\r\n")) <= MaxLine:
			return r.long, err
		}
		r.done = err
		return nil, &LineError{Line: r.number, Column: MaxLine + 1, Message: fmt.Sprintf("the line is longer than %d bytes", MaxLine)}
	}
}
