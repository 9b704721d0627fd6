package iri

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// URI returns the equivalent URI (3.1, step 2). In it, the octets of all non-ASCII characters are
// escaped, even in the host.
func (i IRI) URI() uri.URI { return i.u }

// ASCIIURI is like [IRI.URI], except that it converts the host to the ASCII form of domain names
// (3.1). It is for schemes whose hosts are domain names. For example, the host "bücher.example"
// becomes "xn--bcher-kva.example".
//
// Escapes in the host are decoded first. An absent or empty host and an IP address do not change.
// ASCIIURI returns an error if another host is not a domain name, or if its ASCII form is empty or
// contains a delimiter.
func (i IRI) ASCIIURI() (uri.URI, error) {
	host, ok := i.u.Data(uri.ComponentHost)
	if !ok || host == "" || i.HostKind() != uri.HostName {
		return i.u, nil
	}
	domain, err := ASCIIDomain(string(host))
	if err != nil {
		return uri.URI{}, fmt.Errorf("iri: host %q: %w", host, err)
	}
	if raw, _ := i.u.Host(); raw == domain {
		return i.u, nil
	}
	return i.u.With(uri.ComponentHost, domain)
}

// LookupURI returns the URI that a browser would use for i. This is [IRI.ASCIIURI] if i has
// non-ASCII characters and browsers treat the hosts of its scheme as domain names (http, https, ws,
// wss, ftp). For all others, or if ASCIIURI returns an error, it is [IRI.URI].
func (i IRI) LookupURI() uri.URI {
	if scheme, _ := i.Scheme(); isSpecial(scheme) && !ascii.IsASCII(i.s) {
		if u, err := i.ASCIIURI(); err == nil {
			return u
		}
	}
	return i.URI()
}

// UnicodeHost returns the host with Punycode labels decoded, for display (3.2.1), and whether there
// is a host. If it is not a domain name, it does not change.
func (i IRI) UnicodeHost() (string, bool) {
	host, ok := i.Host()
	if !ok || i.HostKind() != uri.HostName {
		return host, ok
	}
	data, _ := i.u.Data(uri.ComponentHost)
	domain, err := ASCIIDomain(string(data))
	if err != nil {
		return host, true
	}
	display, err := unicodeDomain(domain)
	if err != nil {
		return host, true
	}
	return display, true
}

func escapeNonASCII(s string) string {
	return escapeIf(s, func(c byte) bool { return c >= 0x80 })
}

func escapeIf(s string, which func(byte) bool) string {
	n := 0
	for _, c := range []byte(s) {
		if which(c) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 2*n)
	for _, c := range []byte(s) {
		if which(c) {
			b.WriteString(ascii.Escape(c))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// FromURI converts a URI to an IRI that maps back to an equivalent URI (3.2). It decodes escapes of
// characters that an IRI can contain in that place. It keeps escapes of reserved characters, of the
// percent sign, and of characters that are hard to see (4.1, 6.1). It also keeps Punycode.
//
// FromURI parses a URI of another dialect as a URI of RFC 3986. If that fails, the result is not
// valid.
func FromURI(u uri.URI) IRI {
	s := u.String()
	query, _ := u.Query()
	queryEnd := len(s)
	if f, ok := u.Fragment(); ok {
		queryEnd -= len(f) + 1
	}
	var b strings.Builder
	for n := 0; n < len(s); {
		if s[n] != '%' {
			b.WriteByte(s[n])
			n++
			continue
		}
		inQuery := n >= queryEnd-len(query) && n < queryEnd
		r, length := ascii.UnescapeRune(s[n:])
		if length > 0 && stands(r, inQuery) {
			b.WriteRune(r)
			n += length
			continue
		}
		b.WriteString(strings.ToUpper(s[n : n+len("%XX")]))
		n += len("%XX")
	}
	i, err := ParseReference(b.String())
	if err != nil {
		return IRI{}
	}
	return i
}

// stands reports whether a character may replace its escape.
func stands(r rune, inQuery bool) bool {
	switch {
	case r < 0x80:
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~", r)
	case isFormatting(r), unicode.Is(unicode.Z, r):
		return false
	case unicode.Is(unicode.Cf, r):
		return r == 0x200C || r == 0x200D // some words need joiners
	default:
		return isUCSChar(r) || inQuery && isPrivate(r)
	}
}

// NFC returns i in normalization form C. Use it when you create an IRI, or read it from text that
// is not Unicode (3.1, step 1; 5.3.2.2).
func (i IRI) NFC() (IRI, error) {
	if norm.NFC.IsNormalString(i.s) {
		return i, nil
	}
	return ParseReference(norm.NFC.String(i.s))
}

// Normalize returns the normal form of i at level l (5.3.2, 5.3.3); see [uri.URI.Normalize]. From
// [uri.LevelPercent] on, this also decodes escapes of characters that an IRI can contain. It does
// not change characters to a Unicode normal form; see [IRI.NFC].
func (i IRI) Normalize(l uri.Level, rules ...uri.SchemeRules) IRI {
	switch {
	case l == uri.LevelString || !i.IsValid():
		return i
	case l < uri.LevelPercent:
		return i.through(func(shadow uri.URI) (uri.URI, error) { return i.fold(shadow), nil })
	default:
		return FromURI(i.u.Normalize(l, rules...))
	}
}

// fold changes the shadow of i as 5.3.2.1 requires: it converts the scheme and ASCII characters of
// the host to lower case, and the digits of escapes to upper case.
func (i IRI) fold(shadow uri.URI) uri.URI {
	b := []byte(shadow.Normalize(uri.LevelCase).String())
	for n := 0; n+4 < len(b); n++ {
		if string(b[n:n+3]) == "%25" { // in the shadow, "%25" is the percent sign of an escape of i
			copy(b[n+3:n+5], strings.ToUpper(string(b[n+3:n+5])))
		}
	}
	u, err := uri.ParseReference(string(b))
	if err != nil {
		return shadow
	}
	return u
}

// Equivalent reports whether a and b have the same normal form at level l (5.3). A false result
// means only that equivalence could not be shown.
func Equivalent(a, b IRI, l uri.Level, rules ...uri.SchemeRules) bool {
	if !a.IsValid() || !b.IsValid() {
		return false
	}
	if a.s == b.s {
		return true
	}
	if l >= uri.LevelPercent {
		return uri.Equivalent(a.u, b.u, l, rules...)
	}
	return a.Normalize(l) == b.Normalize(l)
}

// Resolve resolves ref relative to the base i; see [uri.URI.Resolve].
func (i IRI) Resolve(ref IRI) (IRI, error) {
	base, err := i.shadow()
	if err != nil {
		return IRI{}, err
	}
	r, err := ref.shadow()
	if err != nil {
		return IRI{}, err
	}
	u, err := base.Resolve(r)
	if err != nil {
		return IRI{}, err
	}
	return fromShadow(u)
}

// Relativize returns the shortest reference that resolves to target when i is the base; see
// [uri.URI.Relativize].
func (i IRI) Relativize(target IRI) (IRI, bool) {
	base, err := i.shadow()
	if err != nil {
		return IRI{}, false
	}
	t, err := target.shadow()
	if err != nil {
		return IRI{}, false
	}
	u, ok := base.Relativize(t)
	if !ok {
		return IRI{}, false
	}
	ref, err := fromShadow(u)
	return ref, err == nil
}

// shadow returns i as a URI in which percent signs are escaped too, so that i can be restored from
// it. Operations of package uri that only move parts of a URI can therefore be applied to the
// shadow.
func (i IRI) shadow() (uri.URI, error) {
	return uri.ParseReference(escapeIf(i.s, func(c byte) bool { return c >= 0x80 || c == '%' }))
}

func fromShadow(u uri.URI) (IRI, error) {
	s, err := uri.Unescape(u.String())
	if err != nil {
		return IRI{}, err
	}
	return ParseReference(s)
}

// through applies f to the shadow of i and converts the result to an IRI. If f fails, through
// returns i.
func (i IRI) through(f func(uri.URI) (uri.URI, error)) IRI {
	u, err := i.shadow()
	if err != nil {
		return i
	}
	if u, err = f(u); err != nil {
		return i
	}
	out, err := fromShadow(u)
	if err != nil {
		return i
	}
	return out
}
