package extract

import "github.com/nomen-project/nomen/uri"

// plainURI reads identifiers as nearly all are. It leaves aside what has a sign
// that may mean something else in a text; see [scanner.ends].
var plainURI = uri.NewCutter("()':&")

// plain looks for an identifier as take does, and reads it only once, as a URI. But
// it finds none that has, in it or around it, anything that needs to be thought
// about: a delimiter, a sign of the sentence at its end, a line that goes on, an
// unusual host.
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
	if port, ok := u.Port(); ok && !isPortNumber(port) || isURN(u.String()) || s.mayWrap(start+n) {
		return false
	}
	s.texts.keep(n)
	s.reach = max(s.reach, start+n)
	s.hit = hit{start: start, end: start + n, uri: u}
	s.segs = append(s.segs[:0], segment{start: start, end: start + n})
	return true
}
