package extract

import (
	"bytes"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// fold returns the offset at which a folded line continues. It returns -1 if no backslash at i
// folds the line (RFC 8792, sections 7.1 and 8.1).
func (s *scanner) fold(i int) int {
	if s.peek(i) != '\\' {
		return -1
	}
	if i++; s.peek(i) == '\r' {
		i++
	}
	if s.peek(i) != '\n' {
		return -1
	}
	low := i
	for i++; s.peek(i) == ' ' || s.peek(i) == '\t'; i++ {
		if i > low+maxColumn {
			return -1
		}
	}
	if s.peek(i) == '\\' {
		i++
	}
	if c := s.peek(i); !is(c, classURI) || c == '-' {
		return -1
	}
	return i
}

// unescaped returns the offset at which an identifier continues after the escape at i. It
// recognises the escapes of manual pages, TeX and Markdown ("a\-b", "a\_b", "a\&.b") and of JSON
// ("a\/b", "a\u0026b"). It returns -1 if there is no escape. It also returns -1 if the identifier
// is a URN, because a URN ends before a backslash (draft of 2012, section 2.5.3).
func (s *scanner) unescaped(start, i int) int {
	if s.peek(i) != '\\' || isURN(string(s.b[start:min(start+5, i)])) {
		return -1
	}
	switch s.peek(i + 1) {
	case '-', '_', '#':
		if c := s.peek(i + 2); is(c, classAlnum|classBreak) || c == '\\' {
			return i + 1
		}
	case '/': // in JSON
		if s.inString(start) {
			return i + 1
		}
	case 'u': // in JSON
		n, text := s.unicodeEscape(i)
		if r, _ := utf8.DecodeRuneInString(text); n > len(`\u`) && s.inString(start) && (r < utf8.RuneSelf && is(byte(r), classURI) || s.o.IRI && isInIRI(r)) {
			return i + n
		}
	case '%':
		if s.isEscape(i + 1) {
			return i + 1
		}
	case '&': // zero-width, in a manual page
		if s.peek(i+2) == '.' && is(s.peek(i+3), classAlnum) {
			return i + 2
		}
	}
	return -1
}

// unicodeEscape is like the function [unicodeEscape], for the text at i.
func (s *scanner) unicodeEscape(i int) (n int, text string) {
	const longest = len(`\ud83d\ude00`)
	s.peek(i + longest - 1) // reads the whole escape into the window
	return unicodeEscape(s.b[i:min(i+longest, len(s.b))])
}

// escaped returns the characters of the \uXXXX escape from i to end, or "" if the text is not such
// an escape.
func (s *scanner) escaped(i, end int) string {
	if end-i < len(`\u0026`) || s.b[i] != '\\' || s.b[i+1] != 'u' {
		return ""
	}
	_, text := unicodeEscape(s.b[i:end])
	return text
}

func (s *scanner) escapedSlash(i int) int {
	switch {
	case s.follows(i, `\/`):
		return len(`\/`)
	case s.follows(i, `\u002`) && s.peek(i+5)|0x20 == 'f':
		return len(`\u002f`)
	}
	return 0
}

// inString reports whether offset is inside a string of JSON or a program. It examines the last
// quotation mark before the offset and the text before the quotation mark.
func (s *scanner) inString(offset int) bool {
	low, i := max(0, offset-maxBehind), offset-1
	for i > low && s.b[i] != '\n' && (s.b[i] != '"' || s.b[i-1] == '\\') {
		i--
	}
	s.work += maxBehind / 16
	if i <= low || s.b[i] == '\n' {
		return i == 0 && s.b[0] == '"'
	}
	for i > 0 && isSpace(s.b[i-1]) && s.b[i-1] != '\f' {
		i--
	}
	return i == 0 || bytes.IndexByte([]byte(":[,{=("), s.b[i-1]) >= 0
}

// wrapped returns the offset on the next line at which an identifier continues after the line break
// at i, or -1 if the identifier ends at i. The parameter piece is the start of the last piece of
// the identifier before the line break.
//
// A line that is folded with a backslash always continues on the next line. The same holds for a
// backslash before a punctuation character.
//
// Text without such marks counts as wrapped if all of the following are true:
//
//   - The line ends in a character after which programs break lines, or the next
//     line begins with a character before which they break lines.
//   - The next line begins with text that looks like a piece of an identifier and
//     not like a word.
//   - That piece would not have fitted on the line, or the break splits a
//     percent-encoding.
func (s *scanner) wrapped(t *token, i, piece int) int {
	if next := s.unescaped(t.start, i); next >= 0 {
		if text := s.escaped(i, next); len(text) == 1 && s.ends(t, next-1, text[0]) {
			return -1
		}
		return next
	}
	if next := s.fold(i); next >= 0 && !s.nextWord(t, next).foreign {
		return next
	}
	if i <= piece || !s.mayWrap(i) {
		return -1
	}
	next, lines := s.gap(i)
	if next < 0 || lines == 0 {
		return -1
	}
	if !s.goesOn(t, i, next) || !s.isBrokenAt(i) && !s.isFull(t.start, i, next) {
		return -1
	}
	return next
}

// mayWrap reports whether a line ends at i and the next line may continue the identifier. It is a
// quick check, which returns false in most cases.
func (s *scanner) mayWrap(i int) bool {
	if s.o.OneLine {
		return false
	}
	eol := i
	for s.peek(eol) == ' ' || s.peek(eol) == '\r' || s.peek(eol) == '\t' {
		if eol++; eol > i+8 {
			return false
		}
	}
	if s.peek(eol) != '\n' {
		return false
	}
	if isAlnum(s.b[i-1]) && !s.isBrokenAt(i) && !is(s.leader(eol+1), classURI) {
		return false
	}
	return !s.isNext(eol + 1)
}

// isNext reports whether the line at i begins with another identifier, as in a list.
func (s *scanner) isNext(i int) bool {
	for low := i; i < low+maxLabel && is(s.peek(i), classScheme); i++ {
	}
	return s.peek(i) == ':' && s.peek(i+1) == '/' && s.peek(i+2) == '/'
}

// leader returns the first octet of the text on the line at i, or 0 if this octet is a letter or a
// digit.
func (s *scanner) leader(i int) byte {
	for low := i; i < low+maxColumn; i++ {
		switch c := s.peek(i); {
		case c == ' ' || c == '\t':
		case isAlnum(c):
			return 0
		default:
			return c
		}
	}
	return 0
}

// goesOn reports whether the text at next looks like a continuation of the identifier up to i.
func (s *scanner) goesOn(t *token, i, next int) bool {
	p := s.nextWord(t, next)
	if p.foreign || p.end == next {
		return false
	}
	before, first := s.b[i-1], s.b[next]
	if s.isBrokenAt(i) {
		return ascii.IsHex(first)
	}
	if p.enclosed && p.closing && is(before, classJoin) {
		return true
	}
	switch before {
	case '-':
		return s.b[i-2] != '-' && is(first, classHost) && first != '-' && (p.end-next > 1 || ascii.IsDigit(first))
	case '#':
		return is(first, classPlain) && p.looksLocal
	case '=', '&', '_', '+', '~':
		return is(first, classPlain)
	case ',':
		return is(first, classPlain) && t.depth > 0
	case '/':
		return p.looksLocal && !p.assigns && s.beginsSegment(t, i, next, p.end)
	case '?':
		return p.equals
	case ':':
		return p.looksLocal && isURN(string(s.b[t.start:min(t.start+5, i)]))
	}
	switch first {
	case '&', '?':
		return p.equals
	case '%':
		return s.isEscape(next)
	}
	return false
}

// beginsSegment reports whether the word from next to end may follow the slash before i. It returns
// false for a word that looks like a personal name, a telephone number, a variable or a text
// formatter request. A host name may only follow if the identifier already has a path.
func (s *scanner) beginsSegment(t *token, i, next, end int) bool {
	word := s.b[next:end]
	slash := bytes.IndexByte(word, '/')
	switch word[0] {
	case '#', '$', '=', '*':
		return false
	case '+':
		return len(word) > 1 && !ascii.IsDigit(word[1])
	case '@':
		return slash > 0
	case '.':
		return len(word) > len(".SH")
	}
	return slash < 0 || !endsAtRoot(s.b[t.start:i]) || !isDomain(word[:slash], false)
}

func endsAtRoot(b []byte) bool {
	for range len("///") {
		n := bytes.IndexByte(b, '/')
		if n < 0 {
			return false
		}
		b = b[n+1:]
	}
	return len(b) == 0
}

func (s *scanner) isBrokenAt(i int) bool {
	return s.b[i-1] == '%' || s.b[i-2] == '%'
}

// A nextWord describes the first word of a line that may continue an identifier.
type nextWord struct {
	end        int  // end of the part that an identifier can contain
	foreign    bool // the word begins another identifier, or is the name of a field
	enclosed   bool // an opening parenthesis or bracket precedes the identifier, and the identifier has no open parenthesis
	closing    bool // a closing parenthesis or bracket follows the word
	looksLocal bool // the word looks like part of a path or query
	assigns    bool // the word looks like name=value
	equals     bool // the word has an equals sign
}

func (s *scanner) nextWord(t *token, i int) nextWord {
	sub := token{start: i, limit: t.limit, depth: t.depth, quoted: t.quoted, hash: t.hash}
	p := nextWord{end: s.run(&sub, i)}
	open := s.before(t.start)
	p.enclosed = (open == '(' || open == '[') && t.depth == 0
	closing := s.peek(p.end)
	p.closing = closing == ')' || closing == ']'
	word := s.b[i:p.end]
	if n := bytes.IndexByte(word, ':'); n >= 0 {
		rest := word[n+1:]
		p.foreign = len(rest) == 0 || bytes.HasPrefix(rest, []byte("//")) || ruleOf(word[:n]) != nil
	}
	p.foreign = p.foreign || bytes.HasPrefix(word, []byte("www.")) || isRuler(word)
	word = bytes.TrimRight(word, ".,;:!?'")
	n := bytes.IndexByte(word, '=')
	p.equals = n >= 0
	p.assigns = n > 0 && !bytes.ContainsAny(word[:n], "/?&%") || closing == ' ' && s.peek(p.end+1) == '='
	p.looksLocal = looksLocal(word)
	return p
}

// isRuler reports whether a word is the start of a dividing line, a heading or a command option,
// such as "____", "===", "-----Original" and "--all".
func isRuler(word []byte) bool {
	if len(word) < 2 || word[0] != word[1] || isAlnum(word[0]) {
		return false
	}
	return word[0] != '_' || !hasAlnum(word)
}

// looksLocal reports whether a word looks like part of a path or query, and not like a word of a
// natural language.
func looksLocal(word []byte) bool {
	slashes, digits, hyphens, letters := 0, 0, 0, 0
	for _, c := range word {
		switch {
		case c == '.' || is(c, classSign):
			return true
		case c == '/':
			slashes++
		case c == '-':
			hyphens++
		case ascii.IsDigit(c):
			digits++
		default:
			letters++
		}
	}
	switch {
	case slashes > 1:
		return true
	case slashes == 1:
		return len(word) > 7 // longer than and/or, TCP/IP, HTTP/2
	case letters == 0:
		return digits > 4 && hyphens == 0 // not a year or a range of years
	}
	return digits > 0 || hyphens > 1
}

// isFull reports whether the text at next would not have fitted on the line that ends at i. The
// text extends from next to the first character after which a line can be broken.
func (s *scanner) isFull(start, i, next int) bool {
	line := s.lineStart(i)
	if i-line > maxColumn {
		return false // lines of such a length are not wrapped text
	}
	chunk := next
	for chunk < next+maxColumn && is(s.peek(chunk), classURI) {
		chunk++
		if is(s.b[chunk-1], classBreak) {
			break
		}
	}
	width := 0
	if line > 0 && line <= start {
		width = line - 1 - s.lineStart(line-1)
	}
	if low := s.lineStart(next); low > i {
		rest := s.line(next)
		if bytes.IndexByte(rest, ' ') >= 0 { // a single word may be longer than any line
			width = max(width, next+len(rest)-low)
		}
	}
	s.work += chunk - next + 2*maxColumn/16
	return i-line+chunk-next >= width
}
