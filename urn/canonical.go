package urn

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Canonical returns the spelling shared by all equivalent URNs, without query,
// fragment, r-, q- and f-component.
//
// In [RFC8141] (3.1), [Draft2012] (5) and [RFC2141] (5): "urn" and the NID in lower case, the
// hex digits of escapes in upper case. In [Draft1995] (2, 2.2.1, 6B): "urn", the SchemeID and
// a dns AuthorityID in lower case, escapes of characters that RFC 1738 calls unreserved
// decoded, and the hex digits of other escapes in upper case. Decoding never turns a name into
// a reserved request, which begins with exactly "urn+" (2.3): if it would, the first letter is
// written as "%75".
//
// Canonical does not allocate if u already has this spelling.
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

// firstOdd returns the offset of the first byte of s that Canonical changes, or -1 if there is
// none. The parameter kept is the offset of an escape that Canonical does not decode.
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

// A canonicalReader yields the bytes of a canonical spelling one at a time.
type canonicalReader struct {
	s      string
	i      int
	folded int // the number of leading bytes that are case-insensitive
	hex    int // the unread bytes before this offset are hex digits of an escape
	kept   int // the offset of an escape that is not decoded; 0 for none
	plain  bool
}

// canonicalFrom returns a reader that yields the canonical spelling of u from byte i of u's own
// spelling on. Byte i must not be inside an escape.
func (u URN) canonicalFrom(i int) canonicalReader {
	u, kept := u.withEscapedRequest()
	return canonicalReader{s: u.s[:u.nss], i: i, folded: u.folded(), kept: kept, plain: u.dialect == Draft1995}
}

// withEscapedRequest makes sure that the canonical spelling of u is not a reserved request. If
// the ElementID begins with "urn+" written with escapes, withEscapedRequest replaces this
// beginning by "%75rn+", and returns the new URN and the offset of "%75". It returns any other
// URN unchanged, and 0.
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

// folded returns the number of leading bytes that are case-insensitive.
func (u URN) folded() int {
	if u.dialect == Draft1995 && strings.EqualFold(u.SchemeID(), "dns") {
		return int(u.auth)
	}
	return int(u.nid)
}

// decodes reports whether the escape of octet c is equivalent to c.
func (u URN) decodes(c byte) bool { return u.dialect == Draft1995 && is(c, classPlain) }

// A Purpose is the purpose for which URNs are compared (2012, 5).
type Purpose uint8

// The purposes. Only [Draft2012] distinguishes them.
const (
	PurposeResource Purpose = iota // to learn whether the URNs identify the same resource (step 5a)
	PurposeCache                   // in Draft2012, to learn whether resolving the URNs gives the same response (step 5b)
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

// Key returns a key by which URNs are compared for a purpose: two URNs of the same dialect have
// the same key if and only if they are equivalent for p. The key is [URN.Canonical]. For
// [PurposeCache] in [Draft2012] the directives follow, sorted by keyword, with the hex digits
// of escapes in upper case. Directives with the same keyword keep their order.
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

// upperEscapes returns s with the digits of its escapes converted to upper case.
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
