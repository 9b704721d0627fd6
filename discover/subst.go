package discover

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// maxExpression is the maximum length of a substitution expression in octets. DNS has this limit
// for a character-string (RFC 3403, section 4.1).
const maxExpression = 255

const maxResult = 4096

// A Substitution is the substitution expression of a rule (RFC 3402, section 3.2). It is immutable,
// and applying it takes linear time.
type Substitution struct {
	source string
	ere    *regexp.Regexp
	repl   []piece
}

// A piece is an element of a replacement. It is a text, or a reference to a group of the
// expression.
type piece struct {
	text  string
	group int // number of the group, from 1; 0 for text
}

// ParseSubstitution parses a substitution expression:
//
//	subst-expr = delim-char ere delim-char repl delim-char *flags
//
// In this grammar, ere is an extended regular expression of POSIX, with the departures listed in
// the package comment. If s is invalid, the error is an [*Error].
func ParseSubstitution(s string) (*Substitution, error) {
	if err := checkExpression(s); err != nil {
		return nil, err
	}
	delim, n := utf8.DecodeRuneInString(s)
	d := string(delim)
	var parts [2]string
	var begin [2]int
	at := n
	for i := range parts {
		end := endOfPart(s, at, d)
		if end < 0 {
			return nil, refuse(s, len(s), "subst-expr", "must contain the delimiter %q three times", d)
		}
		parts[i], begin[i] = s[at:end], at
		at = end + n
	}
	fold, err := parseFlags(s, at, d)
	if err != nil {
		return nil, err
	}
	ere, groups, err := compileERE(parts[0], delim, fold)
	if err != nil {
		return nil, within(s, begin[0], err)
	}
	repl, err := parseReplacement(parts[1], d, groups)
	if err != nil {
		return nil, within(s, begin[1], err)
	}
	return &Substitution{s, ere, repl}, nil
}

func checkExpression(s string) error {
	switch {
	case s == "":
		return refuse(s, 0, "subst-expr", "empty")
	case len(s) > maxExpression:
		return refuse(s[:maxExpression], maxExpression, "subst-expr", "longer than %d octets", maxExpression)
	case !utf8.ValidString(s):
		return refuse(s, 0, "subst-expr", "not UTF-8")
	case ascii.IsDigit(s[0]), s[0] == '\\', s[0]|0x20 == 'i':
		return refuse(s, 0, "delim-char", "%q cannot be a delimiter: it could be a digit, an escape or a flag", s[:1])
	}
	return nil
}

// endOfPart returns the offset of the first unescaped delimiter from start on, or -1.
func endOfPart(s string, start int, delim string) int {
	for i := start; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], delim):
			return i
		}
	}
	return -1
}

func parseFlags(s string, at int, delim string) (fold bool, err error) {
	for i := at; i < len(s); i++ {
		switch {
		case s[i]|0x20 == 'i':
			fold = true
		case strings.HasPrefix(s[i:], delim):
			return false, refuse(s, i, "subst-expr", "contains the delimiter %q more than three times", delim)
		default:
			return false, refuse(s, i, "flags", `the only valid flag is "i"`)
		}
	}
	return fold, nil
}

func parseReplacement(s, delim string, groups int) ([]piece, error) {
	var pieces []piece
	var text strings.Builder
	for i := 0; i < len(s); i++ {
		escaped := s[i] == '\\' && i+1 < len(s)
		switch {
		case escaped && strings.HasPrefix(s[i+1:], delim):
			text.WriteString(delim)
			i += len(delim)
		case escaped && ascii.IsDigit(s[i+1]):
			group := int(s[i+1] - '0')
			if group == 0 || group > groups {
				return nil, refuse("", i, "backref", `"\%d": the expression has %d groups`, group, groups)
			}
			pieces = append(pieces, piece{text: text.String()}, piece{group: group})
			text.Reset()
			i++
		default:
			text.WriteByte(s[i])
		}
	}
	return append(pieces, piece{text: text.String()}), nil
}

func within(s string, begin int, err error) error {
	e := err.(*Error)
	e.Input, e.Offset = s, begin+e.Offset
	return e
}

// String returns the text from which s was parsed.
func (s *Substitution) String() string { return s.source }

// Apply returns the replacement for the first match in text. The result does not contain the text
// around the match (RFC 3402, section 3.2). Apply returns false if there is no match, or if the
// result is empty or longer than 4,096 bytes.
func (s *Substitution) Apply(text string) (string, bool) {
	m := s.ere.FindStringSubmatchIndex(text)
	if m == nil {
		return "", false
	}
	var b strings.Builder
	for _, p := range s.repl {
		b.WriteString(p.text)
		if p.group > 0 && m[2*p.group] >= 0 {
			b.WriteString(text[m[2*p.group]:m[2*p.group+1]])
		}
		if b.Len() > maxResult {
			return "", false
		}
	}
	return b.String(), b.Len() > 0
}
