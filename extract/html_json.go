package extract

import (
	"bytes"
	"strconv"
	"unicode/utf16"

	"github.com/nomen-project/nomen/extract/internal/source"
)

// maxKeys is the depth in a block of JSON to which keys are recorded.
const maxKeys = 256

// A jsonScanner finds the strings in a block of JSON. It tolerates invalid text
// between them, which is common in web pages.
type jsonScanner struct {
	in    *source.Mapped
	i     int
	keys  []string // keys of the open arrays and objects
	deep  int      // number of open arrays and objects beyond maxKeys
	least int      // the smallest depth since the last string
	key   string
	value source.Mapped
}

// A jsonPlace is the position of a string in a block of JSON.
type jsonPlace struct {
	key   string   // if isKey is set, the string itself; otherwise the key whose value is the string, or is an array that contains the string
	isKey bool     // the string is a key
	keys  []string // keys of the enclosing arrays and objects, outermost first
	least int      // how many of keys have stayed open since the previous string
}

// scanJSON yields the strings of a block of JSON with their positions.
func scanJSON(in *source.Mapped, yield func(s *source.Mapped, at jsonPlace)) {
	s := jsonScanner{in: in}
	for s.i < len(in.Text) {
		n := bytes.IndexAny(in.Text[s.i:], `"{}[]`)
		if n < 0 {
			return
		}
		s.i += n
		switch in.Text[s.i] {
		case '"':
			s.i++
			s.string()
			isKey := s.colon()
			if isKey {
				s.key = string(s.value.Text[:min(len(s.value.Text), 64)])
			}
			yield(&s.value, jsonPlace{s.key, isKey, s.keys, s.least})
			s.least = len(s.keys)
		case '{', '[':
			s.open()
			s.i++
		default:
			s.close()
			s.i++
		}
	}
}

func (s *jsonScanner) open() {
	if len(s.keys) == maxKeys {
		s.deep++
		return
	}
	s.keys = append(s.keys, s.key)
}

func (s *jsonScanner) close() {
	switch n := len(s.keys); {
	case s.deep > 0:
		s.deep--
	case n > 0:
		s.key, s.keys = s.keys[n-1], s.keys[:n-1]
		s.least = min(s.least, n-1)
	}
}

// colon reports whether a colon follows.
func (s *jsonScanner) colon() bool {
	for s.i < len(s.in.Text) && isSpace(s.in.Text[s.i]) {
		s.i++
	}
	return s.i < len(s.in.Text) && s.in.Text[s.i] == ':'
}

// string reads a string (RFC 8259, 7) into the field value. Its opening quotation mark has been
// read.
func (s *jsonScanner) string() {
	s.value.Reset()
	for s.i < len(s.in.Text) {
		rest := s.in.Text[s.i:]
		n := bytes.IndexAny(rest, `"\`)
		if n < 0 {
			n = len(rest)
		}
		s.in.Pieces(&s.value, s.i, s.i+n)
		s.i += n
		if n == len(rest) {
			return
		}
		if rest[n] == '"' {
			s.i++
			return
		}
		s.escape()
	}
}

// escape reads an escape and appends its character to the field value.
func (s *jsonScanner) escape() {
	rest := s.in.Text[s.i:]
	n, text := 2, ""
	switch {
	case len(rest) < 2:
		n = len(rest)
	case rest[1] == 'u':
		n, text = unicodeEscape(rest)
	case rest[1] == 'n', rest[1] == 'r':
		text = "\n"
	case rest[1] == 't':
		text = "\t"
	case rest[1] == 'b', rest[1] == 'f':
		text = " "
	default:
		text = string(rest[1:2])
	}
	start, end := s.in.Span(s.i, s.i+n)
	s.value.Add(source.Unit([]byte(text), start, end))
	s.i += n
}

// unicodeEscape returns the length of the escape at the beginning of b, and its character. Two
// escapes that form a surrogate pair are one character.
func unicodeEscape(b []byte) (int, string) {
	first, ok := hex4(b)
	if !ok {
		return 2, "u"
	}
	if utf16.IsSurrogate(first) {
		if second, ok := hex4(b[6:]); ok {
			if r := utf16.DecodeRune(first, second); r != '\uFFFD' {
				return 12, string(r)
			}
		}
	}
	return 6, string(first)
}

// hex4 reads \uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
