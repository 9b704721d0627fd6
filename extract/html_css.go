package extract

import (
	"bytes"
	"strconv"
)

// A cssScanner finds the references in a style sheet, or in declarations: url()
// and src() functions, strings of @import and of image-set() (CSS Syntax Level
// 3, Values Level 4). Names of namespaces are none.
type cssScanner struct {
	in    *mapped
	i     int
	yield func(ref *mapped, where string)
	value mapped
}

func scanCSS(in *mapped, yield func(ref *mapped, where string)) {
	s := cssScanner{in: in, yield: yield}
	for s.i < len(in.text) {
		s.token()
	}
}

func (s *cssScanner) rest() []byte { return s.in.text[s.i:] }

// token reads one token, or what is of no interest.
func (s *cssScanner) token() {
	rest := s.rest()
	switch c := rest[0]; {
	case c == '/' && len(rest) > 1 && rest[1] == '*':
		s.comment()
	case c == '"' || c == '\'':
		s.string()
	case c == '\\':
		s.i += min(2, len(rest))
	case c == '@':
		s.i++
		s.atRule(s.name())
	case cssName(c):
		s.function(s.name())
	default:
		s.i++
	}
}

func cssName(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '-' || c == '_' || c >= 0x80
}

func (s *cssScanner) name() []byte {
	start := s.i
	for s.i < len(s.in.text) && cssName(s.in.text[s.i]) {
		s.i++
	}
	return s.in.text[start:s.i]
}

func (s *cssScanner) comment() {
	n := bytes.Index(s.rest()[2:], []byte("*/"))
	if n < 0 {
		s.i = len(s.in.text)
		return
	}
	s.i += 2 + n + 2
}

func (s *cssScanner) space() {
	for s.i < len(s.in.text) {
		switch rest := s.rest(); {
		case isSpace(rest[0]):
			s.i++
		case bytes.HasPrefix(rest, []byte("/*")):
			s.comment()
		default:
			return
		}
	}
}

// atRule reads what follows the name of an at-rule.
func (s *cssScanner) atRule(name []byte) {
	switch {
	case equalFold(name, "import"):
		s.space()
		s.quoted("@import")
	case equalFold(name, "namespace"):
		if n := bytes.IndexByte(s.rest(), ';'); n >= 0 {
			s.i += n
		} else {
			s.i = len(s.in.text)
		}
	}
}

// function reads what follows a name, if that is a function with references.
func (s *cssScanner) function(name []byte) {
	if s.i == len(s.in.text) || s.in.text[s.i] != '(' {
		return
	}
	switch {
	case equalFold(name, "url"), equalFold(name, "src"):
		s.i++
		s.url(equalFold(name, "url"))
	case equalFold(name, "image-set"), equalFold(name, "-webkit-image-set"):
		s.i++
		s.imageSet()
	}
}

// url reads what is between the parentheses of url().
func (s *cssScanner) url(bare bool) {
	for s.i < len(s.in.text) && isSpace(s.in.text[s.i]) {
		s.i++
	}
	if s.quoted("url()") || !bare {
		return
	}
	s.value.reset()
	for s.i < len(s.in.text) {
		switch c := s.in.text[s.i]; {
		case c == ')':
			s.yield(&s.value, "url()")
			return
		case c == '\\':
			s.escape()
		default:
			s.in.pieces(&s.value, s.i, s.i+1)
			s.i++
		}
	}
	s.yield(&s.value, "url()") // the end of the style sheet closes it
}

// imageSet reads the strings of image-set(), which are references except in
// type().
func (s *cssScanner) imageSet() {
	for depth := 1; s.i < len(s.in.text); {
		switch c := s.in.text[s.i]; {
		case c == '"' || c == '\'':
			if depth == 1 {
				s.quoted("image-set()")
			} else {
				s.string()
			}
		case c == '(':
			depth++
			s.i++
		case c == ')':
			s.i++
			if depth--; depth == 0 {
				return
			}
		case c == ';' || c == '}':
			return
		case cssName(c):
			if name := s.name(); equalFold(name, "url") || equalFold(name, "src") {
				if s.i < len(s.in.text) && s.in.text[s.i] == '(' {
					s.function(name)
					s.i += min(1, len(s.rest())) // the closing parenthesis
				}
			}
		default:
			s.i++
		}
	}
}

// quoted reads a string that is a reference, and reports whether there is one.
func (s *cssScanner) quoted(where string) bool {
	if s.i == len(s.in.text) || s.in.text[s.i] != '"' && s.in.text[s.i] != '\'' {
		return false
	}
	if s.string() {
		s.yield(&s.value, where)
	}
	return true
}

// string reads a string into value. It is false for one that a line end breaks.
func (s *cssScanner) string() bool {
	s.value.reset()
	quote := s.in.text[s.i]
	s.i++
	for s.i < len(s.in.text) {
		rest := s.rest()
		n := bytes.IndexAny(rest, "\\\n\"'")
		if n < 0 {
			n = len(rest)
		}
		s.in.pieces(&s.value, s.i, s.i+n)
		if s.i += n; s.i == len(s.in.text) {
			break
		}
		switch c := s.in.text[s.i]; c {
		case quote:
			s.i++
			return true
		case '\n':
			return false
		case '\\':
			s.escape()
		default:
			s.in.pieces(&s.value, s.i, s.i+1)
			s.i++
		}
	}
	return true
}

// escape reads an escape into value: of a character by its number or by itself,
// or of a line end, which is nothing.
func (s *cssScanner) escape() {
	rest := s.rest()
	n := 1
	for n < len(rest) && n < 7 && (isDigit(rest[n]) || 'a' <= lower(rest[n]) && lower(rest[n]) <= 'f') {
		n++
	}
	start := s.i
	switch {
	case n > 1:
		number, _ := strconv.ParseUint(string(rest[1:n]), 16, 32) // six digits at most
		if n < len(rest) && isSpace(rest[n]) {
			n++
		}
		s.i += n
		from, to := s.in.span(start, s.i)
		s.value.add(unit([]byte(string(rune(number))), from, to))
	case len(rest) == 1 || rest[1] == '\n':
		s.i += min(2, len(rest))
	default:
		s.i += 2
		from, to := s.in.span(start, s.i)
		s.value.add(unit(rest[1:2], from, to))
	}
}
