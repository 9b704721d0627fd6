package accept

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A scanner reads the tokens, quoted strings and parameters of a field (RFC 9110, 5.6).
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

// skip skips OWS, and also commas if commas is true.
func (s *scanner) skip(commas bool) {
	for !s.atEnd() {
		if c := s.s[s.i]; c != ' ' && c != '\t' && (c != ',' || !commas) {
			return
		}
		s.i++
	}
}

// element parses a media range or a token with its parameters. The weight is the parameter q, which
// can be at any position. If the element is malformed, the method returns false; the position is
// then outside any quoted string.
func (s *scanner) element(media bool) (element, bool) {
	e := element{begin: uint16(s.i), q: Most}
	kind := s.token()
	if kind == "" {
		return e, false
	}
	if media {
		if s.peek() != '/' {
			return e, false
		}
		s.i++
		if sub := s.token(); sub == "" || kind == "*" && sub != "*" {
			return e, false
		}
	}
	e.end = uint16(s.i)
	weighted := false
	for {
		s.skip(false)
		if s.atEnd() || s.peek() == ',' {
			return e, true
		}
		if s.peek() != ';' {
			return e, false
		}
		s.i++
		s.skip(false)
		if c := s.peek(); s.atEnd() || c == ',' || c == ';' {
			continue // an empty parameter
		}
		if !s.parameter(&e, &weighted) {
			return e, false
		}
	}
}

// parameter parses token "=" ( token / quoted-string ).
func (s *scanner) parameter(e *element, weighted *bool) bool {
	name := s.token()
	if name == "" || s.peek() != '=' {
		return false
	}
	s.i++
	begin := s.i
	switch {
	case len(name) == 1 && name[0]|0x20 == 'q':
		q, ok := parseWeight(s.token())
		if !ok || *weighted {
			return false
		}
		e.q, *weighted = int16(q), true
		return true
	case s.peek() == '"':
		if !s.quoted() {
			return false
		}
	case s.token() == "":
		return false
	}
	if strings.EqualFold(name, "charset") && e.charset == e.until {
		e.charset, e.until = uint16(begin), uint16(s.i)
	} else {
		e.narrow = true
	}
	return true
}

func (s *scanner) skipElement() {
	for !s.atEnd() && s.peek() != ',' {
		if s.peek() != '"' {
			s.i++
		} else if !s.quoted() {
			return
		}
	}
}

func (s *scanner) token() string {
	begin := s.i
	for !s.atEnd() && ascii.IsToken(s.s[s.i]) {
		s.i++
	}
	return s.s[begin:s.i]
}

func (s *scanner) quoted() bool {
	for s.i++; !s.atEnd(); s.i++ {
		switch s.s[s.i] {
		case '"':
			s.i++
			return true
		case '\\':
			s.i++
		}
	}
	s.i = len(s.s)
	return false
}
