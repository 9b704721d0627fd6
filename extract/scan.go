package extract

import (
	"bytes"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// MaxLength is the maximum length of an identifier in text, including white space, in octets.
// Longer identifiers are skipped.
const MaxLength = 1 << 16

const (
	maxScheme = 64  // octets of a scheme name
	maxLabel  = 96  // octets of the white space and "URL:" between a delimiter and a scheme
	maxHost   = 254 // octets of a host name, including a trailing dot
	maxLocal  = 64  // octets of the local part of a mail address (RFC 5321, section 4.5.3.1.1)
	maxColumn = 160 // octets of a line of wrapped text
	maxBreak  = 640 // octets of a page footer and the next page header

	maxBehind = 1024 // octets that a decision may examine before pos
	maxAhead  = 2048 // octets that a decision may examine beyond the end of an identifier

	maxExcess = 4 * MaxLength // octets; see limitWork
	perStep   = 64            // how much the excess decreases for each octet that pos advances
)

// scan calls yield for each identifier in b, in order, until yield returns false. It takes time
// linear in len(b).
func scan(b []byte, o Options, yield func(Finding) bool) {
	s := newScanner(o, MaxLength)
	s.b, s.final = b, true
	var f Finding
	for s.next() {
		if s.describe(&f) && !yield(f) {
			return
		}
	}
}

// A segment is a piece of an identifier in the window. The octets between two segments, such as a
// line break or an escape, are not part of the spelling.
type segment struct {
	start, end int
	hyphen     bool   // the segment ends in a hyphen before a line break
	escape     string // the characters of the JSON escape before the segment
}

// A hit is an identifier that may become a finding. Its offsets refer to the window of the scanner.
type hit struct {
	kind       Kind
	start, end int
	delimiter  byte    // may be 0
	uri        uri.URI // valid if the hit has already been parsed
	target     string  // the URI, if it differs from the spelling
}

// A scanner finds identifiers in a document. It holds a part of the document, called the window. It
// looks for an octet that the identifier must have: the colon of a scheme, the "@" of an address,
// or a dot of a host name. From this octet it searches in both directions. Text without such octets
// takes little time.
//
// The findings do not depend on the bounds of the window, provided that the window has maxBehind
// octets before pos and limit+maxAhead octets after pos. The fields pos, minStart and tail hold the
// state of the search. A shorter window is sufficient if the caller adds more text whenever short
// is true.
type scanner struct {
	o     Options
	limit int

	b     []byte // the window
	off   int64  // the offset of b[0] in the document
	final bool   // the window extends to the end of the document
	short bool   // the window ends too early for a decision

	pos      int  // where the search continues
	minStart int  // the end of the last identifier, before which no other may begin
	tail     bool // pos is inside an identifier that is too long

	// The offsets of the next colon, "@", dot, and character that can begin an identifier without a
	// scheme. An offset less than pos is obsolete.
	colon, at, dot, start int
	sought                int // length of the window when these were found

	hit   hit
	segs  []segment // the pieces of the hit
	texts texts
	base  Base // the base of the document

	work   int // number of octets that were examined one by one
	excess int // how far work is ahead of progress; see limitWork
	reach  int // the end of the text that the last decision examined
}

// next finds the next identifier, and stores it in s.hit and its pieces in s.segs. It returns false
// if the document has no further identifier. It also returns false if it needs more of the document
// for a decision. In this case s.short is true.
func (s *scanner) next() bool {
	s.short = false
	if s.sought != len(s.b) {
		s.colon, s.at, s.dot, s.start, s.sought = 0, 0, 0, 0, len(s.b)
	}
	for {
		if s.tail && !s.skipTail() {
			return false
		}
		i := s.candidate()
		if i < 0 {
			s.advance(len(s.b) - s.pos)
			s.pos = len(s.b)
			return false
		}
		s.advance(i - s.pos)
		s.short, s.reach = false, 0
		work := s.work
		pos, ok := s.decide(i)
		if s.short {
			s.pos, s.tail = i, false
			return false
		}
		switch {
		case ok:
			s.pos, s.minStart = s.hit.end, s.hit.end
		case s.tail:
			s.pos = min(s.hit.start+s.limit, len(s.b))
		default:
			s.pos = pos
		}
		s.limitWork(s.work-work, s.pos-i)
		if ok {
			return true
		}
	}
}

// decide looks for an identifier around the octet at i. If it finds none, it returns the offset at
// which to continue.
func (s *scanner) decide(i int) (next int, ok bool) {
	switch s.b[i] {
	case ':':
		ok = s.decideColon(i)
	case '@':
		ok = s.decideAt(i)
	case '.':
		return s.decideDot(i)
	default:
		ok = s.decideBare(i)
	}
	return i + 1, ok
}

// limitWork keeps the scanner's time linear in the length of the text. Without limitWork, decisions
// would read the same octets again and again in text such as "(http://a/(http://a/(...". The
// balance in s.excess grows by work, which is the number of octets that the last decision examined.
// It shrinks by perStep for each of the passed octets, by which pos advanced. If the balance
// exceeds maxExcess, the scanner skips the text that the decision read. Ordinary text never comes
// near this limit.
func (s *scanner) limitWork(work, passed int) {
	s.excess += work
	if s.advance(passed); s.excess > maxExcess && !s.tail {
		s.excess = 0
		s.pos = max(s.pos, s.reach)
		s.minStart = s.pos
	}
}

func (s *scanner) advance(passed int) { s.excess = max(0, s.excess-perStep*passed) }

func newScanner(o Options, limit int) scanner {
	return scanner{o: o, limit: limit, base: outside(o)}
}

// skipTail moves to the end of an identifier that is too long.
func (s *scanner) skipTail() bool {
	i := s.pos
	for i < len(s.b) && (is(s.b[i], classURI) || s.b[i] >= utf8.RuneSelf) {
		i++
	}
	s.pos, s.minStart = i, i
	if i == len(s.b) && !s.final {
		return false
	}
	s.tail = false
	return true
}

// candidate returns the offset of the next octet from which to look for an identifier, or -1.
func (s *scanner) candidate() int {
	i := s.seek(&s.colon, ':')
	if s.o.Mail {
		i = nearer(i, s.seek(&s.at, '@'))
	}
	if s.o.Abbreviated {
		i = nearer(i, s.seek(&s.dot, '.'))
	}
	if s.o.Bare != 0 {
		i = nearer(i, s.seekBare())
	}
	return i
}

// seek returns the offset of the next c, or -1. It stores the offset in cache, and searches again
// only when pos has passed this offset.
func (s *scanner) seek(cache *int, c byte) int {
	if *cache >= s.pos && *cache < len(s.b) && s.b[*cache] == c {
		return *cache
	}
	if *cache == -1 {
		return -1
	}
	*cache = -1
	if i := bytes.IndexByte(s.b[s.pos:], c); i >= 0 {
		*cache = s.pos + i
	}
	return *cache
}

func nearer(i, j int) int {
	if i < 0 || j >= 0 && j < i {
		return j
	}
	return i
}

func (s *scanner) peek(i int) byte {
	if i < len(s.b) {
		return s.b[i]
	}
	s.short = s.short || !s.final
	return 0
}

// before returns the octet before i. It returns a line feed at the start of the document and
// directly after the last identifier.
func (s *scanner) before(i int) byte {
	if i <= s.minStart || i <= 0 {
		return '\n'
	}
	return s.b[i-1]
}

// slide discards the first n octets of the window.
func (s *scanner) slide(n int) {
	s.off += int64(n)
	s.pos -= n
	s.minStart = max(s.minStart-n, 0)
	s.sought = 0
}

func (s *scanner) decideColon(i int) bool {
	if i <= s.minStart || !is(s.b[i-1], classScheme) {
		return false
	}
	next := s.peek(i + 1)
	if next == '\\' {
		n := s.escapedSlash(i + 1)
		return n > 0 && s.escapedSlash(i+1+n) > 0 && s.inString(i) && s.decideHier(i)
	}
	if !is(next, classURI) && !is(next, classSpace) && !(next >= utf8.RuneSelf && s.o.IRI) {
		return false
	}
	if next == '/' && s.peek(i+2) == '/' {
		return s.decideHier(i)
	}
	return s.decideOpaque(i)
}

func (s *scanner) word(i int) int {
	low := max(s.minStart, i-maxScheme)
	j := i
	for j > low && is(s.b[j-1], classScheme) {
		j--
	}
	s.work += i - j
	return j
}

// decideHier looks for an identifier with "://" at i. It accepts any scheme, because the two
// slashes distinguish a URI from other text with a colon.
func (s *scanner) decideHier(i int) bool {
	start := s.schemeStart(s.word(i), i)
	if start < 0 {
		return false
	}
	return s.plain(start) || s.take(start, i, nil)
}

// schemeStart returns the start of the scheme that ends at i, or -1. The run of scheme characters
// before i begins at low. It can begin with other text, as in "...http://a/" and "1.http://a/".
func (s *scanner) schemeStart(low, i int) int {
	for low < i && !ascii.IsLetter(s.b[low]) {
		low++
	}
	if i-low < 2 || !isAlnum(s.b[i-1]) {
		return -1
	}
	if c := s.b[i-1]; c == 'p' || c == 's' { // http and https are by far the most common
		if n := webScheme(s.b[low:i]); n > 0 && n == i-low {
			return low
		}
	}
	if j := s.pastEscape(low, i); j > low && s.isKnown(j, i) {
		return j
	}
	if s.isKnown(low, i) {
		return low
	}
	for j := i - 1; j > low; j-- {
		c := s.b[j-1]
		if isAlnum(c) {
			continue
		}
		if c == '+' { // git+https is a scheme
			return low
		}
		if s.isKnown(j, i) {
			return j
		}
		break
	}
	if bytes.IndexByte(s.b[low:i], '.') >= 0 {
		return -1
	}
	return low
}

// pastEscape returns the start of the name that ends at i. This is low, unless the text at low
// belongs to an escape in a string or a manual page, as in "\nhttp://a/", "\u003chttp://a/" and
// "\fIhttp://a/".
func (s *scanner) pastEscape(low, i int) int {
	if s.before(low) != '\\' {
		return low
	}
	j := low + 1
	switch s.b[low] {
	case 'n', 'r', 't':
	case 'x':
		j += 2
	case 'u':
		j += 4
	case 'f': // a font change, \fI
		return min(low+2, i-1)
	default:
		return low
	}
	if j >= i || ascii.Run(s.b[low+1:j], 0, ascii.IsHex) < j-low-1 {
		return low
	}
	return j
}

// webScheme returns the length of http or https if name is one of these in lower case, and
// otherwise 0.
func webScheme(name []byte) int {
	if string(name) == "https" || string(name) == "http" {
		return len(name)
	}
	return 0
}

func (s *scanner) isKnown(start, end int) bool {
	return end-start <= maxScheme && scheme.Standard().Known(string(s.b[start:end]))
}

// decideOpaque looks for an identifier without "//" whose scheme ends at i. It accepts only schemes
// with a rule, because any word can precede a colon.
func (s *scanner) decideOpaque(i int) bool {
	start := s.word(i)
	for start < i && !ascii.IsLetter(s.b[start]) {
		start++
	}
	if i-start < 2 {
		return false
	}
	if j := s.pastEscape(start, i); j > start && ruleOf(s.b[j:i]) != nil {
		return s.take(j, i, ruleOf(s.b[j:i]))
	}
	switch s.before(start) {
	case '_', '$', '\\', '@', '%', '&':
		return false // it is part of a name
	}
	rule := ruleOf(s.b[start:i])
	if rule == nil {
		return false
	}
	return s.take(start, i, rule)
}

// take reads the identifier that begins at start and whose scheme ends at colon. If a delimiter
// precedes it, take first tries the text up to the closing delimiter. If there is no delimiter, or
// rule r rejects that text, take tries the longest text that can be an identifier.
func (s *scanner) take(start, colon int, r rule) bool {
	s.hit = hit{start: start}
	if end, ok := s.delimited(start, colon); ok {
		s.hit.end, s.hit.delimiter = end, s.opening(start)
		if s.short {
			return false
		}
		if s.accept(colon, r) {
			return true
		}
	}
	s.hit.delimiter = 0
	end, ok := s.bare(start, colon)
	if !ok {
		return false
	}
	s.hit.end = end
	return s.accept(colon, r) && s.wholeLink(colon, end)
}

func (s *scanner) accept(colon int, r rule) bool {
	n := colon + 1 - s.hit.start // the first segment contains the scheme and its colon
	if len(s.segs) == 1 {
		return s.looksRight(s.b[s.hit.start:s.hit.end], n, r)
	}
	s.texts.scratch = s.appendSpelling(s.texts.scratch[:0], true)
	return s.looksRight(s.texts.scratch, n, r)
}

func (s *scanner) looksRight(b []byte, n int, r rule) bool {
	switch {
	case len(b) <= n:
		return false
	case r != nil:
		return r(b[n:])
	default:
		return s.hasAuthority(b[:n-1], b[n:])
	}
}
