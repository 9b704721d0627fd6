package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxTextLine is the maximum length of a line of a text protocol, in bytes.
const maxTextLine = 64 << 10

// A lines reader reads lines of text. It converts line endings to those of this machine, unless
// crlf is set. If dots is set, the text ends at a line with a single dot (RFC 1436, 3.1; RFC 3977,
// 3.1.1). An extra dot at the start of any other line is removed.
type lines struct {
	in     *bufio.Reader
	dots   bool
	crlf   bool // leave line endings unchanged
	strict bool // the final dot is required
	start  bool // at the start of a line
	rest   []byte
	err    error
}

func newLines(in io.Reader, dots bool) *lines {
	return &lines{in: bufio.NewReaderSize(in, 32<<10), dots: dots, start: true}
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		l.fill()
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// fill reads the next piece of text, which is at most a line.
func (l *lines) fill() {
	piece, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		err = nil
		if piece[len(piece)-1] == '\r' { // the next byte may complete a line ending
			_ = l.in.UnreadByte()
			piece = piece[:len(piece)-1]
		}
	}
	if l.start && l.dots && len(piece) > 0 && piece[0] == '.' {
		if len(bytes.TrimRight(piece, "\r\n")) == 1 {
			l.err = io.EOF
			return
		}
		piece = piece[1:]
	}
	l.err = err
	if err == io.EOF && l.strict {
		l.err = io.ErrUnexpectedEOF
	}
	l.start = bytes.HasSuffix(piece, []byte("\n"))
	if !l.crlf && bytes.HasSuffix(piece, []byte("\r\n")) {
		piece = append(piece[:len(piece)-2], '\n')
	}
	l.rest = piece
}

// readLine returns the next line without its ending.
func readLine(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		piece, err := in.ReadSlice('\n')
		b.Write(piece)
		switch {
		case b.Len() > maxTextLine:
			return "", fmt.Errorf("line longer than %d bytes", maxTextLine)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && b.Len() > 0: // the last line has no ending
		case err != nil:
			return "", err
		}
		return strings.TrimRight(b.String(), "\r\n"), nil
	}
}

// noEOF returns err, with io.EOF replaced by io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// isLine reports whether s can be sent as one line.
func isLine(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }
