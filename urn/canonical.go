package urn

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Canonical returns the canonical spelling of u, which is the same for all equivalent URNs. It has
// no query, fragment, r-, q- or f-component. The conversion depends on the dialect:
//
//   - In [RFC8141] (section 3.1), [Draft2012] (section 5) and [RFC2141] (section 5), "urn" and the
//     NID become lower case, and the hexadecimal digits of escapes become upper case.
//   - In [Draft1995] (sections 2, 2.2.1 and 6B), "urn", the SchemeID and an AuthorityID of the
//     scheme dns become lower case. Escapes of characters that RFC 1738 calls unreserved are
//     decoded; the digits of other escapes become upper case.
//
// In Draft1995, an ElementID that begins with "urn+" is a reserved request to the resolver (section
// 2.3). If decoding escapes would turn a name into such a request, Canonical writes the first
// letter of the ElementID as "%75".
//
// Canonical does not allocate if u already has its canonical spelling.
func (u URN) Canonical() string {
	if !u.IsValid() {
		return ""
	}
	kept := 0
	if u.dialect == Draft1995 { // the other dialects decode no escapes
		u, kept = u.withEscapedRequest()
	}
	s := u.s[:u.nss]
	at := u.firstOdd(s, kept)
	if at < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	b = append(b, s[:at]...)
	for r := u.canonicalFrom(at); r.more(); {
		b = append(b, r.next())
	}
	return string(b)
}

// firstOdd returns the offset of the first byte of s that Canonical would change, or -1. Canonical
// does not decode an escape at the offset kept.
func (u URN) firstOdd(s string, kept int) int {
	folded := u.folded()
	for i := range folded {
		if s[i] != ascii.Lower(s[i]) {
			return i
		}
	}
	for i := folded; ; i += 3 {
		n := strings.IndexByte(s[i:], '%')
		if n < 0 {
			return -1
		}
		i += n
		if s[i+1] != ascii.Upper(s[i+1]) || s[i+2] != ascii.Upper(s[i+2]) || i != kept && u.decodes(octetAt(s, i)) {
			return i
		}
	}
}

type canonicalReader struct {
	s      string
	i      int
	folded int // how many bytes at the start are case-insensitive
	hex    int // unread bytes before this offset are digits of an escape
	kept   int // offset of an escape to keep, or 0
	plain  bool
}

// canonicalFrom returns a reader of the canonical spelling of u. The reader begins at offset i of
// u.s, which must not be inside an escape.
func (u URN) canonicalFrom(i int) canonicalReader {
	u, kept := u.withEscapedRequest()
	return canonicalReader{s: u.s[:u.nss], i: i, folded: u.folded(), kept: kept, plain: u.dialect == Draft1995}
}

// withEscapedRequest prevents the canonical spelling of u from being a reserved request. If the
// ElementID is an escaped form of "urn+", withEscapedRequest writes it as "%75rn+" and returns the
// offset of the escape. Otherwise it returns u and 0.
func (u URN) withEscapedRequest() (URN, int) {
	const escaped = "%75rn+"
	n := requestLength(u.ElementID())
	if n <= len(ReservedPrefix) {
		return u, 0
	}
	at := int(u.auth) + 1
	if u.s[at:at+n] != escaped {
		u.s = u.s[:at] + escaped + u.s[at+n:]
		u.nss = uint32(len(u.s))
	}
	return u, at
}

func (r *canonicalReader) more() bool { return r.i < len(r.s) }

func (r *canonicalReader) next() byte {
	i := r.i
	c := r.s[i]
	r.i++
	switch {
	case i < r.folded:
		return ascii.Lower(c)
	case i < r.hex:
		return ascii.Upper(c)
	case c == '%':
		if d := octetAt(r.s, i); r.plain && is(d, classPlain) && i != r.kept {
			r.i += 2
			return d
		}
		r.hex = i + 3
	}
	return c
}

// folded returns how many bytes at the start of u.s are case-insensitive.
func (u URN) folded() int {
	if u.dialect == Draft1995 && strings.EqualFold(u.SchemeID(), "dns") {
		return int(u.auth)
	}
	return int(u.nid)
}

func (u URN) decodes(c byte) bool { return u.dialect == Draft1995 && is(c, classPlain) }

// A Purpose says for what purpose two URNs are compared (draft of 2012, section 5).
type Purpose uint8

// The purposes. Only [Draft2012] distinguishes them.
const (
	PurposeResource Purpose = iota // do the URNs identify the same resource? (draft of 2012, section 5, step a)
	PurposeCache                   // can a response for one URN be used for the other? (draft of 2012, section 5, step b)
)

// String returns the name of the purpose: resource or cache.
func (p Purpose) String() string {
	switch p {
	case PurposeResource:
		return "resource"
	case PurposeCache:
		return "cache"
	}
	return "invalid"
}

// Key returns a string for comparing URNs for a purpose. Two URNs of the same dialect have the same
// key exactly if they are equivalent for that purpose.
//
// The key is [URN.Canonical]. For [PurposeCache] in [Draft2012] it also includes the directives,
// sorted by keyword, with the digits of escapes in upper case. Directives with the same keyword
// keep their order.
func (u URN) Key(p Purpose) string {
	query, ok := u.Query()
	if !ok || p != PurposeCache {
		return u.Canonical()
	}
	directives := strings.Split(upperEscapes(query), "&")
	slices.SortStableFunc(directives, func(a, b string) int {
		return strings.Compare(keywordOf(a), keywordOf(b))
	})
	return u.Canonical() + "?" + strings.Join(directives, "&")
}

func keywordOf(directive string) string {
	keyword, _, _ := strings.Cut(directive, "=")
	return keyword
}

func upperEscapes(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c == '%' {
			b[i+1], b[i+2] = ascii.Upper(b[i+1]), ascii.Upper(b[i+2])
		}
	}
	return string(b)
}
