// Package anvl reads and writes ANVL (A Name-Value Language), the format in which EZID and other
// resolvers of ARKs write descriptions. Each element is a line "label: value".
//
// A line ends with CR, LF or CRLF. A line that begins with white space continues the value before
// it, and an empty line ends that value. A line that begins with "#" is a comment. The characters
// "%", ":", CR and LF in a label, and "%", CR and LF in a value, are percent-encoded. Any other
// byte may also be percent-encoded. White space at both ends of labels and values is ignored, even
// if it is percent-encoded.
package anvl

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// An Element is a label and its value.
type Element struct{ Label, Value string }

// A Reason is the reason for which a text is not ANVL, in the wording of EZID.
type Reason string

// The possible reasons.
const (
	BadEscape  Reason = "percent-decode error"
	NoColon    Reason = "no colon in line"
	EmptyLabel Reason = "empty label"
	Repeated   Reason = "repeated label"
	NoLabel    Reason = "no previous label for continuation line"
	NotUTF8    Reason = "character decoding error"
)

// An Error means that a text is not valid ANVL.
type Error struct {
	Line   int // number of the line, from 1
	Column int // in bytes, from 1
	Reason Reason
}

func (e *Error) Error() string { return fmt.Sprintf("anvl: line %d: %s", e.Line, e.Reason) }

// Parse parses a text, and returns its elements in order. Labels are unique, and values may be
// empty. If the text is not ANVL, the error is an [*Error].
func Parse(text string) ([]Element, error) {
	p := parser{known: map[string]bool{}}
	for more := true; more; {
		var line string
		line, text, more = cutLine(text)
		p.line++
		if reason := p.add(line); reason != "" {
			return nil, &Error{p.line, columnOf(line, reason), reason}
		}
	}
	p.end()
	return p.all, nil
}

func columnOf(line string, reason Reason) int {
	switch reason {
	case BadEscape:
		for i := range len(line) {
			if line[i] == '%' && (len(line) < i+3 || !ascii.IsHex(line[i+1]) || !ascii.IsHex(line[i+2])) {
				return i + 1
			}
		}
	case NotUTF8:
		for i, r := range line {
			if _, size := utf8.DecodeRuneInString(line[i:]); r == utf8.RuneError && size == 1 {
				return i + 1
			}
		}
	}
	return 1
}

// cutLine returns the first line of a text, without its line ending, and the rest of the text. The
// result more reports whether there are more lines.
func cutLine(text string) (line, rest string, more bool) {
	i := strings.IndexAny(text, "\r\n")
	if i < 0 {
		return text, "", false
	}
	end := i + 1
	if strings.HasPrefix(text[i:], "\r\n") {
		end++
	}
	return text[:i], text[end:], true
}

type parser struct {
	line  int
	all   []Element
	known map[string]bool
	parts []string // lines of the last value
	open  bool     // the next line can continue that value
}

// end sets the value of the last element. To handle a very large number of lines, end joins all
// lines in one step.
func (p *parser) end() {
	if len(p.all) > 0 {
		p.all[len(p.all)-1].Value = strings.Join(p.parts, " ")
	}
}

func (p *parser) add(line string) Reason {
	first, _ := utf8.DecodeRuneInString(line)
	switch {
	case line == "":
		p.open = false
	case line[0] == '#':
	case isSpace(first):
		return p.extend(line)
	default:
		return p.begin(line)
	}
	return ""
}

func (p *parser) begin(line string) Reason {
	before, after, ok := strings.Cut(line, ":")
	if !ok {
		return NoColon
	}
	label, reason := decode(before)
	if reason != "" {
		return reason
	}
	value, reason := decode(after)
	switch {
	case reason != "":
		return reason
	case label == "":
		return EmptyLabel
	case p.known[label]:
		return Repeated
	}
	p.end()
	p.known[label], p.open = true, true
	p.all, p.parts = append(p.all, Element{Label: label}), nil
	p.continued(value)
	return ""
}

func (p *parser) continued(value string) {
	if value != "" {
		p.parts = append(p.parts, value)
	}
}

func (p *parser) extend(line string) Reason {
	if !p.open {
		return NoLabel
	}
	more, reason := decode(line)
	p.continued(more)
	return reason
}

// decode decodes percent-encodings, and removes white space at both ends.
func decode(s string) (string, Reason) {
	if strings.Contains(s, "%") {
		b := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] != '%':
				b = append(b, s[i])
			case !ascii.IsEscape(s, i):
				return "", BadEscape
			default:
				b = append(b, ascii.Unhex(s[i+1])<<4|ascii.Unhex(s[i+2]))
				i += 2
			}
		}
		s = string(b)
	}
	if !utf8.ValidString(s) {
		return "", NotUTF8
	}
	return strings.TrimFunc(s, isSpace), ""
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }

// AppendElement appends the line of an element. It percent-encodes a "#" at the start of a label,
// because the line would otherwise be a comment.
func AppendElement(b []byte, label, value string) []byte {
	if rest, ok := strings.CutPrefix(label, "#"); ok {
		b, label = append(b, ascii.Escape('#')...), rest
	}
	b = encode(b, label, "%:\r\n")
	b = append(b, ": "...)
	return append(encode(b, value, "%\r\n"), '\n')
}

func encode(b []byte, s, special string) []byte {
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			b = append(b, ascii.Escape(s[i])...)
			continue
		}
		b = append(b, s[i])
	}
	return b
}
