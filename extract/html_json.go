package extract

import (
	"bytes"
	"strconv"
	"unicode/utf16"

	"github.com/nomen-project/nomen/extract/internal/source"
)

const maxKeys = 256

// A jsonScanner finds the strings in a block of JSON. It ignores syntax errors between strings,
// which are common in web pages.
type jsonScanner struct {
	in    *source.Mapped
	i     int
	keys  []string // the keys of the open arrays and objects
	deep  int      // how many more arrays and objects are open, beyond maxKeys
	least int      // the least depth since the previous string
	key   string
	value source.Mapped
}

// A jsonPlace is the position of a string in a block of JSON.
type jsonPlace struct {
	key   string // the string itself if isKey is true; otherwise the key whose value is the string or an array with the string
	isKey bool
	keys  []string // the keys of the enclosing arrays and objects, outermost first
	least int      // how many elements of keys are the same arrays and objects as for the previous string
}

// scanJSON calls yield for each string in a block of JSON.
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

func (s *jsonScanner) colon() bool {
	for s.i < len(s.in.Text) && isSpace(s.in.Text[s.i]) {
		s.i++
	}
	return s.i < len(s.in.Text) && s.in.Text[s.i] == ':'
}

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

// unicodeEscape returns the length and the character of the escape at the start of b. It reads the
// two escapes of a surrogate pair as one character.
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

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
