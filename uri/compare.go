package uri

import "strings"

const maxRedirects = 16

// Equivalent reports whether a and b have the same normal form at level l. For example,
// http://a/%7e and HTTP://A/~ are equivalent at [LevelPercent]. URIs that are not equivalent may
// still identify the same resource (draft of 1993, Uses of names; draft of 2003 and RFC 3986,
// section 6.1).
//
// URIs of different dialects are never equivalent, and the zero URI is not equivalent to anything.
// Equivalent compares the two spellings directly, without building the normal forms, so it does not
// allocate.
func Equivalent(a, b URI, l Level, rules ...SchemeRules) bool {
	if !a.IsValid() || a.dialect != b.dialect {
		return false
	}
	if a.s == b.s {
		return true
	}
	if l == LevelString {
		return false
	}
	na, nb := newNormalizer(a, l, rules), newNormalizer(b, l, rules)
	return sameFront(&na, &nb) && samePath(&na, &nb) && sameBack(&na, &nb)
}

// Compare returns the lowest level, up to [LevelScheme], at which a and b are equivalent. It
// returns false if there is no such level.
func Compare(a, b URI, rules ...SchemeRules) (Level, bool) {
	return Comparer{Rules: rules}.Compare(a, b)
}

// A Comparer compares URIs with more options than [Compare]. The zero Comparer compares like the
// function Compare.
type Comparer struct {
	// Rules are the equivalence rules of the schemes that the caller knows.
	Rules []SchemeRules

	// NoFragment makes the Comparer ignore fragments. Set it when comparing URIs to decide on a
	// network action, such as a request (draft of 2003 and RFC 3986, section 6.1).
	NoFragment bool

	// Redirects returns the target of an observed redirect from the given URI, or false if no
	// redirect was observed. [LevelProtocol] treats a URI and the target of its redirect as
	// equivalent (draft of 2003 and RFC 3986, section 6.2.4). The argument is always in normal form
	// at [LevelScheme].
	Redirects func(URI) (URI, bool)
}

// Equivalent is like the function [Equivalent], with the options of c.
func (c Comparer) Equivalent(a, b URI, l Level) bool {
	if c.NoFragment {
		a, b = a.WithoutFragment(), b.WithoutFragment()
	}
	if Equivalent(a, b, min(l, LevelScheme), c.Rules...) {
		return true
	}
	if l < LevelProtocol || c.Redirects == nil {
		return false
	}
	return Equivalent(c.follow(a), c.follow(b), LevelScheme, c.Rules...)
}

// Compare is like the function [Compare], with the options of c. If Redirects is set, it also tries
// [LevelProtocol].
func (c Comparer) Compare(a, b URI) (Level, bool) {
	for l := LevelString; l < levels; l++ {
		if c.Equivalent(a, b, l) {
			return l, true
		}
	}
	return 0, false
}

func (c Comparer) follow(u URI) URI {
	for range maxRedirects {
		v, ok := c.Redirects(u.Normalize(LevelScheme, c.Rules...))
		if !ok {
			break
		}
		u = v
	}
	return u
}

// WithoutFragment returns u without its fragment, which is the form to send in a request.
func (u URI) WithoutFragment() URI {
	u.s = u.s[:u.frag]
	return u
}

func sameFront(a, b *normalizer) bool {
	ua, ub := &a.u, &b.u
	aa, ab := ua.path > ua.afterScheme(), ub.path > ub.afterScheme()
	if aa != ab || !same(a.part(0, ua.scheme, false, a.fold), b.part(0, ub.scheme, false, b.fold)) {
		return false
	}
	if !aa {
		return true
	}
	if ua.userinfoIs() != ub.userinfoIs() || a.keepsPort() != b.keepsPort() || ua.kind == HostRegistry != (ub.kind == HostRegistry) {
		return false
	}
	decode := a.decode && ua.kind != HostRegistry
	return same(a.part(ua.afterScheme()+2, ua.host, a.decode, false), b.part(ub.afterScheme()+2, ub.host, b.decode, false)) &&
		a.addr == b.addr &&
		(a.addr.IsValid() || same(a.part(ua.host, ua.hostEnd, decode, a.foldHost), b.part(ub.host, ub.hostEnd, decode, b.foldHost))) &&
		(!a.keepsPort() || ua.s[ua.hostEnd:ua.path] == ub.s[ub.hostEnd:ub.path])
}

func (u *URI) userinfoIs() bool { return u.host > u.afterScheme()+2 }

func (n *normalizer) keepsPort() bool { return n.u.hostEnd < n.u.path && !n.dropsPort() }

func sameBack(a, b *normalizer) bool {
	return same(a.part(a.u.query, a.u.frag, a.decode, false), b.part(b.u.query, b.u.frag, b.decode, false)) &&
		same(a.part(a.u.frag, a.end(), a.decode, false), b.part(b.u.frag, b.end(), b.decode, false))
}

// end returns the end of the spelling, or the start of an empty fragment if normalisation removes
// this fragment.
func (n *normalizer) end() uint32 {
	if n.voidFragment && int(n.u.frag)+1 == len(n.u.s) {
		return n.u.frag
	}
	return uint32(len(n.u.s))
}

func (n *normalizer) part(from, to uint32, decode, fold bool) reader {
	return reader{t: n.t, s: n.u.s[from:to], upper: n.upper, decode: decode, fold: fold}
}

func same(a, b reader) bool {
	for {
		ca, oka := a.next()
		cb, okb := b.next()
		if ca != cb || oka != okb {
			return false
		}
		if !oka {
			return true
		}
	}
}

// samePath compares two paths from their ends to their starts. In this direction, samePath reads a
// ".." before the segment that the ".." removes, so it needs no buffer.
func samePath(a, b *normalizer) bool {
	if a.clean || b.clean || a.u.path == a.u.query && a.addsRoot() || b.u.path == b.u.query && b.addsRoot() {
		return sameSegments(a, b)
	}
	return same(a.part(a.u.path, a.u.query, a.decode, false), b.part(b.u.path, b.u.query, b.decode, false))
}

func sameSegments(a, b *normalizer) bool {
	sa, oka := newSegments(a)
	sb, okb := newSegments(b)
	if !oka || !okb { // at least one of the paths does not begin with a slash or cannot be cleaned
		return oka == okb && same(a.part(a.u.path, a.u.query, a.decode, false), b.part(b.u.path, b.u.query, b.decode, false))
	}
	for {
		x, okx := sa.next()
		y, oky := sb.next()
		if okx != oky {
			return false
		}
		if !okx {
			return true
		}
		if !same(sa.reader(x), sb.reader(y)) {
			return false
		}
	}
}

// segments iterates from the last to the first segment of a path whose dot segments have been
// removed.
type segments struct {
	n    *normalizer
	path string
	end  int  // path[:end] is still unread
	last bool // no segment has been read yet
	skip int  // how many of the next segments are removed by ".." segments already read
	keep bool // keep ".." segments that go above the root
	open bool // the path ends with such a ".." segment
}

// newSegments returns an iterator over the path of n. It returns false if the path does not begin
// with a slash. It also returns false if the path without its dot segments would be parsed as an
// authority.
func newSegments(n *normalizer) (segments, bool) {
	p := n.u.Path()
	if p == "" && n.addsRoot() {
		p = "/"
	}
	if p == "" || p[0] != '/' {
		return segments{}, false
	}
	s := segments{n: n, path: p, end: len(p), last: true, keep: n.g.excess == ExcessKeep}
	if !n.clean {
		return s, true
	}
	s.open = s.keep && s.endsOpen()
	if n.u.path > n.u.afterScheme() || n.g.cleanAbsolute {
		return s, true
	}
	return s, !s.looksLikeAuthority()
}

// endsOpen reports whether the last segment is a ".." that goes above the root.
func (s segments) endsOpen() bool {
	i := strings.LastIndexByte(s.path, '/')
	if s.dots(s.path[i+1:]) != 2 {
		return false
	}
	for depth := 1; i > 0; {
		end := i
		i = strings.LastIndexByte(s.path[:end], '/')
		switch s.dots(s.path[i+1 : end]) {
		case 0:
			depth--
		case 2:
			depth++
		}
		if depth == 0 {
			return false
		}
	}
	return true
}

// looksLikeAuthority reports whether the path would begin with two slashes after the removal of its
// dot segments.
func (s segments) looksLikeAuthority() bool {
	count, first := 0, ""
	for {
		seg, ok := s.next()
		if !ok {
			return count > 1 && first == ""
		}
		first = seg
		count++
	}
}

// next returns the segment before the previous result.
func (s *segments) next() (string, bool) {
	for s.end > 0 {
		i := strings.LastIndexByte(s.path[:s.end], '/')
		seg := s.path[i+1 : s.end]
		last := s.last
		s.end, s.last = i, false
		dots := 0
		if s.n.clean {
			dots = s.dots(seg)
		}
		if dots == 2 {
			s.skip++
		}
		switch {
		case dots > 0 && last && !s.open:
			return "", true
		case dots > 0:
		case s.skip > 0:
			s.skip--
		default:
			return seg, true
		}
	}
	if s.keep && s.skip > 0 {
		s.skip--
		return "..", true
	}
	return "", false
}

// dots returns 1 for the segment ".", 2 for "..", and 0 for any other. An escaped dot counts as a
// dot if the dialect decodes it.
func (s *segments) dots(seg string) int {
	if len(seg) > len("%2E%2E") {
		return 0
	}
	r := s.reader(seg)
	for count := 0; ; count++ {
		switch c, ok := r.next(); {
		case !ok:
			return count
		case c != '.' || count == 2:
			return 0
		}
	}
}

func (s *segments) reader(seg string) reader {
	return reader{t: s.n.t, s: seg, upper: s.n.upper, decode: s.n.decode}
}
