package discover

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxExpression bounds a substitution expression, in octets: it is a
// character-string of DNS (RFC 3403, 4.1).
const MaxExpression = 255

// maxResult bounds what a substitution yields: a domain name or a URI.
const maxResult = 4096

// A Substitution is the substitution expression of a rule (RFC 3402, 3.2). It
// takes time linear in the text it is applied to. It is immutable.
type Substitution struct {
	source string
	ere    *regexp.Regexp
	repl   []piece
}

// A piece of a replacement is a text, or what a group of the expression matched.
type piece struct {
	text  string
	group int // from 1; 0 for text
}

// ParseSubstitution reads a substitution expression:
//
//	subst-expr = delim-char ere delim-char repl delim-char *flags
//
// The expression is extended POSIX; where several parts of it could match the
// same text, the earlier one takes as much as it can. An error is an [*Error]
// with the offset of what the grammar does not allow.
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
			return nil, refuse(s, len(s), "subst-expr", "want three times the delimiter %q", d)
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

// checkExpression checks length, characters and delimiter.
func checkExpression(s string) error {
	switch {
	case s == "":
		return refuse(s, 0, "subst-expr", "empty")
	case len(s) > MaxExpression:
		return refuse(s[:MaxExpression], MaxExpression, "subst-expr", "longer than %d octets", MaxExpression)
	case !utf8.ValidString(s):
		return refuse(s, 0, "subst-expr", "not UTF-8")
	case isDigit(s[0]), s[0] == '\\', s[0]|0x20 == 'i':
		return refuse(s, 0, "delim-char", "%q cannot be a delimiter: it would be taken for a digit, an escape or a flag", s[:1])
	}
	return nil
}

// endOfPart returns where the next delimiter is that no backslash escapes, or
// -1.
func endOfPart(s string, at int, delim string) int {
	for i := at; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], delim):
			return i
		}
	}
	return -1
}

// parseFlags reads what follows the third delimiter.
func parseFlags(s string, at int, delim string) (fold bool, err error) {
	for i := at; i < len(s); i++ {
		switch {
		case s[i]|0x20 == 'i':
			fold = true
		case strings.HasPrefix(s[i:], delim):
			return false, refuse(s, i, "subst-expr", "the delimiter %q stands there more than three times", delim)
		default:
			return false, refuse(s, i, "flags", `only "i" is a flag`)
		}
	}
	return fold, nil
}

// parseReplacement reads the pieces of a replacement.
func parseReplacement(s, delim string, groups int) ([]piece, error) {
	var pieces []piece
	var text strings.Builder
	for i := 0; i < len(s); i++ {
		escaped := s[i] == '\\' && i+1 < len(s)
		switch {
		case escaped && strings.HasPrefix(s[i+1:], delim):
			text.WriteString(delim)
			i += len(delim)
		case escaped && isDigit(s[i+1]):
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

// within makes an error about a part of s one about s.
func within(s string, begin int, err error) error {
	e := err.(*Error)
	e.Input, e.Offset = s, begin+e.Offset
	return e
}

// String returns the expression as it was read.
func (s *Substitution) String() string { return s.source }

// Apply returns what the replacement makes of the first match in text: the
// replacement alone, not what surrounds the match (RFC 3402, 3.2). It is false
// if nothing matches, or if the result is empty or longer than any name.
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
