package extract

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// decideDOI looks for a DOI without a scheme at i: "10.", a registrant code, "/" and a suffix (ISO
// 26324, 4.2). The registrant code has four to nine digits. More numbers may follow, each after a
// dot.
func (s *scanner) decideDOI(i int) bool {
	if !s.o.Bare.Has(DOI) || !s.follows(i, "10.") {
		return false
	}
	slash := s.registrant(i + len("10."))
	if slash < 0 || !is(s.peek(slash+1), classURI|classSpace) {
		return false
	}
	s.hit = hit{kind: DOI, start: i}
	end, ok := s.bare(i, slash)
	if !ok || !s.isWholeDOI(end, slash) {
		return false
	}
	s.endBeforeNext(slash)
	s.hit.end = s.segs[len(s.segs)-1].end
	if s.short || s.hit.end <= slash+1 || !hasAlnum(s.b[slash+1:s.hit.end]) {
		return false
	}
	s.texts.scratch = s.appendSpelling(s.texts.scratch[:0], true)
	s.hit.target = "doi:" + escapeDOI(string(s.texts.scratch))
	return true
}

func (s *scanner) registrant(i int) int {
	from := i
	for ascii.IsDigit(s.peek(i)) {
		i++
	}
	if i-from < 4 || i-from > 9 {
		return -1
	}
	for s.peek(i) == '.' && ascii.IsDigit(s.peek(i+1)) && i < from+maxLabel {
		for i++; ascii.IsDigit(s.peek(i)) && i < from+maxLabel; i++ {
		}
	}
	if s.peek(i) != '/' {
		return -1
	}
	return i
}

// endBeforeNext ends the hit before a comma or semicolon that is followed by another DOI, as in a
// list without spaces.
func (s *scanner) endBeforeNext(slash int) {
	last := &s.segs[len(s.segs)-1]
	for i := max(last.start, slash+1); i+1 < last.end; i++ {
		if c := s.b[i]; (c == ',' || c == ';') && s.follows(i+1, "10.") && s.registrant(i+1+len("10.")) >= 0 {
			last.end = i
			return
		}
	}
}

// isWholeDOI reports whether the DOI that has been read up to end is complete. A DOI in the form of
// a SICI (ANSI/NISO Z39.56) can contain "<" or "[", at which the scanner stops. isWholeDOI first
// extends the hit to the end of such a DOI. Examples are
//
//	10.1002/(SICI)1097-4636(199823)43:4<555::AID-JBM1>3.0.CO;2-X
//	10.1890/0012-9658(2001)082[1655:ETDOTE]2.0.CO;2
//
// An incomplete DOI is not reported, because the beginning of a DOI can be a different valid DOI.
func (s *scanner) isWholeDOI(end, slash int) bool {
	if end <= slash {
		return false
	}
	if tail := s.sici(end); tail > 0 {
		s.segs[len(s.segs)-1].end = tail
		end = tail
	}
	s.texts.scratch = s.appendSpelling(s.texts.scratch[:0], true)
	switch c := s.peek(end); {
	case c == '(':
		return false // the closing parenthesis is missing
	case c == '<' || c == '[' || c == '&':
		return !isSICI(s.texts.scratch)
	case c == '>' && s.hit.delimiter != '<':
		return s.before(s.hit.start) == '<' || !isSICI(s.texts.scratch)
	case c >= 0x80:
		r, _ := s.char(end)
		return isUnspaced(r) || !unicode.In(r, unicode.L, unicode.M, unicode.Nd)
	case is(c, classSpace) && isSICI(s.texts.scratch):
		return isVersioned(s.texts.scratch)
	}
	return true
}

// sici returns the end of the part of a SICI that begins with the bracket at i, or 0 if there is no
// such part. This part consists of the location in brackets, the numbers, the version of the
// standard, and the check character.
//
//	"<" location ">" digit "." digit "." 2letter ";" digit [ "-" check ]
func (s *scanner) sici(i int) int {
	closing := byte('>')
	if s.peek(i) == '[' {
		closing = ']'
	} else if s.peek(i) != '<' {
		return 0
	}
	const maxLocation = 64
	k := i + 1
	for ; s.peek(k) != closing; k++ {
		if c := s.peek(k); k > i+maxLocation || c <= ' ' || c == '<' || c == '"' || c >= 0x7f {
			return 0
		}
	}
	for _, class := range "d.d.LL;d" {
		c := s.peek(k + 1)
		if class == 'd' && !ascii.IsDigit(c) || class == 'L' && !ascii.IsLetter(c) || class != 'd' && class != 'L' && rune(c) != class {
			return 0
		}
		k++
	}
	k++
	if c := s.peek(k + 1); s.peek(k) == '-' && (isAlnum(c) || c == '#') && !isAlnum(s.peek(k+2)) {
		k += 2
	}
	return k
}

func isSICI(b []byte) bool {
	if bytes.Contains(bytes.ToUpper(b), []byte("(SICI)")) {
		return true
	}
	n := bytes.IndexByte(b, '(')
	return n >= 9 && b[n-5] == '-' && digits(b[n-9:]) == 4 && digits(b[n-4:]) >= 3 && n+5 < len(b) && digits(b[n+1:]) >= 4
}

// isVersioned reports whether a SICI ends with its version, as in "3.0.CO;2-X".
func isVersioned(b []byte) bool {
	n := bytes.LastIndexByte(b, ';')
	return n > 6 && n+1 < len(b) && ascii.IsDigit(b[n+1]) && ascii.IsLetter(b[n-1]) && ascii.IsLetter(b[n-2]) && b[n-3] == '.'
}

// escapeDOI escapes the characters of a DOI that a path cannot contain. It keeps valid
// percent-encodings, because DOIs are often copied from links.
func escapeDOI(doi string) string {
	var b strings.Builder
	for i := range len(doi) {
		if c := doi[i]; c == '%' && i+2 < len(doi) && ascii.IsHex(doi[i+1]) && ascii.IsHex(doi[i+2]) {
			b.WriteByte(c)
		} else {
			b.WriteString(uri.EscapePath(doi[i : i+1]))
		}
	}
	return b.String()
}

// wholeLink reports whether the identifier that has been read up to end is complete. This can be
// false for a doi: URI or a link to doi.org. If the DOI continues with characters that a URI cannot
// contain, wholeLink first extends the hit; see isWholeDOI.
func (s *scanner) wholeLink(colon, end int) bool {
	rest := s.b[colon+1 : end]
	at := 0
	if n := bytes.Index(rest, []byte("/10.")); n >= 0 && bytes.Contains(rest[:n], []byte("doi.org")) {
		at = n + 1
	} else if !bytes.HasPrefix(rest, []byte("10.")) || !s.precedes(colon+1, "doi:") {
		return true
	}
	slash := s.registrant(colon + 1 + at + len("10."))
	if slash < 0 || slash >= end {
		return true
	}
	if !s.isWholeDOI(end, slash) {
		return false
	}
	if last := s.segs[len(s.segs)-1].end; last > end {
		s.hit.end = last
		s.texts.scratch = s.appendSpelling(s.texts.scratch[:0], true)
		text := string(s.texts.scratch)
		n := colon + 1 - s.hit.start
		s.hit.target = text[:n] + escapeLink(text[n:])
	}
	return true
}

func escapeLink(rest string) string {
	return strings.NewReplacer("<", "%3C", ">", "%3E", "[", "%5B", "]", "%5D").Replace(rest)
}
