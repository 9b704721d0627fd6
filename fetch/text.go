package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxTextLine is the maximum length in bytes of a line in a text protocol.
const maxTextLine = 64 << 10

// A lines is a reader of text. Unless crlf is true, it converts line endings to the line ending of
// this machine. If dots is true, the text ends at a line with a single dot. The reader then also
// removes the first dot of all other lines that begin with a dot (RFC 1436, section 3.1; RFC 3977,
// section 3.1.1).
type lines struct {
	in     *bufio.Reader
	dots   bool
	crlf   bool // keep line endings
	strict bool // the final dot must be present
	start  bool // a line begins next
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

func (l *lines) fill() {
	piece, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		err = nil
		if piece[len(piece)-1] == '\r' { // the next byte may belong to the line ending
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

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// isLine reports whether s can be sent as one line of a text protocol.
func isLine(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }
