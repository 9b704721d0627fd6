package iri

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// URI returns the equivalent URI (RFC 3987, section 3.1, step 2). It escapes the octets of all
// non-ASCII characters, even in the host.
func (i IRI) URI() uri.URI { return i.u }

// ASCIIURI is like [IRI.URI], except that it converts the host to the ASCII form of domain names
// (RFC 3987, section 3.1). Use it for schemes whose hosts are domain names. For example, the host
// "bücher.example" becomes "xn--bcher-kva.example".
//
// Escapes in the host are decoded first. An absent or empty host and an IP address do not change.
// For any other host, ASCIIURI returns an error if the host is not a domain name, or if its ASCII
// form is empty or contains a delimiter.
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
// wss, ftp). Otherwise, or if ASCIIURI returns an error, the result is [IRI.URI].
func (i IRI) LookupURI() uri.URI {
	if scheme, _ := i.Scheme(); isSpecial(scheme) && !ascii.IsASCII(i.s) {
		if u, err := i.ASCIIURI(); err == nil {
			return u
		}
	}
	return i.URI()
}

// UnicodeHost returns the host with Punycode labels decoded, for display (RFC 3987, section 3.2.1),
// and whether there is a host. A host that is not a domain name is returned unchanged.
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

// FromURI converts a URI to an IRI that maps back to an equivalent URI (RFC 3987, section 3.2). It
// decodes the escapes of characters that the component can contain in an IRI. It keeps the escapes
// of reserved characters, of the percent sign, and of characters that are hard to see (RFC 3987,
// sections 4.1 and 6.1). It does not decode Punycode.
//
// If u is in a dialect other than [uri.RFC3986], FromURI parses it again as a URI of RFC 3986. If u
// is invalid there, the result is the zero IRI.
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
// is not Unicode (RFC 3987, section 3.1, step 1, and section 5.3.2.2).
func (i IRI) NFC() (IRI, error) {
	if norm.NFC.IsNormalString(i.s) {
		return i, nil
	}
	return ParseReference(norm.NFC.String(i.s))
}

// Normalize returns the normal form of i at level l (RFC 3987, sections 5.3.2 and 5.3.3); see
// [uri.URI.Normalize]. From [uri.LevelPercent] on, this also decodes escapes of characters that an
// IRI can contain. It does not change characters to a Unicode normal form; see [IRI.NFC].
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

// fold normalizes the case of a result of [IRI.shadow]. It converts the scheme and the ASCII
// characters of the host to lower case, and the digits of escapes to upper case (RFC 3987, section
// 5.3.2.1).
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

// Equivalent reports whether a and b have the same normal form at level l (RFC 3987, section 5.3).
// If it returns false, a and b may still identify the same resource.
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

// shadow returns a reversible encoding of i as a URI. In this URI, percent signs are escaped in
// addition to non-ASCII characters. Functions of package uri that only move parts of a URI work on
// it, and fromShadow decodes the result.
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

// through applies f to the result of [IRI.shadow] and converts the result of f to an IRI. If f
// fails, through returns i.
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
