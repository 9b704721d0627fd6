package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A token is the state of reading an identifier that no delimiters enclose.
type token struct {
	start  int  // start of the identifier
	limit  int  // offset at which the identifier is too long
	depth  int  // number of open parentheses
	open   int  // offset of the outermost open parenthesis
	quotes int  // number of apostrophes
	quoted bool // an apostrophe precedes the identifier
	hash   bool
}

// bare reads an identifier that no delimiters enclose. The identifier ends before the first
// character that it cannot contain, or continues on the next line if the text is wrapped. Sentence
// punctuation at the end is excluded.
func (s *scanner) bare(start, colon int) (end int, ok bool) {
	t := token{start: start, limit: start + s.limit, quoted: s.before(start) == '\''}
	s.segs = append(s.segs[:0], segment{start: start})
	from := colon + 1
	for {
		raw := s.run(&t, from)
		if raw < len(s.b) && s.b[raw] == '[' && len(s.segs) == 1 {
			if from = s.literal(colon+3, raw); from > raw {
				continue
			}
		}
		if raw >= t.limit {
			s.tail = true
			return 0, false
		}
		last := &s.segs[len(s.segs)-1]
		last.end = raw
		next := s.wrapped(&t, raw, last.start)
		if next < 0 {
			break
		}
		last.hyphen = s.b[raw-1] == '-' && s.b[raw] != '\\'
		s.segs = append(s.segs, segment{start: next, escape: s.escaped(raw, next)})
		from = next
	}
	last := &s.segs[len(s.segs)-1]
	if s.isCutShort(last.end, colon) {
		return 0, false
	}
	if len(s.segs) == 1 {
		last.end = s.trim(&t, colon+1, last.end)
	} else {
		last.end = s.trim(&t, last.start, last.end)
	}
	if last.end == last.start && len(s.segs) > 1 && (last.escape == "" || strings.Contains(".,;:!?'%*_~(&", last.escape)) {
		s.segs = s.segs[:len(s.segs)-1]
	}
	return s.segs[len(s.segs)-1].end, true
}

// literal returns the end of the IP literal that begins at i, if it is the host of the authority
// that begins at low.
func (s *scanner) literal(low, i int) int {
	if i < low || s.b[low-1] != '/' || i > low && (s.b[i-1] != '@' || bytes.IndexByte(s.b[low:i], '/') >= 0) {
		return i
	}
	for k := i + 1; k < i+maxLocal; k++ {
		switch c := s.peek(k); {
		case c == ']':
			return k + 1
		case !is(c, classURI):
			return i
		}
	}
	return i
}

func (s *scanner) run(t *token, i int) int {
	from := i
	b := s.b[:min(len(s.b), t.limit)]
	for ; i < len(b); i++ {
		c := b[i]
		if is(c, classPlain) {
			continue
		}
		if c >= utf8.RuneSelf {
			n := s.beyond(i)
			if n == 0 {
				break
			}
			i += n - 1
			continue
		}
		if !is(c, classURI) {
			break
		}
		if c == ':' {
			if n := s.endBeforeColon(t, i); n >= 0 {
				s.work += i - from
				s.reach = max(s.reach, n)
				return n
			}
		} else if s.ends(t, i, c) {
			break
		}
	}
	s.work += i - from
	s.reach = max(s.reach, i)
	if i == len(s.b) && i < t.limit {
		s.short = s.short || !s.final
	}
	return i
}

func (s *scanner) ends(t *token, i int, c byte) bool {
	switch c {
	case '(':
		if t.depth++; t.depth == 1 {
			t.open = i
		}
	case ')':
		if t.depth == 0 {
			return true
		}
		t.depth--
	case '\'':
		t.quotes++
		return t.quoted
	case '#':
		if t.hash {
			return true
		}
		t.hash = true
	case '%':
		return !s.isEscape(i) && !s.isBrokenEscape(i)
	case '&':
		return s.isMarkup(i)
	}
	return false
}

func (s *scanner) isEscape(i int) bool { return ascii.IsHex(s.peek(i+1)) && ascii.IsHex(s.peek(i+2)) }

func (s *scanner) isBrokenEscape(i int) bool {
	if s.o.OneLine {
		return false
	}
	if i++; ascii.IsHex(s.peek(i)) {
		i++
	}
	c := s.peek(i)
	return c == '\n' || c == '\r'
}

// isMarkup reports whether the ampersand at i begins a character reference for "<", ">", a
// quotation mark, an apostrophe or a no-break space. An identifier ends before such a reference,
// which belongs to markup.
func (s *scanner) isMarkup(i int) bool {
	switch s.peek(i + 1) {
	case 'l', 'g':
		return s.follows(i+2, "t;")
	case 'q':
		return s.follows(i+2, "uot;")
	case 'a':
		return s.follows(i+2, "pos;")
	case 'n':
		return s.follows(i+2, "bsp;")
	case '#':
		return s.isMarkupNumber(i + 2)
	}
	return false
}

func (s *scanner) follows(i int, text string) bool {
	for k := range len(text) {
		if s.peek(i+k) != text[k] {
			return false
		}
	}
	return true
}

// isMarkupNumber is like [scanner.isMarkup], for the text after "&#".
func (s *scanner) isMarkupNumber(i int) bool {
	const maxDigits = 6
	base := rune(10)
	if s.peek(i) == 'x' || s.peek(i) == 'X' {
		base = 16
		i++
	}
	n := rune(0)
	for k := range maxDigits {
		c := s.peek(i + k)
		if c == ';' {
			switch n {
			case '"', '\'', '<', '>', '\u00a0':
				return true
			}
			return false
		}
		if !ascii.IsDigit(c) && (base == 10 || !ascii.IsHex(c)) {
			return false
		}
		n = n*base + rune(ascii.Unhex(c))
	}
	return false
}

// endBeforeColon returns the end of the identifier t if the colon at i does not belong to t but to
// the next identifier in a list. For the second colon in "http://a/,http://b/", it returns the
// offset of the comma. If the colon belongs to t, endBeforeColon returns -1.
func (s *scanner) endBeforeColon(t *token, i int) int {
	if s.peek(i+1) != '/' || s.peek(i+2) != '/' {
		return -1
	}
	low := s.word(i)
	if low <= t.start || s.b[low-1] != ',' && s.b[low-1] != ';' || !s.isKnown(low, i) {
		return -1
	}
	return low - 1
}

// beyond returns the length of the non-ASCII character at i if this character belongs to the
// identifier, and otherwise 0.
func (s *scanner) beyond(i int) int {
	if !s.o.IRI {
		return 0
	}
	r, n := s.char(i)
	if isInIRI(r) || isJoint(r) && s.peek(i+n) != 0 && s.isWordAt(i+n) {
		return n
	}
	return 0
}

func (s *scanner) isWordAt(i int) bool {
	if s.b[i] < utf8.RuneSelf {
		return isAlnum(s.b[i])
	}
	r, _ := s.char(i)
	return isInIRI(r)
}

// isJoint reports whether a character joins the parts of a word. Such characters are hyphens, the
// en dash and the middle dot.
func isJoint(r rune) bool { return r >= '\u2010' && r <= '\u2013' || r == '\u00b7' }

func (s *scanner) char(i int) (rune, int) {
	if !utf8.FullRune(s.b[i:]) {
		s.short = s.short || !s.final
	}
	return utf8.DecodeRune(s.b[i:])
}

// isInIRI reports whether a character is common in IRIs. It accepts letters, marks, digits and
// pictographs, but not punctuation, white space or fullwidth forms of delimiters.
func isInIRI(r rune) bool {
	switch {
	case r == utf8.RuneError:
		return false
	case r == '\u200c' || r == '\u200d': // joiners, which Indic scripts need
		return true
	case r >= '\uff00' && r <= '\uffef':
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So)
}

// isCutShort reports whether the character at i, where an identifier with "://" ends, shows that
// the text is not an identifier. The text may be a template such as http://a/{id} or http://a:%d/,
// a pattern such as http://a\.example/, or an IRI when only URIs are requested. A URN is always
// accepted (draft of 2012, section 2.5.3).
func (s *scanner) isCutShort(i, colon int) bool {
	if i == len(s.b) {
		s.short = s.short || !s.final
		return false
	}
	if c := s.peek(colon + 1); c != '/' && c != '\\' || i < colon+3 {
		return false
	}
	switch c := s.b[i]; {
	case c == '{':
		return true
	case c == '[':
		return bytes.IndexByte(s.b[colon:i], '?') >= 0
	case c == '\\':
		return s.peek(i+1) == '.'
	case c == '%' || c == '<':
		return s.b[i-1] == ':' && isAllAuthority(s.b[colon+3:i])
	case c >= utf8.RuneSelf:
		r, n := s.char(i)
		if isJoint(r) {
			return s.peek(i+n) != 0 && s.isWordAt(i+n)
		}
		if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			return false
		}
		return !isUnspaced(r) || s.b[i-1] == '.' && isAllAuthority(s.b[colon+3:i])
	}
	return false
}

// isAllAuthority reports whether b, which follows "://", consists of an authority alone.
func isAllAuthority(b []byte) bool { return !bytes.ContainsAny(b, "/?#") }

// isUnspaced reports whether a character belongs to a script without spaces between words. Such a
// character may begin a new word.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// trim returns the end of b[low:end] without sentence punctuation.
func (s *scanner) trim(t *token, low, end int) int {
	if t.depth > 0 && t.open >= low {
		end = t.open
	}
	mark := s.before(t.start)
	if n := end - 2; n > low && t.quotes == 1 && s.b[n] == '\'' && s.b[n+1] == 's' {
		end = n // http://a.example/'s owner
	}
	for end > low {
		switch c := s.b[end-1]; c {
		case '.', ',', ';', ':', '!', '?':
		case '\'':
			if t.quotes%2 == 0 {
				return end
			}
			t.quotes--
		case '*', '_', '~':
			if c != mark {
				return end
			}
		case '%': // an incomplete escape
		default:
			if end-low >= 2 && s.b[end-2] == '%' {
				end--
				break
			}
			return end
		}
		end--
	}
	return end
}

// hasAuthority reports whether the text after a scheme begins with a plausible authority, and not
// with a pattern, a variable or an ellipsis. In angle brackets, an authority only needs to contain
// a letter or digit.
func (s *scanner) hasAuthority(name, b []byte) bool {
	if len(b) < 3 || b[0] != '/' || b[1] != '/' {
		return false
	}
	b = b[2:]
	if b[0] == '/' {
		return isLocalScheme(name) && (len(b) == 1 || b[1] != '/')
	}
	n, ok := authority(b)
	s.work += n
	return ok || s.hit.delimiter == '<' && hasAlnum(b[:n])
}

// isLocalScheme reports whether a scheme allows an empty authority. This is true for all schemes
// except those whose URLs name a server.
func isLocalScheme(name []byte) bool {
	switch strings.ToLower(string(name)) {
	case "http", "https", "ftp", "ftps", "ws", "wss", "gopher", "telnet", "ssh", "sftp", "nntp", "imap", "pop":
		return false
	}
	return true
}

// authority returns the length of the authority at the start of b. It also reports whether the
// authority has the form [userinfo "@"] host [":" port], where the host is a name or an address.
func authority(b []byte) (n int, ok bool) {
	host, colon, ok := 0, -1, true
	last := byte('.') // the previous character; a period at the beginning
	for i, c := range b {
		if is(c, classAlnum) {
			last = c
			continue
		}
		switch c {
		case '/', '?', '#':
			return i, ok && isHost(b[host:i], colon-host)
		case '@':
			host, colon, ok, c = i+1, -1, true, '.'
		case ':':
			if colon < 0 {
				colon = i
			}
		case '.':
			ok = ok && last != '.' && last != '-'
		case '-':
			ok = ok && last != '.'
		case '_', '~', '%', '[', ']':
		default:
			ok = ok && c >= utf8.RuneSelf
		}
		last = c
	}
	return len(b), ok && isHost(b[host:], colon-host)
}

// isHost reports whether b is a host with an optional port. The caller has checked its characters.
func isHost(b []byte, colon int) bool {
	if len(b) > 0 && b[0] == '[' {
		i := bytes.IndexByte(b, ']')
		return i > 2 && isPort(b[i+1:])
	}
	if colon < 0 {
		colon = len(b)
	}
	return colon > 0 && colon <= 3*maxHost && b[colon-1] != '-' && hasAlnum(b[:colon]) && isPort(b[colon:])
}

func hasAlnum(b []byte) bool {
	for _, c := range b {
		if is(c, classAlnum) || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func isPort(b []byte) bool {
	return len(b) == 0 || b[0] == ':' && isPortNumber(b[1:])
}

func isPortNumber[T string | []byte](digits T) bool {
	if len(digits) > 5 {
		return false
	}
	n := 0
	for i := range len(digits) {
		if !ascii.IsDigit(digits[i]) {
			return false
		}
		n = n*10 + int(digits[i]-'0')
	}
	return n <= 65535
}
