package mime

import (
	"bytes"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

func (m *messageReader) skipBody() {
	for !m.stopped {
		line, ok := m.peekLine()
		if !ok || m.isEnd(line) {
			return
		}
		m.skip(line)
		m.tape.Release(m.tape.Pos())
	}
}

func (m *messageReader) isEnd(line []byte) bool {
	if m.isFrom(line) {
		return true
	}
	level, _ := m.boundary(line)
	return level >= 0
}

// isFrom reports whether a line begins a message in a mailbox. Such a line follows an empty line
// and contains a time of day (RFC 4155, appendix A).
func (m *messageReader) isFrom(line []byte) bool {
	if !m.mbox || !m.blank || m.midLine || !bytes.HasPrefix(line, []byte("From ")) {
		return false
	}
	for i := 2; i+2 < len(line); i++ {
		if line[i] == ':' && ascii.IsDigit(line[i-1]) && ascii.IsDigit(line[i+1]) && ascii.IsDigit(line[i+2]) {
			return true
		}
	}
	return false
}

// boundary returns the level of the multipart that has this line for its boundary, or -1. It also
// reports whether the line is the closing boundary.
func (m *messageReader) boundary(line []byte) (level int, last bool) {
	if m.midLine || len(line) < 3 || line[0] != '-' || line[1] != '-' {
		return -1, false
	}
	line = bytes.TrimRight(line[2:], " \t\r\n")
	for level = len(m.stack) - 1; level >= 0; level-- {
		b := m.stack[level].boundary
		if b == "" || len(line) < len(b) || string(line[:len(b)]) != b {
			continue
		}
		switch string(line[len(b):]) {
		case "":
			return level, false
		case "--":
			return level, true
		}
	}
	return -1, false
}

// peekLine returns the next line with its line break. If the line is longer than maxLine octets, it
// returns only the first maxLine octets. It returns false at the end of the file.
func (m *messageReader) peekLine() ([]byte, bool) {
	from := 0
	for {
		b := m.tape.Rest()
		n := bytes.IndexByte(b[from:], '\n')
		switch {
		case n >= 0 && from+n < maxLine:
			return b[:from+n+1], true
		case len(b) >= maxLine:
			return uncut(b[:maxLine]), true
		}
		if from = len(b); !m.tape.Fill() {
			return m.tape.Rest(), from > 0
		}
	}
}

// uncut returns b without a quoted-printable escape at its end, because this escape may be
// incomplete.
func uncut(b []byte) []byte {
	for k := 1; k <= 2; k++ {
		if b[len(b)-k] == '=' {
			return b[:len(b)-k]
		}
	}
	return b
}

func (m *messageReader) skip(line []byte) {
	m.tape.Skip(len(line))
	m.midLine = line[len(line)-1] != '\n'
	m.blank = !m.midLine && len(bytes.TrimRight(line, "\r\n")) == 0
}

func (m *messageReader) skipLine() {
	for {
		line, ok := m.peekLine()
		if !ok {
			return
		}
		if m.skip(line); !m.midLine {
			return
		}
	}
}

// ReadHeader reads the header at the start of a message or mailbox, and returns its fields and the
// offset after them. If the header is too long, ReadHeader returns an error message.
func ReadHeader(t *source.Tape) (fs Fields, end int64, problem string) {
	m := &messageReader{tape: t, blank: true, report: func(_ int64, what string) bool { return true }}
	if isMailbox(t) {
		m.skipLine()
	}
	if fs, end = m.header(); m.endless {
		problem = "header too long"
	}
	return fs, end, problem
}

func (m *messageReader) header() (fs Fields, end int64) {
	size := 0
	for !m.stopped {
		line, ok := m.peekLine()
		at := m.tape.Pos()
		if !ok || m.isEnd(line) {
			return fs, at
		}
		whole := !m.midLine
		content := bytes.TrimRight(line, "\r\n")
		if whole && len(content) == 0 {
			m.skip(line)
			m.blank = true
			return fs, at
		}
		if size += len(line); size > maxHeader {
			m.fail(at, "header too long: the rest of it is skipped")
			m.endless = true
			return fs, at
		}
		name, ok := fieldName(line)
		switch {
		case (!whole || line[0] == ' ' || line[0] == '\t') && len(fs) > 0:
			fs[len(fs)-1].Value.Add(source.Literal(line, at))
		case ok:
			n := len(name) + bytes.IndexByte(line[len(name):], ':') + 1
			fs = append(fs, Field{Name: name, At: at})
			fs[len(fs)-1].Value.Add(source.Literal(line[n:], at+int64(n)))
		case whole:
			m.fail(at, "not a header field: the body is assumed to begin here")
			return fs, at
		}
		m.skip(line)
	}
	return fs, m.tape.Pos()
}

func (m *messageReader) skipHeader() {
	defer func() { m.tape.Release(m.tape.Pos()) }()
	for m.endless && !m.stopped {
		line, ok := m.peekLine()
		if !ok || m.isEnd(line) {
			m.endless = false
			return
		}
		whole := !m.midLine
		m.skip(line)
		m.tape.Release(m.tape.Pos())
		if whole && m.blank {
			m.endless = false
			return
		}
	}
}

func fieldName(line []byte) (string, bool) {
	n := 0
	for n < len(line) && line[n] > ' ' && line[n] < 0x7F && line[n] != ':' {
		n++
	}
	name := string(line[:n])
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return name, n > 0 && name != "" && n < len(line) && line[n] == ':'
}
