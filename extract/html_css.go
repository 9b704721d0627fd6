package extract

import (
	"bytes"
	"strconv"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// A cssScanner finds the references in CSS: url() and src() functions, and the strings of @import
// and image-set() (CSS Syntax Level 3, Values Level 4). It ignores the names of namespaces.
type cssScanner struct {
	in    *source.Mapped
	i     int
	yield func(ref *source.Mapped, where string)
	value source.Mapped
}

func scanCSS(in *source.Mapped, yield func(ref *source.Mapped, where string)) {
	s := cssScanner{in: in, yield: yield}
	for s.i < len(in.Text) {
		s.token()
	}
}

func (s *cssScanner) rest() []byte { return s.in.Text[s.i:] }

// token reads one token, or skips text that contains no references.
func (s *cssScanner) token() {
	rest := s.rest()
	switch c := rest[0]; {
	case c == '/' && len(rest) > 1 && rest[1] == '*':
		s.comment()
	case c == '"' || c == '\'':
		s.string()
	case c == '@':
		s.i++
		s.atRule(s.name())
	case cssName(c), c == '\\' && len(rest) > 1 && !cssNewline(rest[1]):
		s.function(s.name())
	default:
		s.i++
	}
}

func cssName(c byte) bool {
	return ascii.IsLetter(c) || ascii.IsDigit(c) || c == '-' || c == '_' || c >= 0x80
}

func cssNewline(c byte) bool { return c == '\n' || c == '\r' || c == '\f' }

// name reads a name and decodes its escapes. It truncates a very long name with escapes.
func (s *cssScanner) name() []byte {
	start := s.i
	for s.i < len(s.in.Text) && cssName(s.in.Text[s.i]) {
		s.i++
	}
	name := s.in.Text[start:s.i]
	if s.i == len(s.in.Text) || s.in.Text[s.i] != '\\' {
		return name
	}
	decoded := append([]byte(nil), name[:min(len(name), maxName)]...)
	for s.i < len(s.in.Text) {
		rest := s.rest()
		switch {
		case cssName(rest[0]):
			decoded = append(decoded, rest[0])
			s.i++
		case rest[0] == '\\' && len(rest) > 1 && !cssNewline(rest[1]):
			n, text := cssEscape(rest)
			decoded = append(decoded, text...)
			s.i += n
		default:
			return decoded
		}
		decoded = decoded[:min(len(decoded), 2*maxName)]
	}
	return decoded
}

func (s *cssScanner) comment() {
	n := bytes.Index(s.rest()[2:], []byte("*/"))
	if n < 0 {
		s.i = len(s.in.Text)
		return
	}
	s.i += 2 + n + 2
}

func (s *cssScanner) space() {
	for s.i < len(s.in.Text) {
		switch rest := s.rest(); {
		case isSpace(rest[0]):
			s.i++
		case bytes.HasPrefix(rest, []byte("/*")):
			s.comment()
		default:
			return
		}
	}
}

func (s *cssScanner) atRule(name []byte) {
	switch {
	case ascii.EqualFold(name, "import"):
		s.space()
		s.quoted("@import")
	case ascii.EqualFold(name, "namespace"):
		if n := bytes.IndexByte(s.rest(), ';'); n >= 0 {
			s.i += n
		} else {
			s.i = len(s.in.Text)
		}
	}
}

func (s *cssScanner) function(name []byte) {
	if s.i == len(s.in.Text) || s.in.Text[s.i] != '(' {
		return
	}
	switch {
	case ascii.EqualFold(name, "url"), ascii.EqualFold(name, "src"):
		s.i++
		s.url(ascii.EqualFold(name, "url"))
	case ascii.EqualFold(name, "image-set"), ascii.EqualFold(name, "-webkit-image-set"):
		s.i++
		s.imageSet()
	}
}

// url reads the text between the parentheses of url(). Without quotation marks, white space and
// certain characters inside the text make the url() invalid (CSS Syntax Level 3, section 4.3.6).
func (s *cssScanner) url(bare bool) {
	for s.i < len(s.in.Text) && isSpace(s.in.Text[s.i]) {
		s.i++
	}
	if s.quoted("url()") || !bare {
		return
	}
	s.value.Reset()
	good := true
	for s.i < len(s.in.Text) && s.in.Text[s.i] != ')' {
		switch c := s.in.Text[s.i]; {
		case c == '\\':
			good = good && !(len(s.rest()) > 1 && cssNewline(s.rest()[1]))
			s.escape()
			continue
		case c == '"', c == '\'', c == '(', c < ' ' && !isSpace(c), c == 0x7F:
			good = false
		case isSpace(c):
			good = good && s.spaceEnds()
		}
		s.in.Pieces(&s.value, s.i, s.i+1)
		s.i++
	}
	if good { // the end of the style sheet also closes the url()
		s.yield(&s.value, "url()")
	}
}

// spaceEnds reports whether only white space is left before the closing parenthesis or the end of
// the text. If so, it moves to the last octet of the white space.
func (s *cssScanner) spaceEnds() bool {
	i := s.i
	for i < len(s.in.Text) && isSpace(s.in.Text[i]) {
		i++
	}
	if i < len(s.in.Text) && s.in.Text[i] != ')' {
		return false
	}
	s.i = i - 1
	return true
}

// imageSet reads the strings of image-set(). All strings except the arguments of type() are
// references.
func (s *cssScanner) imageSet() {
	for depth := 1; s.i < len(s.in.Text); {
		switch c := s.in.Text[s.i]; {
		case c == '"' || c == '\'':
			if depth == 1 {
				s.quoted("image-set()")
			} else {
				s.string()
			}
		case c == '(':
			depth++
			s.i++
		case c == ')':
			s.i++
			if depth--; depth == 0 {
				return
			}
		case c == ';' || c == '}':
			return
		case cssName(c):
			if name := s.name(); ascii.EqualFold(name, "url") || ascii.EqualFold(name, "src") {
				if s.i < len(s.in.Text) && s.in.Text[s.i] == '(' {
					s.function(name)
					s.i += min(1, len(s.rest())) // the closing parenthesis
				}
			}
		default:
			s.i++
		}
	}
}

// quoted reads a string that is a reference, and reports whether it found a string.
func (s *cssScanner) quoted(where string) bool {
	if s.i == len(s.in.Text) || s.in.Text[s.i] != '"' && s.in.Text[s.i] != '\'' {
		return false
	}
	if s.string() {
		s.yield(&s.value, where)
	}
	return true
}

// string reads a string into value. It returns false if the string contains a line break.
func (s *cssScanner) string() bool {
	s.value.Reset()
	quote := s.in.Text[s.i]
	s.i++
	for s.i < len(s.in.Text) {
		rest := s.rest()
		n := bytes.IndexAny(rest, "\\\n\r\f\"'")
		if n < 0 {
			n = len(rest)
		}
		s.in.Pieces(&s.value, s.i, s.i+n)
		if s.i += n; s.i == len(s.in.Text) {
			break
		}
		switch c := s.in.Text[s.i]; c {
		case quote:
			s.i++
			return true
		case '\n', '\r', '\f':
			return false
		case '\\':
			s.escape()
		default:
			s.in.Pieces(&s.value, s.i, s.i+1)
			s.i++
		}
	}
	return true
}

func (s *cssScanner) escape() {
	start := s.i
	n, text := cssEscape(s.rest())
	s.i += n
	if text != "" {
		from, to := s.in.Span(start, s.i)
		s.value.Add(source.Unit([]byte(text), from, to))
	}
}

// cssEscape returns the length of the escape at the start of b, and the text it represents. An
// escaped line break represents the empty text.
func cssEscape(b []byte) (n int, text string) {
	for n = 1; n < len(b) && n < 7 && ascii.IsHex(b[n]); n++ {
	}
	switch {
	case n > 1:
		number, _ := strconv.ParseUint(string(b[1:n]), 16, 32) // at most six digits
		text = string(rune(number))                            // U+FFFD if the number is invalid
		if number == 0 {
			text = "\uFFFD"
		}
		if bytes.HasPrefix(b[n:], []byte("\r\n")) {
			n++
		}
		if n < len(b) && isSpace(b[n]) {
			n++
		}
		return n, text
	case len(b) == 1:
		return 1, ""
	case bytes.HasPrefix(b[1:], []byte("\r\n")):
		return len("\\\r\n"), ""
	case cssNewline(b[1]):
		return 2, ""
	default:
		return 2, string(b[1:2])
	}
}
