package extract

import (
	"bytes"

	"github.com/nomen-project/nomen/uri"
)

// plainURI parses common identifiers. It stops at the characters that may have another meaning in
// text; see [scanner.ends].
var plainURI = uri.NewCutter("()':&")

// plain is a fast version of [scanner.take] for common identifiers. It returns false if the
// identifier may have a delimiter, punctuation at its end, a continuation on the next line, or an
// unusual host. The caller must then use take.
func (s *scanner) plain(start int) bool {
	if c := s.before(start); c == '<' || c == '"' || s.opening(start) != 0 {
		return false
	}
	window := s.b[start:min(start+s.limit, len(s.b))]
	u, ok := plainURI.Cut(s.texts.draft(window, shortDraft))
	if ok && len(u.String()) == shortDraft {
		u, ok = plainURI.Cut(s.texts.draft(window, longDraft))
	}
	if !ok {
		return false
	}
	n := len(u.String())
	s.work += n
	if n == len(window) || n == longDraft || !is(window[n], classEnd) || !is(window[n-1], classLast) {
		return false
	}
	if window[n] == '<' && bytes.Contains(window[:n], []byte("/10.")) {
		return false // may be an old DOI with a "<"; see wholeLink
	}
	if port, ok := u.Port(); ok && !isPortNumber(port) || isURN(u.String()) || s.mayWrap(start+n) {
		return false
	}
	s.texts.keep(n)
	s.reach = max(s.reach, start+n)
	s.hit = hit{start: start, end: start + n, uri: u}
	s.segs = append(s.segs[:0], segment{start: start, end: start + n})
	return true
}
