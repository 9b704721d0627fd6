package rule

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// Limits on templates and their expansions.
const (
	maxTemplate  = 4096     // bytes of a template
	maxExpansion = 64 << 10 // bytes of an expansion
	maxPrefix    = 9999     // characters in a prefix modifier (RFC 6570, section 2.4.1)
)

// An Error says at which byte a template, a pattern or a rule is invalid, and why.
type Error struct {
	Input   string // the template or the pattern
	Offset  int    // offset of the first invalid byte
	Rule    string // the violated production or rule
	Message string // what is wrong, for people
}

func (e *Error) Error() string {
	return "rule: " + strconv.Quote(e.Input) + ": offset " + strconv.Itoa(e.Offset) + ": " + e.Rule + ": " + e.Message
}

// Violation implements [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

// A templateValue is a string, a list of strings or a list of pairs (RFC 6570, section 2.3). The
// zero templateValue is undefined, which differs from the empty string.
type templateValue struct {
	kind  valueKind
	texts []string // the string, the elements of the list, or alternately names and values of pairs
}

type valueKind uint8

const (
	undefined valueKind = iota
	text
	list
	pairs
)

func stringValue(s string) templateValue { return templateValue{text, []string{s}} }

// listValue returns a list of strings. An empty list is undefined.
func listValue(members ...string) templateValue {
	if len(members) == 0 {
		return templateValue{}
	}
	return templateValue{list, members}
}

// pairsValue returns a list of pairs, from alternating names and values. An empty list is
// undefined, and a last name without a value is ignored.
func pairsValue(namesAndValues ...string) templateValue {
	if len(namesAndValues) < 2 {
		return templateValue{}
	}
	return templateValue{pairs, namesAndValues[:len(namesAndValues)&^1]}
}

// A template is a URI template (RFC 6570). It is immutable and safe for concurrent use. The zero
// template expands to "".
type template struct {
	source string
	parts  []templatePart
}

type templatePart struct {
	literal string // escaped literal text
	op      operator
	vars    []varspec
	offset  int
}

type varspec struct {
	name    string
	prefix  int // how many characters of the value are used; 0 means all
	explode bool
}

// An operator is a row of the table in RFC 6570, appendix A.
type operator struct {
	char     byte // 0 means simple expansion
	first    string
	sep      string
	named    bool
	ifEmpty  string
	reserved bool // leave reserved characters and escapes as they are
}

var operators = [...]operator{
	{char: 0, sep: ","},
	{char: '+', sep: ",", reserved: true},
	{char: '#', first: "#", sep: ",", reserved: true},
	{char: '.', first: ".", sep: "."},
	{char: '/', first: "/", sep: "/"},
	{char: ';', first: ";", sep: ";", named: true},
	{char: '?', first: "?", sep: "&", named: true, ifEmpty: "="},
	{char: '&', first: "&", sep: "&", named: true, ifEmpty: "="},
}

func parseTemplate(s string) (template, error) {
	if len(s) > maxTemplate {
		return template{}, &Error{clip(s), maxTemplate, "URI-Template", "longer than " + strconv.Itoa(maxTemplate) + " bytes"}
	}
	t := template{source: s}
	for i := 0; i < len(s); {
		if s[i] == '{' {
			part, end, err := parseExpression(s, i)
			if err != nil {
				return template{}, err
			}
			t.parts = append(t.parts, part)
			i = end
			continue
		}
		end := i
		for end < len(s) && s[end] != '{' {
			size, err := literal(s, end)
			if err != nil {
				return template{}, err
			}
			end += size
		}
		t.parts = append(t.parts, templatePart{literal: string(appendEscaped(nil, s[i:end], true)), offset: i})
		i = end
	}
	return t, nil
}

func (t template) fault(offset int, rule, message string) error {
	return &Error{t.source, offset, rule, message}
}

// literal returns the length of the literal character at s[i]. An apostrophe is a literal
// character, although the grammar omits it by mistake (RFC 6570, section 2.1; erratum 6937).
func literal(s string, i int) (int, error) {
	c := s[i]
	switch {
	case c == '%':
		if !isEscape(s, i) {
			return 0, &Error{s, i, "literals", `"%" must begin an escape`}
		}
		return 3, nil
	case c == '}':
		return 0, &Error{s, i, "literals", `unexpected "}"`}
	case c <= ' ' || c == 0x7f || strings.IndexByte(`"<>\^`+"`|", c) >= 0:
		return 0, &Error{s, i, "literals", "contains " + strconv.QuoteToASCII(s[i:i+1]) + ", which must be escaped in a template"}
	case c < utf8.RuneSelf:
		return 1, nil
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && size == 1 {
		return 0, &Error{s, i, "literals", "is not UTF-8"}
	}
	return size, nil
}

// parseExpression parses "{" [operator] variable-list "}" at s[i], and returns its end.
func parseExpression(s string, i int) (templatePart, int, error) {
	length := strings.IndexByte(s[i:], '}')
	if length < 0 {
		return templatePart{}, 0, &Error{s, i, "expression", `unclosed "{"`}
	}
	end := i + length
	part := templatePart{op: operators[0], offset: i}
	at := i + 1
	for _, op := range operators[1:] {
		if s[at] == op.char {
			part.op = op
			at++
			break
		}
	}
	if at == i+1 && strings.IndexByte("=,!@|", s[at]) >= 0 {
		return templatePart{}, 0, &Error{s, at, "op-reserve", "operator " + strconv.Quote(s[at:at+1]) + " is reserved"}
	}
	for spec := range strings.SplitSeq(s[at:end], ",") {
		v, err := parseVarspec(s, at, at+len(spec))
		if err != nil {
			return templatePart{}, 0, err
		}
		part.vars = append(part.vars, v)
		at += len(spec) + 1
	}
	return part, end + 1, nil
}

// parseVarspec parses s[i:end] as varname [modifier-level4].
func parseVarspec(s string, i, end int) (varspec, error) {
	at := i
	for at < end {
		switch c := s[at]; {
		case ascii.IsAlnum(c), c == '_', c == '.' && at > i && s[at-1] != '.' && at+1 < end:
			at++
			continue
		case c == '%' && isEscape(s, at) && at+2 < end:
			at += 3
			continue
		}
		break
	}
	v := varspec{name: s[i:at]}
	switch {
	case at == i:
		return v, &Error{s, i, "varname", "invalid variable: must be letters, digits, \"_\" and inner dots"}
	case at == end:
		return v, nil
	case s[at] == '*' && at+1 == end:
		v.explode = true
		return v, nil
	case s[at] == ':' && at+1 < end:
		n, err := strconv.Atoi(s[at+1 : end])
		if err != nil || n < 1 || n > maxPrefix || s[at+1] == '0' || s[at+1] == '+' {
			return v, &Error{s, at + 1, "max-length", "invalid length: must be 1 to 9999 without leading zeros"}
		}
		v.prefix = n
		return v, nil
	}
	return v, &Error{s, at, "varspec", "unexpected " + strconv.QuoteToASCII(s[at:at+1]) + `, expected ":", "*", "," or "}"`}
}

func (t template) String() string { return t.source }

// variables calls yield for the name of each variable. A name can occur repeatedly.
func (t template) variables(yield func(string) bool) {
	for _, p := range t.parts {
		for _, v := range p.vars {
			if !yield(v.name) {
				return
			}
		}
	}
}

// expand replaces the variables of the template by the results of value (RFC 6570, section 3). If
// the result is the zero templateValue, the variable is undefined. An expression whose variables
// are all undefined becomes empty. If the result would be longer than maxExpansion, expand returns
// false.
func (t template) expand(value func(name string) templateValue) (string, bool) {
	var buf [256]byte
	b := buf[:0]
	for i := range t.parts {
		p := &t.parts[i]
		if p.vars == nil {
			b = append(b, p.literal...)
		} else {
			b = p.append(b, value)
		}
		if len(b) > maxExpansion {
			return "", false
		}
	}
	return string(b), true
}

func (p *templatePart) append(b []byte, value func(string) templateValue) []byte {
	sep := p.op.first
	for _, v := range p.vars {
		val := value(v.name)
		if val.kind == undefined {
			continue
		}
		b = append(b, sep...)
		b = p.appendValue(b, v, val)
		sep = p.op.sep
		if len(b) > maxExpansion {
			return b
		}
	}
	return b
}

func (p *templatePart) appendValue(b []byte, v varspec, val templateValue) []byte {
	if val.kind != text && v.explode {
		return p.appendExploded(b, v, val)
	}
	if p.op.named {
		b = p.appendName(b, v.name, val.kind == text && val.texts[0] == "")
	}
	if val.kind == text {
		return appendEscaped(b, cut(val.texts[0], v.prefix), p.op.reserved)
	}
	for i, s := range val.texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEscaped(b, s, p.op.reserved)
	}
	return b
}

// appendExploded appends the elements of a list, or its pairs, as separate values.
func (p *templatePart) appendExploded(b []byte, v varspec, val templateValue) []byte {
	step := 1
	if val.kind == pairs {
		step = 2
	}
	for i := 0; i < len(val.texts) && len(b) <= maxExpansion; i += step {
		if i > 0 {
			b = append(b, p.op.sep...)
		}
		s := val.texts[i]
		switch {
		case val.kind == pairs:
			b = appendEscaped(b, s, p.op.reserved)
			if s = val.texts[i+1]; s == "" && p.op.named {
				b = append(b, p.op.ifEmpty...)
			} else {
				b = append(b, '=')
			}
		case p.op.named:
			b = p.appendName(b, v.name, s == "")
		}
		b = appendEscaped(b, s, p.op.reserved)
	}
	return b
}

func (p *templatePart) appendName(b []byte, name string, empty bool) []byte {
	b = append(b, name...)
	if empty {
		return append(b, p.op.ifEmpty...)
	}
	return append(b, '=')
}

func cut(s string, n int) string {
	if n == 0 {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// appendEscaped appends s with all characters escaped that are not unreserved. If keepReserved is
// true, it leaves reserved characters and escapes as they are.
func appendEscaped(b []byte, s string, keepReserved bool) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case ascii.IsAlnum(c), strings.IndexByte("-._~", c) >= 0,
			keepReserved && strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0:
			b = append(b, c)
		case keepReserved && isEscape(s, i):
			b = append(b, s[i:i+3]...)
			i += 2
		default:
			b = append(b, ascii.Escape(c)...)
		}
	}
	return b
}

func isEscape(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && ascii.IsHex(s[i+1]) && ascii.IsHex(s[i+2])
}

const maxQuoted = 80 // bytes of the input that a message shows

func clip(s string) string { return s[:min(len(s), maxQuoted)] }
