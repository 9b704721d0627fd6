package format

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A scanner reads the syntax elements that HTTP fields share (RFC 9110, section 5.6).
type scanner struct {
	s string
	i int
}

func (s *scanner) atEnd() bool { return s.i >= len(s.s) }

func (s *scanner) peek() byte {
	if s.atEnd() {
		return 0
	}
	return s.s[s.i]
}

func (s *scanner) skip(set string) {
	for !s.atEnd() && strings.IndexByte(set, s.s[s.i]) >= 0 {
		s.i++
	}
}

func (s *scanner) accept(c byte) bool {
	if s.atEnd() || s.s[s.i] != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) acceptSpaced(c byte) bool {
	start := s.i
	s.skip(space)
	if !s.accept(c) {
		s.i = start
		return false
	}
	s.skip(space)
	return true
}

// space is the white space between elements. Line breaks occur only in application/linkset (RFC
// 9264, section 4.1).
const space = " \t\r\n"

// atElementEnd reports whether only OWS is left before a comma or the end.
func (s *scanner) atElementEnd() bool {
	s.skip(space)
	return s.atEnd() || s.peek() == ','
}

func (s *scanner) atParameterEnd() bool {
	return s.atEnd() || s.peek() == ',' || s.peek() == ';'
}

func (s *scanner) token() string {
	start := s.i
	for !s.atEnd() && ascii.IsToken(s.s[s.i]) {
		s.i++
	}
	return s.s[start:s.i]
}

func (s *scanner) quoted() (string, bool) {
	var b strings.Builder
	for s.i++; !s.atEnd(); s.i++ {
		switch c := s.s[s.i]; {
		case c == '"':
			s.i++
			return b.String(), true
		case c == '\\' && s.i+1 < len(s.s):
			s.i++
			b.WriteByte(s.s[s.i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
