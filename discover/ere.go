package discover

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on the expressions in rules, which are untrusted input.
const (
	maxRepeat  = 255  // RE_DUP_MAX of POSIX
	maxProgram = 1000 // characters of an expression after its repetitions are expanded
)

// A standing describes the text before the current position of the parser.
type standing int

const (
	atBegin  standing = iota // the start of the expression, a group or an alternative
	atAnchor                 // after ^ or $
	atAtom                   // after something that can be repeated
	atRepeat
)

// An ere converts an extended regular expression of POSIX (1003.2, section 2.8.4) to the syntax of
// package regexp. It rejects expressions whose meaning POSIX leaves undefined.
type ere struct {
	in    string
	at    int
	delim rune // an escaped delimiter is a literal
	out   strings.Builder

	before standing
	groups int
	open   []int // for each open group, the size of the text before it
	size   int   // size of the text so far in the innermost open group
	last   int   // size of the last atom
}

// compileERE compiles an expression. It returns the compiled expression, which prefers the leftmost
// longest match, and the number of groups. The Offset of an [*Error] refers to s, and its Input is
// empty.
func compileERE(s string, delim rune, fold bool) (*regexp.Regexp, int, error) {
	e := ere{in: s, delim: delim}
	if fold {
		e.out.WriteString("(?i)")
	}
	for e.at < len(s) {
		if err := e.element(); err != nil {
			return nil, 0, err
		}
	}
	switch {
	case len(e.open) > 0:
		return nil, 0, e.fail(len(s), `"(" without ")"`)
	case e.before == atBegin:
		return nil, 0, e.fail(len(s), "empty expression or alternative")
	}
	re, err := regexp.Compile(e.out.String())
	if err != nil {
		return nil, 0, e.fail(0, "%v", err)
	}
	re.Longest()
	return re, e.groups, nil
}

func (e *ere) fail(at int, format string, args ...any) error {
	return refuse("", at, "ere", format, args...)
}

// next reads a character. The text is valid UTF-8.
func (e *ere) next() rune {
	r, n := utf8.DecodeRuneInString(e.in[e.at:])
	e.at += n
	return r
}

func (e *ere) peek(s string) bool { return strings.HasPrefix(e.in[e.at:], s) }

func (e *ere) element() error {
	begin := e.at
	switch r := e.next(); r {
	case '^', '$':
		e.out.WriteRune(r)
		e.before = atAnchor
	case '(':
		e.out.WriteByte('(')
		e.groups++
		e.open, e.size, e.before = append(e.open, e.size), 0, atBegin
	case ')':
		return e.close(begin)
	case '|':
		if e.before == atBegin {
			return e.fail(begin, "empty alternative")
		}
		e.out.WriteByte('|')
		e.before = atBegin
	case '*', '+', '?':
		return e.repeat(begin, string(r), 1)
	case '{':
		return e.interval(begin)
	case '.':
		return e.atom(begin, "(?s:.)", 1)
	case '[':
		return e.bracket(begin)
	case '\\':
		return e.escape(begin)
	default:
		return e.atom(begin, regexp.QuoteMeta(string(r)), 1)
	}
	return nil
}

// atom writes an element that can be repeated, and adds its size.
func (e *ere) atom(begin int, text string, size int) error {
	e.out.WriteString(text)
	e.before, e.last = atAtom, size
	e.size += size
	if e.size > maxProgram {
		return e.fail(begin, "more than %d characters after expansion of the repetitions", maxProgram)
	}
	return nil
}

// close ends a group. Without an open group, ")" is a literal.
func (e *ere) close(begin int) error {
	switch {
	case len(e.open) == 0:
		return e.atom(begin, `\)`, 1)
	case e.before == atBegin:
		return e.fail(begin, "empty group or alternative")
	}
	inner := e.size
	e.size, e.open = e.open[len(e.open)-1], e.open[:len(e.open)-1]
	return e.atom(begin, ")", inner)
}

// escape reads an escaped character, which is a literal.
func (e *ere) escape(begin int) error {
	if e.at == len(e.in) {
		return e.fail(begin, `"\" at the end`)
	}
	r := e.next()
	if r != e.delim && r < utf8.RuneSelf && (ascii.IsLetter(byte(r)) || ascii.IsDigit(byte(r))) {
		return e.fail(begin, `"\%c" is undefined in an extended regular expression`, r)
	}
	return e.atom(begin, regexp.QuoteMeta(string(r)), 1)
}

// repeat writes a repetition of the last atom. The parameter n is the number of copies of the atom
// in the expanded expression.
func (e *ere) repeat(begin int, text string, n int) error {
	if e.before != atAtom {
		return e.fail(begin, "%q has nothing to repeat", e.in[begin:e.at])
	}
	if err := e.atom(begin, text, e.last*(n-1)); err != nil {
		return err
	}
	e.before = atRepeat
	return nil
}

func (e *ere) interval(begin int) error {
	least, ok := e.number()
	most, text := least, fmt.Sprintf("{%d}", least)
	if ok && e.peek(",") {
		e.at++
		text = fmt.Sprintf("{%d,}", least)
		if !e.peek("}") {
			most, ok = e.number()
			text = fmt.Sprintf("{%d,%d}", least, most)
		}
	}
	if !ok || !e.peek("}") || least > most {
		return e.fail(begin, `"{" must be followed by a number up to %d, or two separated by a comma, and "}"`, maxRepeat)
	}
	e.at++
	return e.repeat(begin, text, max(most, 1))
}

func (e *ere) number() (n int, ok bool) {
	for e.at < len(e.in) && ascii.IsDigit(e.in[e.at]) && n <= maxRepeat {
		n = 10*n + int(e.in[e.at]-'0')
		e.at, ok = e.at+1, true
	}
	return n, ok && n <= maxRepeat
}

// bracket reads a bracket expression, in which a backslash is a literal except before the
// delimiter.
func (e *ere) bracket(begin int) error {
	var class strings.Builder
	class.WriteByte('[')
	if e.peek("^") {
		e.at++
		class.WriteByte('^')
	}
	for first := true; first || !e.peek("]"); first = false {
		if e.at == len(e.in) {
			return e.fail(begin, `"[" without "]"`)
		}
		if err := e.member(&class, first); err != nil {
			return err
		}
	}
	e.at++
	class.WriteByte(']')
	return e.atom(begin, class.String(), 1)
}

// member reads a character class, a range or a character in a bracket expression.
func (e *ere) member(class *strings.Builder, first bool) error {
	begin := e.at
	if e.peek("[:") {
		return e.class(class)
	}
	low, err := e.bound()
	if err != nil {
		return err
	}
	if !e.peek("-") || e.peek("-]") {
		if low == '-' && !first && !e.peek("]") && e.in[begin] == '-' {
			return e.fail(begin, `"-" in brackets must be first, last or between two characters`)
		}
		fmt.Fprintf(class, `\x{%X}`, low)
		return nil
	}
	e.at++
	high, err := e.bound()
	switch {
	case err != nil:
		return err
	case high < low:
		return e.fail(begin, "range %q ends before it begins", e.in[begin:e.at])
	}
	fmt.Fprintf(class, `\x{%X}-\x{%X}`, low, high)
	return nil
}

// bound reads a character in a bracket expression. The character may be written as "[.x.]" or
// "[=x=]".
func (e *ere) bound() (rune, error) {
	begin := e.at
	if e.at == len(e.in) {
		return 0, e.fail(begin, `"[" without "]"`)
	}
	for _, mark := range []string{".", "="} {
		if !e.peek("[" + mark) {
			continue
		}
		e.at += 2
		r := e.next()
		if !e.peek(mark+"]") || r == utf8.RuneError {
			return 0, e.fail(begin, "collating elements of several characters are not supported")
		}
		e.at += 2
		return r, nil
	}
	r := e.next()
	if r == '\\' && e.at < len(e.in) && e.peek(string(e.delim)) {
		return e.next(), nil
	}
	if r == '[' && e.peek(":") {
		return 0, e.fail(begin, "a class cannot end a range")
	}
	return r, nil
}

func (e *ere) class(class *strings.Builder) error {
	begin := e.at
	name, _, ok := strings.Cut(e.in[begin+2:], ":]")
	switch name {
	case "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit":
	default:
		ok = false
	}
	if !ok {
		return e.fail(begin, "unknown character class")
	}
	e.at += len(name) + 4
	class.WriteString("[:" + name + ":]")
	return nil
}
