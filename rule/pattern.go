package rule

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on patterns.
const (
	maxPattern = 4096  // bytes of a pattern or regular expression
	maxProgram = 10000 // instructions of the compiled expression
	maxRepeat  = 1000  // repetitions of a class, as in package regexp
	maxGroups  = 64    // groups of a pattern, including parts
)

// A Pattern matches elements and extracts their parts. It is immutable and safe for concurrent use.
type Pattern struct {
	source string
	re     *regexp.Regexp
	names  []string // names of the groups; "" for unnamed groups
	begin  string   // literal text with which every match begins
	fold   bool     // begin ignores case
	most   int      // maximum length of a match in bytes, or negative
	cost   int      // steps for each byte; see maxSteps
}

// classes maps the letter of a class to its characters, as a regular expression.
var classes = map[byte]string{
	'd': `[0-9]`,
	'x': `[0-9A-Fa-f]`,
	'a': `[A-Za-z]`,
	'n': `[0-9A-Za-z]`,
	's': `[^:/]`,
	'*': `.`,
}

// ParsePattern parses a pattern, which consists of literal text and parts. In literal text, "\"
// makes the next character literal. A part is
//
//	"{" name [ ":" class [ least [ "-" [ most ] ] ] ] "}"
//
// The name consists of letters, digits and "_", and begins with a letter. The class is "d" for
// digits, "x" for hexadecimal digits, "a" for ASCII letters, "n" for letters and digits, "s" (the
// default) for everything but ":" and "/", or "*" for everything. Two numbers limit the length of
// the part. Without them, a part has at least one character, except that a part of class "*" may be
// empty.
//
// A pattern matches only whole elements. If fold is true, literal text ignores the case of ASCII
// letters. If the pattern is invalid, the error is an [*Error].
func ParsePattern(s string, fold bool) (Pattern, error) {
	if len(s) > maxPattern {
		return Pattern{}, &Error{clip(s), maxPattern, "pattern", "longer than " + strconv.Itoa(maxPattern) + " bytes"}
	}
	var re strings.Builder
	re.WriteString(`^(?s`)
	if fold {
		re.WriteByte('i')
	}
	re.WriteByte(':')
	for i := 0; i < len(s); {
		switch s[i] {
		case '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return Pattern{}, &Error{s, i, "part", `unclosed "{"`}
			}
			if err := writePart(&re, s, i+1, i+end); err != nil {
				return Pattern{}, err
			}
			i += end + 1
			continue
		case '}':
			return Pattern{}, &Error{s, i, "literal", `unexpected "}"; write "\}" for a literal brace`}
		case '\\':
			if i++; i == len(s) {
				return Pattern{}, &Error{s, i - 1, "literal", `missing character after "\"`}
			}
		}
		end := i + 1
		for end < len(s) && strings.IndexByte(`{}\`, s[end]) < 0 {
			end++
		}
		re.WriteString(regexp.QuoteMeta(s[i:end]))
		i = end
	}
	re.WriteString(`)$`)
	return compile(s, re.String())
}

// writePart writes the part s[i:end] as a named group of a regular expression.
func writePart(re *strings.Builder, s string, i, end int) error {
	label, class, typed := strings.Cut(s[i:end], ":")
	for j := range len(label) {
		if !ascii.IsAlnum(label[j]) && label[j] != '_' || j == 0 && (ascii.IsDigit(label[j]) || label[j] == '_') {
			return &Error{s, i + j, "name", "invalid name of a part: must be letters, digits and \"_\", beginning with a letter"}
		}
	}
	if label == "" {
		return &Error{s, i, "name", "missing name of a part"}
	}
	if !typed {
		class = "s"
	}
	at := i + len(label) + 1 // offset of the class
	if class == "" || classes[class[0]] == "" {
		return &Error{s, at, "class", `invalid class: must be d, x, a, n, s or *`}
	}
	count, ok := repetition(class)
	if !ok {
		return &Error{s, at + 1, "count", "invalid repetition: must be a number up to 1000, or a range such as 2-5"}
	}
	re.WriteString("(?P<" + label + ">(?-i:" + classes[class[0]] + ")" + count + ")")
	return nil
}

func repetition(class string) (string, bool) {
	if len(class) == 1 {
		if class == "*" {
			return "*", true
		}
		return "+", true
	}
	first, second, ranged := strings.Cut(class[1:], "-")
	least, ok := number(first)
	if !ok {
		return "", false
	}
	if !ranged {
		return "{" + strconv.Itoa(least) + "}", true
	}
	if second == "" {
		return "{" + strconv.Itoa(least) + ",}", true
	}
	most, ok := number(second)
	return "{" + strconv.Itoa(least) + "," + strconv.Itoa(most) + "}", ok && least <= most
}

func number(s string) (int, bool) {
	for i := range len(s) {
		if !ascii.IsDigit(s[i]) {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n <= maxRepeat
}

// ParseRegexp parses a regular expression in the syntax of package regexp, which matches in linear
// time because it has no back-references and no look-around. The expression must match the whole
// element, even without "^" and "$". The named groups are the parts of the pattern. If fold is
// true, the expression ignores case. If s is invalid, the error is an [*Error].
func ParseRegexp(s string, fold bool) (Pattern, error) {
	if len(s) > maxPattern {
		return Pattern{}, &Error{clip(s), maxPattern, "regular expression", "longer than " + strconv.Itoa(maxPattern) + " bytes"}
	}
	flags := "(?s:"
	if fold {
		flags = "(?si:"
	}
	if _, err := syntax.Parse(s, syntax.Perl); err != nil { // parsed on its own first, so that ")(" cannot close the group around the expression
		return Pattern{}, regexpError(s, err)
	}
	return compile(s, "^"+flags+s+")$")
}

// compile returns the pattern for a regular expression. The parameter source is the text that the
// user wrote.
func compile(source, expression string) (Pattern, error) {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return Pattern{}, regexpError(source, err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return Pattern{}, regexpError(source, err)
	}
	if len(program.Inst) > maxProgram {
		return Pattern{}, &Error{source, 0, "pattern", "too large because of its repetitions"}
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return Pattern{}, regexpError(source, err)
	}
	p := Pattern{source: source, re: re, names: re.SubexpNames(), most: longest(tree)}
	p.begin, p.fold = beginning(tree)
	p.cost = len(program.Inst) * (maxGroups + len(p.names)) / maxGroups
	seen := map[string]bool{}
	for _, label := range p.names {
		if label != "" && seen[label] {
			return Pattern{}, &Error{source, strings.LastIndex(source, label), "name", "duplicate part " + strconv.Quote(label)}
		}
		seen[label] = true
	}
	return p, nil
}

func regexpError(source string, err error) error {
	e := &Error{Input: source, Rule: "regular expression", Message: err.Error()}
	if s, ok := err.(*syntax.Error); ok {
		e.Offset = max(strings.Index(source, s.Expr), 0)
		e.Message = s.Code.String()
	}
	return e
}

// String returns the text from which the pattern was parsed.
func (p Pattern) String() string { return p.source }

// labels calls yield for the name of each part.
func (p Pattern) labels(yield func(string) bool) {
	for _, label := range p.names {
		if label != "" && !yield(label) {
			return
		}
	}
}

// Match returns the parts of element by name, or nil if the pattern does not match. The result
// lacks the parts of an alternative that did not match.
func (p Pattern) Match(element string) map[string]string {
	if p.re == nil || p.steps(element) == 0 {
		return nil
	}
	at := p.re.FindStringSubmatchIndex(element)
	if at == nil {
		return nil
	}
	parts := make(map[string]string, len(p.names))
	for i, label := range p.names {
		if label != "" && at[2*i] >= 0 {
			parts[label] = element[at[2*i]:at[2*i+1]]
		}
	}
	return parts
}

// Expression returns the pattern as a regular expression with a named group for each part. It
// begins with "^" and ends with "$".
func (p Pattern) Expression() string { return p.re.String() }
