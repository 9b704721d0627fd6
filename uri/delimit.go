package uri

import "strings"

// The delimiters around an identifier in plain text (draft of 1993, Wrappers for URIs in plain
// text; drafts of 1997 and 2003, appendix E; RFC 3986, appendix C; draft of 1995, section 2).
const (
	delimitedSpace = " \t\r\n"
	delimitedLabel = "URL:"
)

// Undelimit returns the identifier between the angle brackets of s, and whether s has such
// brackets. For example, it returns "http://example.org/" for both "<http://example.org/>" and
// "<URL: http://example.org/>". It removes white space inside the brackets, because the identifier
// may have been broken across lines. If s has no brackets, Undelimit returns s unchanged.
func Undelimit(s string) (string, bool) {
	from, to, ok := delimited(s)
	if !ok {
		return s, false
	}
	inner := s[from:to]
	if strings.ContainsAny(inner, delimitedSpace) {
		inner = strings.Join(strings.FieldsFunc(inner, func(r rune) bool { return strings.ContainsRune(delimitedSpace, r) }), "")
	}
	return inner, true
}

// DelimitedOffset converts an offset in the result of Undelimit(s) to the corresponding offset in
// s. Use it to report the position of an error in the original text.
func DelimitedOffset(s string, offset int) int {
	from, to, ok := delimited(s)
	if !ok {
		return offset
	}
	for ; from < to; from++ {
		if strings.IndexByte(delimitedSpace, s[from]) >= 0 {
			continue
		}
		if offset == 0 {
			return from
		}
		offset--
	}
	return to
}

// delimited returns the start and the end of the identifier between the brackets of s. It skips a
// label "URL:" only if a scheme follows. Otherwise "URL" is itself the scheme.
func delimited(s string) (from, to int, ok bool) {
	if strings.IndexByte(s, '<') < 0 {
		return 0, len(s), false
	}
	to = len(strings.TrimRight(s, delimitedSpace))
	from = len(s) - len(strings.TrimLeft(s, delimitedSpace))
	if to-from < len("<>") || s[from] != '<' || s[to-1] != '>' {
		return 0, len(s), false
	}
	from, to = from+1, to-1
	inner := strings.TrimLeft(s[from:to], delimitedSpace)
	if n := len(delimitedLabel); len(inner) > n && strings.EqualFold(inner[:n], delimitedLabel) && strings.IndexByte(inner[n:], ':') >= 0 {
		from = to - len(inner) + n
	}
	return from, to, true
}
