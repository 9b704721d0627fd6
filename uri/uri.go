package uri

import (
	"net/netip"
	"strings"
)

// MaxLength is the maximum length of a URI or a reference, in bytes. It bounds
// the work that untrusted input can cause, and keeps offsets small.
const MaxLength = 1 << 24

// A URI is a parsed URI or relative reference: its spelling, the ends of its
// components and the dialect by which it was parsed.
//
// It is an immutable value. Two URIs are == exactly if their spellings and their
// dialects are equal. This is the simple string comparison of RFC 3986, 6.2.1. A
// URI can be the key of a map. The components are substrings of the spelling and
// keep it in memory; see [URI.Clone].
//
// The zero URI is not valid; parsers return it with an error.
type URI struct {
	s       string
	scheme  uint32 // index of the colon after the scheme; 0 if there is none
	host    uint32 // start of the host
	hostEnd uint32 // end of the host
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
	HostRegistry                  // the authority is not a server; it has no host (draft of 2003: reg-name)
)

// String returns the name of the kind on the command line: none, name, ipv4,
// ipv6, ipvfuture, registry.
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

// Parse parses a URI, that is, a reference with a scheme, by [Latest]. A fragment
// is allowed. An error is a *[Error].
func Parse(s string) (URI, error) { return Latest.Parse(s) }

// ParseReference parses a URI or a relative reference by [Latest]. An error is a
// *[Error].
func ParseReference(s string) (URI, error) { return Latest.ParseReference(s) }

// MustParse is like [Parse] and panics if s is not a URI. Use it for constants.
func MustParse(s string) URI {
	u, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// Parse parses a URI, that is, a reference with a scheme, in dialect d. An error
// is a *[Error].
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

// missingScheme returns the fault for s, which has no scheme. Its offset is the offset of the
// first byte that cannot be part of a scheme.
func missingScheme(d Dialect, s string) fault {
	i := schemeEnd(&grammars[d], &classes[d], s)
	return fault{off: uint32(i), code: CodeNoScheme, rule: ruleScheme}
}

// ParseReference parses a URI or a relative reference in dialect d. An error is a
// *[Error].
func (d Dialect) ParseReference(s string) (u URI, err error) {
	f := u.parse(d, s)
	if f.code != 0 {
		return URI{}, newError(d, s, f)
	}
	return u, nil
}

// Check reports where and why s is not a reference by [Latest]; see
// [Dialect.Check].
func Check(s string) (offset int, code Code) { return Latest.Check(s) }

// Check reports where and why s is not a reference in dialect d. If it is one,
// the code is [CodeNone] and the offset is the length of s. Check never
// allocates.
func (d Dialect) Check(s string) (offset int, code Code) {
	_, f := parse(d, s)
	if f.code == 0 {
		return len(s), CodeNone
	}
	return int(f.off), f.code
}

// IsValid reports whether u came from a parser. The empty reference is valid.
func (u URI) IsValid() bool { return u.dialect != 0 }

// IsReference reports whether u is a relative reference: one without a scheme.
func (u URI) IsReference() bool { return u.dialect != 0 && u.scheme == 0 }

// String returns the spelling that was parsed.
func (u URI) String() string { return u.s }

// Dialect returns the dialect by which u was parsed.
func (u URI) Dialect() Dialect { return u.dialect }

// Clone returns u with a copy of its spelling, so that u does not keep a longer
// text alive.
func (u URI) Clone() URI {
	u.s = strings.Clone(u.s)
	return u
}

// afterScheme returns the offset after the scheme and its colon.
func (u URI) afterScheme() uint32 {
	if u.scheme == 0 {
		return 0
	}
	return u.scheme + 1
}

// Scheme returns the scheme as written, without the colon.
func (u URI) Scheme() (string, bool) {
	return u.s[:u.scheme], u.scheme != 0
}

// Authority returns the authority, without the slashes before it. In the draft of 1997 it is
// called the site.
func (u URI) Authority() (string, bool) {
	a := u.afterScheme()
	if u.path == a {
		return "", false
	}
	return u.s[a+2 : u.path], true
}

// Userinfo returns the part of the authority before the @.
func (u URI) Userinfo() (string, bool) {
	a := u.afterScheme() + 2
	if u.host <= a {
		return "", false
	}
	return u.s[a : u.host-1], true
}

// Host returns the host; an IP literal includes its brackets. It is undefined if
// there is no authority, or if the authority is not a server.
func (u URI) Host() (string, bool) {
	if u.kind == HostNone || u.kind == HostRegistry {
		return "", false
	}
	return u.s[u.host:u.hostEnd], true
}

// HostKind returns the kind of the host.
func (u URI) HostKind() HostKind { return u.kind }

// Port returns the digits after the colon that follows the host; there may be
// none.
func (u URI) Port() (string, bool) {
	if u.hostEnd == u.path {
		return "", false
	}
	return u.s[u.hostEnd+1 : u.path], true
}

// Path returns the path with its leading slash, if it has one. A path is never
// undefined, but it may be empty.
func (u URI) Path() string { return u.s[u.path:u.query] }

// Opaque reports whether u has a scheme, no authority, and a non-empty path without
// a leading slash (2003, 3). The path is then the opaque part.
func (u URI) Opaque() bool { return u.scheme != 0 && u.isOpaque() }

// Query returns the query, without the question mark before it. In the draft of 1993 it is
// called the search.
func (u URI) Query() (string, bool) {
	if u.query == u.frag {
		return "", false
	}
	return u.s[u.query+1 : u.frag], true
}

// Fragment returns the fragment, without the # before it.
func (u URI) Fragment() (string, bool) {
	if int(u.frag) == len(u.s) {
		return "", false
	}
	return u.s[u.frag+1:], true
}

// Addr returns the address of an IPv4 or IPv6 host, with its zone ([RFC6874]). It
// reports false for
//
//   - a name, even if other software parses it as a number ([ParseNumericHost]);
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
