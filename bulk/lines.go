package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// lines is a line reader for a file that may be compressed.
type lines struct {
	in    *bufio.Reader
	yield yield
	close func()

	number int // number of the last line read, from 1
	offset int64
	next   int64 // offset after the last line
	long   []byte
	done   error // why reading ended

	encoding string // encoding of the file; "" if it is UTF-8

	// The slice again[from:] contains lines that were pushed back, which read returns first. If
	// late is not nil, it is the pushed-back error for a line that was too long, and read returns
	// it next.
	again []byte
	from  int
	late  *LineError
}

// pending reports whether there are lines that were pushed back.
func (l *lines) pending() bool {
	return l.from < len(l.again) || l.late != nil
}

// newLines returns a reader of the lines of r. If the beginning of r cannot be read, the error is a
// [*BrokenError].
func newLines(r io.Reader, c Compression, sheet Sheet) (*lines, error) {
	e, err := sheet.encoding()
	if err != nil {
		return nil, err
	}
	file := &counter{r: r}
	plain, closing, err := decompress(bufio.NewReaderSize(file, bufferSize), c)
	if err != nil {
		return nil, &BrokenError{Line: 1, Err: err}
	}
	l := &lines{close: closing, yield: yield{r: plain, file: file}}
	l.in = bufio.NewReaderSize(&l.yield, bufferSize)
	if e != nil {
		l.decode(e, sheet.Encoding)
	}
	if err := l.mark(); err != nil {
		closing()
		return nil, err
	}
	return l, nil
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A yield protects against decompression bombs. A small compressed file could expand to any number
// of blank lines. A yield therefore limits the decompressed data since the last record to a
// multiple of its compressed size.
type yield struct {
	r        io.Reader
	file     *counter
	held     int64 // decompressed bytes read
	heldThen int64 // value of held when the last record was read
	fileThen int64 // bytes read from the file when the last record was read
}

func (y *yield) Read(p []byte) (int, error) {
	if y.held-y.heldThen > freeYield+maxYield*(y.file.n-y.fileThen) {
		return 0, errBarren
	}
	n, err := y.r.Read(p)
	y.held += int64(n)
	return n, err
}

var errBarren = fmt.Errorf("no record in a text that is longer than %d times its compressed form plus %d MiB", maxYield, freeYield>>20)

// fruitful is called after each record, and restarts the limit of the [yield].
func (l *lines) fruitful() { l.yield.heldThen, l.yield.fileThen = l.yield.held, l.yield.file.n }

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

func guess(r *bufio.Reader) Compression {
	head, _ := r.Peek(4) // the next read returns the error again
	switch {
	case bytes.HasPrefix(head, []byte{0x1F, 0x8B}): // RFC 1952, 2.3.1
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xB5, 0x2F, 0xFD}): // RFC 8878, 3.1.1
		return Zstd
	}
	return Plain
}

func (l *lines) decode(e encoding.Encoding, name string) {
	l.in, l.encoding = bufio.NewReaderSize(e.NewDecoder().Reader(l.in), bufferSize), name
}

// mark handles the byte order mark. It skips a UTF-8 mark. A UTF-16 mark sets the encoding to
// UTF-16, unless the user has specified an encoding.
func (l *lines) mark() error {
	head, _ := l.in.Peek(4) // the next read returns the error again
	switch {
	case bytes.HasPrefix(head, []byte("\uFEFF")):
		n, err := l.in.Discard(len("\uFEFF"))
		l.next = int64(n)
		return err
	case slices.ContainsFunc(workbooks(), func(begin string) bool { return bytes.HasPrefix(head, []byte(begin)) }):
		return &BrokenError{Line: 1, Err: errors.New("it is a workbook or a ZIP archive, such as .xlsx, .ods or .xls; set the format of .xlsx to xlsx, and otherwise save the sheet as CSV")}
	case l.encoding != "": // the user has named the encoding
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(head, []byte{0, 0, 0xFE, 0xFF}):
		return &BrokenError{Line: 1, Err: errors.New("it is UTF-32; save it as UTF-8")}
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		l.decode(unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM), "utf-16")
	}
	return nil
}

// workbooks returns the signatures of workbook files. Workbooks are ZIP archives, or compound files
// if they were saved by old spreadsheet programs.
func workbooks() []string { return []string{"PK\x03\x04", "\xD0\xCF\x11\xE0"} }

// These messages report encoding errors in a line.
const (
	notUTF8    = "is not UTF-8; save the file as UTF-8, or specify its encoding, such as windows-1252"
	notEncoded = "is not %s: it has an invalid character"
)

// replaced returns the offset of the first replacement character that a decoder has inserted in a
// line, or -1. It always returns -1 for UTF-8, which is read without a decoder.
func (l *lines) replaced(line string) int {
	if l.encoding == "" {
		return -1
	}
	return strings.IndexRune(line, utf8.RuneError)
}

func (l *lines) broken(line int, err error) error {
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zstd.ErrCRCMismatch) {
		err = fmt.Errorf("%w: some records may have been read wrong: import a good copy, and check the history of the records that it changes", err)
	}
	l.done = &BrokenError{Line: line, Err: err}
	return l.done
}

// read returns the next line with its line break. The line is valid until the next call. After the
// last line, done is set. The error is a [*LineError] for a line that is too long, a
// [*BrokenError], or io.EOF.
func (l *lines) read() ([]byte, error) {
	if l.from < len(l.again) {
		rest := l.again[l.from:]
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		l.from += end
		l.step(int64(end))
		return rest[:end], nil
	}
	if bad := l.late; bad != nil {
		l.late = nil
		l.step(bad.size)
		return nil, bad
	}
	if l.done != nil {
		return nil, l.done
	}
	part, err := l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.rest(part)
	}
	if len(part) > 0 || !errors.Is(err, io.EOF) {
		l.step(int64(len(part)))
	}
	return l.ended(part, err)
}

func (l *lines) step(size int64) {
	l.number++
	l.offset = l.next
	l.next += size
}

// ended handles the error that was returned with a line. If the error is io.EOF, the line is the
// last one.
func (l *lines) ended(line []byte, err error) ([]byte, error) {
	switch {
	case errors.Is(err, io.EOF):
		if l.done = io.EOF; len(line) == 0 {
			return nil, io.EOF
		}
	case err != nil:
		return nil, l.broken(l.number, err)
	}
	return line, nil
}

// rest reads the rest of a line that is longer than the buffer. If the line exceeds the maximum
// length, rest skips it and returns a [*LineError].
func (l *lines) rest(part []byte) ([]byte, error) {
	const most = maxLine + len("\r\n")
	l.long = append(l.long[:0], part...)
	size := len(part)
	for {
		part, err := l.in.ReadSlice('\n')
		if size += len(part); size <= most {
			l.long = append(l.long, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.step(int64(size))
		line, err := l.ended(l.long, err)
		if err == nil && (size > most || len(bytes.TrimRight(l.long, "\r\n")) > maxLine) {
			return nil, &LineError{size: int64(size), Line: l.number, Column: maxLine + 1, Offset: l.offset + maxLine, Message: fmt.Sprintf("the line is longer than %d bytes", maxLine)}
		}
		return line, err
	}
}

// unread pushes back the most recently read lines. The parameter text must be the text of these
// lines. If they had been pushed back before, unread does not copy them again.
func (l *lines) unread(text string) {
	if n := len(text); n <= l.from && string(l.again[l.from-n:l.from]) == text {
		l.from -= n
	} else {
		l.again, l.from = append([]byte(text), l.again[l.from:]...), 0
	}
	l.next -= int64(len(text))
	l.number -= strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		l.number--
	}
}

// unreadLong pushes back the error for the last line, which was too long.
func (l *lines) unreadLong(bad *LineError) {
	l.late = bad
	l.next -= bad.size
	l.number--
}

func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
	}
	return line
}

func blank(line []byte) bool { return len(bytes.TrimLeft(line, " \t\r\n")) == 0 }
