package extract

import (
	"bytes"
)

// delimited reads an identifier that is enclosed in angle brackets or quotation marks. The label
// "URL:" may precede the identifier. White space between the delimiters is removed (drafts of 1997
// and 2003, appendix E; draft of 1995, section 2).
//
// Between quotation marks, white space is removed only at line breaks, because quoted text with
// other spaces is usually not an identifier.
func (s *scanner) delimited(start, colon int) (end int, ok bool) {
	open := s.opening(start)
	var closing byte
	switch open {
	case '<':
		closing = '>'
	case '"':
		closing = '"'
	default:
		return 0, false
	}
	s.segs = append(s.segs[:0], segment{start: start})
	limit := start + s.limit
	for i := colon + 1; ; {
		i = s.until(i, limit)
		last := &s.segs[len(s.segs)-1]
		last.end = i
		c := s.peek(i)
		switch {
		case i >= limit:
			return 0, false
		case c == closing:
			return i, true
		case !is(c, classSpace) && c != '\\':
			return 0, false
		}
		next, lines := s.resumption(start, i)
		if next < 0 || lines == 0 && open == '"' {
			return 0, false
		}
		escape := s.escaped(i, next)
		switch c := s.peek(next); {
		case escape != "":
		case c == closing:
			return i, true
		case c == '\'' && s.b[i-1] == '\'': // two adjacent string literals in a program
			return 0, false
		}
		last.hyphen = lines > 0 && s.b[i-1] == '-' && c != '\\'
		s.segs = append(s.segs, segment{start: next, escape: escape})
		i = next
	}
}

// resumption returns the offset at which the delimited identifier continues after the white space
// or backslash at i, or -1. It also returns the number of line breaks there. An escape counts as a
// line break, because both are allowed in the same places.
func (s *scanner) resumption(start, i int) (next, lines int) {
	if s.b[i] != '\\' {
		return s.gap(i)
	}
	if next = s.unescaped(start, i); next < 0 {
		next = s.fold(i)
	}
	return next, 1
}

// opening returns the delimiter before the identifier that begins at i, or 0. There may be "URL:"
// and white space between the delimiter and the identifier (drafts of 1997 and 2003, appendix E).
func (s *scanner) opening(i int) byte {
	switch c := s.before(i); c {
	case '<', '"':
		return c
	case ':', ' ', '\t', '\n', '\r':
	default:
		return 0
	}
	low := max(s.minStart, i-maxLabel)
	j := skipSpaceBack(s.b, low, i)
	if j-low >= 4 && bytes.EqualFold(s.b[j-4:j], []byte("URL:")) {
		j = skipSpaceBack(s.b, low, j-4)
	}
	s.work += i - j
	if j > low && (s.b[j-1] == '<' || s.b[j-1] == '"' && i-j >= 4 && s.b[j] > ' ') {
		return s.b[j-1]
	}
	return 0
}

func skipSpaceBack(b []byte, low, i int) int {
	for i > low && is(b[i-1], classSpace) {
		i--
	}
	return i
}

// until returns the offset of the first octet from i on that is not allowed in a URI, or limit if
// that is less. Square brackets count as allowed.
func (s *scanner) until(i, limit int) int {
	from := i
	b := s.b[:min(len(s.b), limit)]
	for ; i < len(b); i++ {
		c := b[i]
		if !is(c, classURI) && c != '[' && c != ']' && (c < 0x80 || s.beyond(i) == 0) {
			break
		}
	}
	s.work += i - from
	if i == len(s.b) && i < limit {
		s.short = s.short || !s.final
	}
	return i
}
