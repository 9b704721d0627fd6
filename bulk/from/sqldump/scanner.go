package sqldump

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

type kind uint8

const (
	mark       kind = iota // ( ) , ; . :: and any other character
	word                   // a keyword, a name without quotes, or a number
	quotedName             // "name" or `name`
	text                   // 'text', 0xFF, X'FF'
	command                // a backslash: a command of psql, up to the end of the line
)

type token struct {
	kind         kind
	text         string
	line, column int
}

func (t token) is(s string) bool { return t.kind == mark && t.text == s }

func (t token) isWord(all ...string) bool { return t.kind == word && ascii.IsOneOf(t.text, all...) }

// A scanner reads SQL tokens. After an error, it returns empty tokens.
type scanner struct {
	in           *bufio.Reader
	line, column int
	backslash    bool // a backslash in a text begins an escape, as in MySQL
	err          error
	buffer       []byte
}

func (s *scanner) fail(t token, reason string) {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return
	}
	if errors.Is(s.err, io.EOF) {
		reason = "the dump ends within a statement: it was not copied completely"
		t.line, t.column = s.line, s.column
	}
	s.err = &Error{t.line, t.column, reason}
}

func (s *scanner) read() byte {
	c, err := s.in.ReadByte()
	if err != nil {
		s.err = err
		return 0
	}
	s.column++
	if c == '\n' {
		s.line, s.column = s.line+1, 0
	}
	return c
}

func (s *scanner) peek() byte {
	b, err := s.in.Peek(1)
	if err != nil {
		return 0
	}
	return b[0]
}

func (s *scanner) skipLine() {
	for s.err == nil && s.read() != '\n' {
	}
}

func (s *scanner) readLine() string {
	s.buffer = s.buffer[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		s.buffer = append(s.buffer, part...)
		switch {
		case len(s.buffer) > maxRow:
			s.err = &Error{s.line, 1, "the row is too long"}
			return ""
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			s.err = err
			return ""
		}
		s.line, s.column = s.line+1, 0
		return string(bytes.TrimRight(s.buffer, "\r\n"))
	}
}

func (s *scanner) next() token {
	for s.err == nil {
		c := s.read()
		t := token{line: s.line, column: s.column}
		switch {
		case s.err != nil:
			return t
		case c == ' ', c == '\t', c == '\n', c == '\r':
		case c == '-' && s.peek() == '-', c == '#':
			s.comment()
		case c == '/' && s.peek() == '*':
			s.block(t)
		default:
			s.token(&t, c)
			return t
		}
	}
	return token{line: s.line, column: s.column}
}

// comment skips a comment up to the end of the line. A comment at the beginning of a dump names the
// program that wrote the dump. If the program is for MySQL, backslashes are escapes.
func (s *scanner) comment() {
	s.buffer = s.buffer[:0]
	for s.err == nil {
		c := s.read()
		if c == '\n' {
			break
		}
		if len(s.buffer) < 80 {
			s.buffer = append(s.buffer, c)
		}
	}
	for _, program := range []string{"MySQL dump", "MariaDB dump", "phpMyAdmin"} {
		s.backslash = s.backslash || bytes.Contains(s.buffer, []byte(program))
	}
}

// block skips the rest of a /* comment */.
func (s *scanner) block(t token) {
	s.read()
	for last := byte(0); s.err == nil; {
		c := s.read()
		if last == '*' && c == '/' {
			return
		}
		last = c
	}
	s.fail(t, "the comment has no end")
}

func (s *scanner) token(t *token, c byte) {
	switch {
	case c == '\\':
		t.kind = command
	case c == '\'':
		t.kind, t.text = text, s.quoted(*t, c, s.backslash)
	case c == '`':
		s.backslash = true
		t.kind, t.text = quotedName, s.quoted(*t, c, false)
	case c == '"':
		t.kind, t.text = quotedName, s.quoted(*t, c, false)
	case c == '$' && !ascii.IsDigit(s.peek()):
		s.dollar(t)
	case isWordByte(c):
		s.word(t, c)
	case c == ':' && s.peek() == ':':
		s.read()
		t.text = "::"
	default:
		t.text = string([]byte{c})
	}
}

func isWordByte(c byte) bool { return ascii.IsAlnum(c) || c == '_' || c >= 0x80 }

// word reads a word, or a string literal that begins with a letter, such as E'text' or X'FF'.
func (s *scanner) word(t *token, c byte) {
	s.buffer = append(s.buffer[:0], c)
	for isWordByte(s.peek()) || s.peek() == '$' || ascii.IsDigit(c) && s.peek() == '.' {
		if s.buffer = append(s.buffer, s.read()); len(s.buffer) > maxCell {
			s.fail(*t, "the word is too long")
			return
		}
	}
	t.kind, t.text = word, string(s.buffer)
	switch {
	case len(t.text) > 2 && strings.HasPrefix(t.text, "0x"):
		s.hex(t, t.text[2:])
	case len(t.text) > 1 || s.peek() != '\'':
	case ascii.IsOneOf(t.text, "X"):
		quote := s.read()
		s.hex(t, s.quoted(*t, quote, false))
	case ascii.IsOneOf(t.text, "E", "N", "B"):
		escapes := s.backslash || ascii.IsOneOf(t.text, "E")
		quote := s.read()
		t.kind, t.text = text, s.quoted(*t, quote, escapes)
	}
}

func (s *scanner) hex(t *token, digits string) {
	b, err := hex.DecodeString(digits)
	if err != nil {
		s.fail(*t, "invalid hexadecimal digits")
	}
	t.kind, t.text = text, string(b)
}

// quoted reads a string literal up to the closing quote. Two adjacent quotes stand for one.
func (s *scanner) quoted(t token, quote byte, escapes bool) string {
	s.buffer = s.buffer[:0]
	for s.err == nil && len(s.buffer) <= maxCell {
		c := s.read()
		switch {
		case s.err != nil:
		case c == quote && s.peek() != quote:
			return string(s.buffer)
		case c == quote:
			s.buffer = append(s.buffer, s.read())
		case c == '\\' && escapes:
			s.buffer = append(s.buffer, unescape(s.read()))
		default:
			s.buffer = append(s.buffer, c)
		}
	}
	s.fail(t, "the text is too long")
	return ""
}

// unescape returns the byte for a backslash escape. The parameter c is the byte after the
// backslash.
func unescape(c byte) byte {
	if i := strings.IndexByte("0bnrtZ", c); i >= 0 {
		return "\x00\b\n\r\t\x1a"[i]
	}
	return c
}

// dollar skips a dollar-quoted string of PostgreSQL, such as $$ ... $$ or $name$ ... $name$.
func (s *scanner) dollar(t *token) {
	tag := []byte{'$'}
	for isWordByte(s.peek()) && len(tag) < 64 {
		tag = append(tag, s.read())
	}
	if s.peek() != '$' {
		t.text = "$"
		return
	}
	tag = append(tag, s.read())
	s.buffer = s.buffer[:0]
	for s.err == nil {
		s.buffer = append(s.buffer, s.read())
		if bytes.HasSuffix(s.buffer, tag) {
			t.kind = text
			return
		}
		if len(s.buffer) > 4096 {
			s.buffer = append(s.buffer[:0], s.buffer[len(s.buffer)-64:]...)
		}
	}
	s.fail(*t, "the text has no end")
}
