package uri

import (
	"net/netip"
	"strings"
)

// MaxLength is the maximum length of a URI or a reference, in bytes. The limit bounds the work that
// untrusted input can cause, and lets offsets fit into 32 bits.
const MaxLength = 1 << 24

// A URI is a parsed URI or relative reference. It consists of the spelling, the positions of the
// components in it, and the dialect in which it was parsed.
//
// A URI is an immutable value, and can be a map key. Two URIs are == exactly if their spellings and
// dialects are equal, which is the simple string comparison of RFC 3986, section 6.2.1. The
// components are substrings of the spelling. A URI that was cut out of a long text keeps the whole
// text in memory; see [URI.Clone].
//
// The zero URI is not valid. Parsers return it together with an error.
type URI struct {
	s       string
	scheme  uint32 // index of the colon after the scheme, or 0 if there is no scheme
	host    uint32 // start of the host
	hostEnd uint32
	path    uint32 // start of the path, which is the end of the authority
	query   uint32 // end of the path
	frag    uint32 // end of the query
	kind    HostKind
	dialect Dialect
}

// HostKind is the kind of host in an authority.
type HostKind uint8

// The kinds of hosts.
const (
	HostNone      HostKind = iota // there is no authority
	HostName                      // a registered name, perhaps empty (RFC 3986: reg-name; before: hostname)
	HostIPv4                      // four numbers with dots (IPv4address, hostnumber)
	HostIPv6                      // an IPv6 address in brackets
	HostIPvFuture                 // an address of a later version in brackets
	HostRegistry                  // the authority is not a server, and has no host (draft of 2003: reg-name)
)

// String returns the name that the command line uses for the kind: none, name, ipv4, ipv6,
// ipvfuture or registry.
func (k HostKind) String() string {
	switch k {
	case HostNone:
		return "none"
	case HostName:
		return "name"
	case HostIPv4:
		return "ipv4"
	case HostIPv6:
		return "ipv6"
	case HostIPvFuture:
		return "ipvfuture"
	case HostRegistry:
		return "registry"
	default:
		return "unknown"
	}
}

// Parse parses a URI in the dialect [Latest]. The URI must have a scheme and may have a fragment.
// If s is not a URI, the error is an *[Error].
func Parse(s string) (URI, error) { return Latest.Parse(s) }

// ParseReference parses a URI or a relative reference in the dialect [Latest]. If s is neither, the
// error is an *[Error].
func ParseReference(s string) (URI, error) { return Latest.ParseReference(s) }

// MustParse is like [Parse], but panics if s is not a URI. Use it for constants.
func MustParse(s string) URI {
	u, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// Parse parses a URI in dialect d. The URI must have a scheme and may have a fragment. If s is not
// a URI, the error is an *[Error].
func (d Dialect) Parse(s string) (u URI, err error) {
	f := u.parse(d, s)
	if u.scheme == 0 && f.code != CodeDialect && f.code != CodeTooLong {
		f = missingScheme(d, s)
	}
	if f.code != 0 {
		return URI{}, newError(d, s, f)
	}
	return u, nil
}

// missingScheme returns the fault for s, which has no scheme. The fault is at the first byte that
// cannot be part of a scheme.
func missingScheme(d Dialect, s string) fault {
	i := schemeEnd(&grammars[d], &classes[d], s)
	return fault{off: uint32(i), code: CodeNoScheme, rule: ruleScheme}
}

// ParseReference parses a URI or a relative reference in dialect d. If s is neither, the error is
// an *[Error].
func (d Dialect) ParseReference(s string) (u URI, err error) {
	f := u.parse(d, s)
	if f.code != 0 {
		return URI{}, newError(d, s, f)
	}
	return u, nil
}

// Check reports where and why s is not a valid reference in the dialect [Latest]; see
// [Dialect.Check].
func Check(s string) (offset int, code Code) { return Latest.Check(s) }

// Check reports where and why s is not a valid reference in dialect d. If s is valid, the code is
// [CodeNone] and the offset is len(s). Check does not allocate, unlike [Dialect.ParseReference],
// which allocates its error.
func (d Dialect) Check(s string) (offset int, code Code) {
	_, f := parse(d, s)
	if f.code == 0 {
		return len(s), CodeNone
	}
	return int(f.off), f.code
}

// IsValid reports whether u was parsed. It returns false only for the zero URI. The empty reference
// is valid.
func (u URI) IsValid() bool { return u.dialect != 0 }

// IsReference reports whether u is a relative reference, that is, has no scheme.
func (u URI) IsReference() bool { return u.dialect != 0 && u.scheme == 0 }

// String returns the text from which u was parsed.
func (u URI) String() string { return u.s }

// Dialect returns the dialect in which u was parsed.
func (u URI) Dialect() Dialect { return u.dialect }

// Clone returns a copy of u that shares no memory with the text from which u was parsed.
func (u URI) Clone() URI {
	u.s = strings.Clone(u.s)
	return u
}

func (u URI) afterScheme() uint32 {
	if u.scheme == 0 {
		return 0
	}
	return u.scheme + 1
}

// Scheme returns the scheme without its colon, and whether there is one. It does not convert the
// scheme to lower case.
func (u URI) Scheme() (string, bool) {
	return u.s[:u.scheme], u.scheme != 0
}

// Authority returns the authority without the slashes before it, and whether there is one. The
// draft of 1997 calls it the site.
func (u URI) Authority() (string, bool) {
	a := u.afterScheme()
	if u.path == a {
		return "", false
	}
	return u.s[a+2 : u.path], true
}

// Userinfo returns the part of the authority before the @, and whether there is one.
func (u URI) Userinfo() (string, bool) {
	a := u.afterScheme() + 2
	if u.host <= a {
		return "", false
	}
	return u.s[a : u.host-1], true
}

// Host returns the host, and whether there is one. An IP literal includes its brackets. There is no
// host if there is no authority, or if the authority is not a server.
func (u URI) Host() (string, bool) {
	if u.kind == HostNone || u.kind == HostRegistry {
		return "", false
	}
	return u.s[u.host:u.hostEnd], true
}

// HostKind returns the kind of the host.
func (u URI) HostKind() HostKind { return u.kind }

// Port returns the digits after the colon that follows the host, and whether there is such a colon.
// The port is empty if there are no digits after the colon.
func (u URI) Port() (string, bool) {
	if u.hostEnd == u.path {
		return "", false
	}
	return u.s[u.hostEnd+1 : u.path], true
}

// Path returns the path, including its leading slash if it has one. Every URI has a path, which may
// be empty.
func (u URI) Path() string { return u.s[u.path:u.query] }

// Opaque reports whether u has a scheme, no authority, and a path that is not empty and does not
// begin with a slash (draft of 2003, section 3). For example, mailto:a@example.org is opaque.
func (u URI) Opaque() bool { return u.scheme != 0 && u.isOpaque() }

// Query returns the query without the question mark before it, and whether there is one. The draft
// of 1993 calls it the search.
func (u URI) Query() (string, bool) {
	if u.query == u.frag {
		return "", false
	}
	return u.s[u.query+1 : u.frag], true
}

// Fragment returns the fragment without the # before it, and whether there is one.
func (u URI) Fragment() (string, bool) {
	if int(u.frag) == len(u.s) {
		return "", false
	}
	return u.s[u.frag+1:], true
}

// Addr returns the host as an address, with its zone ([RFC6874]), if it is an IPv4 or IPv6 address.
// It returns false for
//
//   - a name, even if other software reads it as a number ([ParseNumericHost]);
//   - an address with a number out of range, which the drafts of 1993 and 1997 permit.
func (u URI) Addr() (netip.Addr, bool) {
	host := u.s[u.host:u.hostEnd]
	switch u.kind {
	case HostIPv4:
	case HostIPv6:
		var err error
		if host, err = Unescape(host[1 : len(host)-1]); err != nil {
			return netip.Addr{}, false
		}
	default:
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(host)
	return a, err == nil
}
