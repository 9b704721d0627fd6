package uri

import (
	"net/netip"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A Level says how much normalisation to apply to a URI, or to two URIs before comparing them.
// Section 6 of the draft of 2003 and of RFC 3986 defines the levels. Each level includes the levels
// before it.
type Level uint8

// The levels. What a level does depends on the document of the dialect.
const (
	// LevelString changes nothing (draft of 2003 and RFC 3986, section 6.2.1).
	LevelString Level = iota

	// LevelCase converts schemes (draft of 1997, section 4.1) and hosts (draft of 1997, section 6;
	// draft of 2003, section 6.2.2.1) to lower case. In RFC 3986 (section 6.2.2.1) it also converts
	// the hexadecimal digits of escapes to upper case. In the other dialects, LevelPercent converts
	// these digits.
	LevelCase

	// LevelPercent decodes unnecessary escapes. In the draft of 1997 (section 2.4.2) and in RFC
	// 3986 (section 6.2.2.2), these are the escapes of unreserved characters. In the draft of 2003
	// (section 2.3), they are the escapes of letters, digits, "_" and "~". The draft of 1993 has no
	// unnecessary escapes.
	LevelPercent

	// LevelPath removes dot segments (draft of 2003 and RFC 3986, section 6.2.2.3). In the draft of
	// 1993, it removes an empty fragment instead.
	LevelPath

	// LevelScheme applies [SchemeRules] (draft of 1997, section 6; draft of 2003 and RFC 3986,
	// section 6.2.3).
	LevelScheme

	// LevelProtocol uses redirects that were observed on the network (draft of 2003 and RFC 3986,
	// section 6.2.4); see [Comparer.Redirects]. LevelProtocol matters only for comparison.
	// [URI.Normalize] treats it like LevelScheme.
	LevelProtocol

	levels
)

// String returns the name that the command line uses for the level: string, case, percent, path,
// scheme or protocol.
func (l Level) String() string {
	names := [levels]string{"string", "case", "percent", "path", "scheme", "protocol"}
	if l >= levels {
		return "unknown"
	}
	return names[l]
}

// ParseLevel returns the level with the name s; see [Level.String].
func ParseLevel(s string) (Level, bool) {
	for l := LevelString; l < levels; l++ {
		if l.String() == s {
			return l, true
		}
	}
	return 0, false
}

// SchemeRules say which spellings are equivalent for the URIs of one scheme (RFC 3986, section
// 6.2.3). The zero value has no rules.
type SchemeRules struct {
	Scheme      string // in lower case
	DefaultPort string // in decimal; a URI without a port is equivalent
	RootPath    bool   // an empty path after an authority is equivalent to "/" (RFC 3986 only)
	IPv6Text    bool   // IPv6 addresses are written as in RFC 5952 (RFC 3986 only)
}

// maxGrowth is the number of bytes by which a normal form, or the target of a resolved reference,
// can be longer than its source. Normalisation adds at most two bytes to the path: "/" for an empty
// path, or "/." before a path that begins with two slashes. The rest is for an IPv6 address, such
// as ::ffff:ffff:ffff, whose last 32 bits are rewritten as an IPv4 address.
const maxGrowth = 2 + len("::ffff:255.255.255.255") - len("::ffff:ffff:ffff")

// Normalize returns the normal form of u at level l. It allocates only if the normal form differs
// from u. For [LevelScheme], it uses the element of rules that has the scheme of u. Without such an
// element, LevelScheme only removes an empty port, and only in dialects in which this is
// equivalent.
//
// Dot segments are removed only if u has a scheme and its path begins with a slash. Without this
// restriction, the algorithm of RFC 3986, section 5.2.4, would change urn:example:a/../b to urn:/b.
//
// A path without its dot segments may begin with two slashes, and would then be parsed as an
// authority. In RFC 3986, Normalize puts "/." before such a path. In the draft of 2003, it keeps
// the dot segments. In both cases, parsing the result gives the normalised components.
func (u URI) Normalize(l Level, rules ...SchemeRules) URI {
	u.normalize(l, rules)
	return u
}

func (u *URI) normalize(l Level, rules []SchemeRules) {
	if looksNormal(u, l, rules) {
		return
	}
	text := newNormalizer(*u, l, rules).form()
	if text == u.s {
		return
	}
	v, f := parse(u.dialect, text)
	if f.code != 0 { // the added slash makes the form longer than MaxLength
		return
	}
	*u = v
}

// form returns the normal form. It allocates at most once, and not at all if the spelling of u is
// already normal.
func (n normalizer) form() string {
	var buf [512]byte
	size := len(n.u.s) + maxGrowth
	if size > len(buf) {
		if n.keepsAll() {
			return n.u.s
		}
		return own(n.append(make([]byte, 0, size)))
	}
	b := n.append(buf[:0])
	if string(b) == n.u.s {
		return n.u.s
	}
	return string(b)
}

// AppendNormal appends the normal form of u at level l to b; see [URI.Normalize].
func (u URI) AppendNormal(b []byte, l Level, rules ...SchemeRules) []byte {
	n := newNormalizer(u, l, rules)
	return n.append(b)
}

// Levels is a set of levels.
type Levels uint8

// Has reports whether s contains l.
func (s Levels) Has(l Level) bool { return s>>l&1 == 1 }

// Changes returns the levels that change u. Each level is applied to the result of the level
// before.
func (u URI) Changes(rules ...SchemeRules) Levels {
	var s Levels
	for l := LevelCase; l <= LevelScheme; l++ {
		v := u.Normalize(l, rules...)
		if v != u {
			s |= 1 << l
			u = v
		}
	}
	return s
}

// A normalizer holds a URI and the operations to apply to it.
type normalizer struct {
	u     URI
	g     *grammar
	t     *[256]class
	rules SchemeRules

	fold, foldHost bool // convert the scheme, or the host, to lower case
	upper, decode  bool // convert the digits of escapes to upper case; decode unnecessary escapes
	clean          bool // remove dot segments
	voidFragment   bool
	scheme         bool       // apply the rules of the scheme
	addr           netip.Addr // the IPv6 host to write as in RFC 5952, if valid
}

func newNormalizer(u URI, l Level, rules []SchemeRules) normalizer {
	g := &grammars[u.dialect]
	n := normalizer{u: u, g: g, t: &classes[u.dialect]}
	n.fold = l >= LevelCase
	n.foldHost = n.fold && g.foldHost && u.kind != HostRegistry && !u.hasZone()
	n.upper = l >= LevelCase && l >= g.hexLevel
	n.decode = l >= LevelPercent
	n.clean = l >= LevelPath && g.cleanDots && u.scheme != 0 && u.path < u.query && u.s[u.path] == '/'
	n.voidFragment = l >= LevelPath && g.voidFragment
	n.scheme = l >= LevelScheme
	if n.scheme {
		n.rules = findRules(u, rules)
		if n.rules.IPv6Text && g.rootPath && u.kind == HostIPv6 && !u.hasZone() {
			n.addr, _ = u.Addr()
		}
	}
	return n
}

// hasZone reports whether the host is an address with a zone, which may be case-sensitive.
func (u URI) hasZone() bool {
	return u.kind == HostIPv6 && strings.IndexByte(u.s[u.host:u.hostEnd], '%') >= 0
}

func findRules(u URI, rules []SchemeRules) SchemeRules {
	for _, r := range rules {
		if ascii.EqualFold(r.Scheme, u.s[:u.scheme]) {
			return r
		}
	}
	return SchemeRules{}
}

// looksNormal reports whether u is obviously in normal form, as most URIs are. If it returns false,
// u may still be normal.
func looksNormal(u *URI, l Level, rules []SchemeRules) bool {
	s := u.s
	if l == LevelString || !u.IsValid() {
		return true
	}
	rest := s[u.hostEnd:]
	if len(rest) <= 8 && len(s) > 8 { // test eight octets at once, even if the first of them belong to the host
		rest = s[len(s)-9:]
	}
	if hasUpperOrEscape(s[:u.hostEnd]) || hasEscapeOrDot(rest) {
		return false
	}
	if l < LevelPath {
		return true
	}
	if int(u.frag)+1 == len(s) {
		return false
	}
	if l < LevelScheme || u.path == u.afterScheme() {
		return true
	}
	return u.kind != HostIPv6 && u.hostEnd == u.path && (u.path < u.query || len(rules) == 0)
}

func (n *normalizer) dropsPort() bool {
	port := n.u.s[n.u.hostEnd+1 : n.u.path]
	switch {
	case !n.scheme:
		return false
	case port == "":
		return n.g.emptyPort
	default:
		return n.rules.DefaultPort != "" && strings.TrimLeft(port, "0") == n.rules.DefaultPort
	}
}

func (n *normalizer) addsRoot() bool {
	return n.scheme && n.g.rootPath && n.rules.RootPath && n.u.path > n.u.afterScheme()
}

func (n normalizer) append(b []byte) []byte {
	u := n.u
	b = n.text(b, 0, u.afterScheme(), false, n.fold)
	if u.path > u.afterScheme() {
		b = append(b, "//"...)
		registry := u.kind == HostRegistry // a registry name with decoded escapes might be parsed as a server
		b = n.text(b, u.afterScheme()+2, u.host, n.decode, false)
		if n.addr.IsValid() {
			b = append(n.addr.AppendTo(append(b, '[')), ']')
		} else {
			b = n.text(b, u.host, u.hostEnd, n.decode && !registry, n.foldHost)
		}
		if u.hostEnd < u.path && !n.dropsPort() {
			b = append(b, u.s[u.hostEnd:u.path]...)
		}
	}
	b = n.path(b)
	b = n.text(b, u.query, u.frag, n.decode, false)
	if n.voidFragment && int(u.frag)+1 == len(u.s) {
		return b
	}
	return n.text(b, u.frag, uint32(len(u.s)), n.decode, false)
}

// keepsAll reports whether the spelling is already normal. It may return false for a normal path
// that has a dot after a slash.
func (n *normalizer) keepsAll() bool {
	u := n.u
	if u.path > u.afterScheme() {
		decode := n.decode && u.kind != HostRegistry
		if !n.keeps(u.afterScheme()+2, u.host, n.decode, false) || !n.keeps(u.host, u.hostEnd, decode, n.foldHost) || !n.keepsAddr() ||
			u.hostEnd < u.path && n.dropsPort() || u.path == u.query && n.addsRoot() {
			return false
		}
	}
	return n.keeps(0, u.afterScheme(), false, n.fold) &&
		n.keeps(u.path, uint32(len(u.s)), n.decode, false) &&
		!(n.clean && strings.Contains(u.s[u.path:u.query], "/.")) &&
		!(n.voidFragment && int(u.frag)+1 == len(u.s))
}

// keepsAddr reports whether an IPv6 address is already written as in RFC 5952.
func (n *normalizer) keepsAddr() bool {
	var buf [len("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]")]byte
	return !n.addr.IsValid() || string(append(n.addr.AppendTo(append(buf[:0], '[')), ']')) == n.u.s[n.u.host:n.u.hostEnd]
}

// keeps reports whether [normalizer.text] would append the bytes between start and end unchanged.
func (n *normalizer) keeps(start, end uint32, decode, fold bool) bool {
	r := reader{t: n.t, s: n.u.s[start:end], upper: n.upper, decode: decode, fold: fold}
	for {
		at := r.i
		c, ok := r.next()
		switch {
		case !ok:
			return true
		case c&escaped != 0:
			if r.s[at+1] != ascii.UpperHex[c>>4&15] || r.s[at+2] != ascii.UpperHex[c&15] {
				return false
			}
		case r.i-at != 1 || r.s[at] != byte(c):
			return false
		}
	}
}

func (n normalizer) path(b []byte) []byte {
	u := n.u
	start := len(b)
	b = n.text(b, u.path, u.query, n.decode, false)
	if len(b) == start && n.addsRoot() {
		return append(b, '/')
	}
	if !n.clean || !hasDots(b[start:]) {
		return b
	}
	m := merger{g: n.g, excess: n.g.excess}
	clean, err := m.clean(b, start, u.path > u.afterScheme())
	if err != nil { // without its dot segments the path would be parsed as an authority
		return n.text(b[:start], u.path, u.query, n.decode, false)
	}
	return clean
}

func hasDots(p []byte) bool {
	for i := 1; i < len(p); i++ {
		if p[i] == '.' && p[i-1] == '/' {
			return true
		}
	}
	return false
}

// text appends the spelling between start and end, with its escapes in normal form.
func (n normalizer) text(b []byte, start, end uint32, decode, fold bool) []byte {
	r := reader{t: n.t, s: n.u.s[start:end], upper: n.upper, decode: decode, fold: fold}
	for {
		c, ok := r.next()
		switch {
		case !ok:
			return b
		case c&escaped != 0:
			b = append(b, '%', ascii.UpperHex[c>>4&15], ascii.UpperHex[c&15])
		default:
			b = append(b, byte(c))
		}
	}
}

// A reader reads the normal form of a raw text without allocating.
type reader struct {
	t                   *[256]class
	s                   string
	i                   int
	literal             int // how many of the next characters belong to an escape that is read unchanged
	upper, decode, fold bool
}

// escaped is added to the octets that [reader.next] returns for an escape that stays escaped.
const escaped = 0x100

// next returns the next octet of the normal form.
func (r *reader) next() (c uint16, ok bool) {
	if r.i >= len(r.s) {
		return 0, false
	}
	b := r.s[r.i]
	r.i++
	if r.literal > 0 {
		r.literal--
		return uint16(b), true
	}
	if b == '%' {
		octet := ascii.Unhex(r.s[r.i])<<4 | ascii.Unhex(r.s[r.i+1])
		switch {
		case r.decode && r.t[octet]&safeBare != 0:
			b = octet
			r.i += 2
		case r.upper:
			r.i += 2
			return escaped | uint16(octet), true
		default:
			r.literal = 2
		}
	}
	if r.fold {
		b = ascii.Lower(b)
	}
	return uint16(b), true
}
