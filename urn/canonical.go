package urn

import (
	"errors"
	"strings"
)

// Canonical returns the spelling that all equivalent URNs share, without r-, q-
// and f-components.
//
// In [RFC8141] (3.1): "urn" and the NID in lower case, the hex digits of escapes
// in upper case. In [Draft1995] (2, 2.2.1, 6B): "urn", the SchemeID and a dns
// AuthorityID in lower case, escapes of characters that RFC 1738 calls
// unreserved decoded, the hex digits of others in upper case.
//
// It does not allocate when u is spelled so already.
func (u URN) Canonical() string {
	if !u.IsValid() {
		return ""
	}
	s := u.s[:u.nss]
	at := u.firstOdd(s)
	if at < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	b = append(b, s[:at]...)
	for i := at; i < len(s); i++ {
		switch c := s[i]; {
		case i < u.folded():
			b = append(b, lower(c))
		case c == '%':
			if d := unhex(s[i+1])<<4 | unhex(s[i+2]); u.decodes(d) {
				b = append(b, d)
			} else {
				b = append(b, '%', upper(s[i+1]), upper(s[i+2]))
			}
			i += 2
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// firstOdd returns the offset of the first byte that Canonical changes, or -1.
func (u URN) firstOdd(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case i < u.folded():
			if c != lower(c) {
				return i
			}
		case c == '%':
			if s[i+1] != upper(s[i+1]) || s[i+2] != upper(s[i+2]) || u.decodes(unhex(s[i+1])<<4|unhex(s[i+2])) {
				return i
			}
			i += 2
		}
	}
	return -1
}

// folded returns how many leading bytes are insensitive to case.
func (u URN) folded() int {
	if u.dialect == Draft1995 && strings.EqualFold(u.SchemeID(), "dns") {
		return int(u.auth)
	}
	return int(u.nid)
}

// decodes reports whether the escape of octet c stands for c itself.
func (u URN) decodes(c byte) bool { return u.dialect == Draft1995 && is(c, classUnreserved) }

// Equivalent reports whether a and b are the same name by the rules of their
// common dialect. A false answer does not prove that they name different
// resources; URNs of different dialects are never found equivalent.
func Equivalent(a, b URN) bool {
	return a.IsValid() && a.dialect == b.dialect && a.Canonical() == b.Canonical()
}

// Convert reads u in another dialect. From [RFC8141] to [Draft1995] a tilde is
// escaped, as RFC 1738 wants it; r-, q- and f-components, and names of fewer
// than four fields, have no counterpart there and are refused.
func (u URN) Convert(d Dialect) (URN, error) {
	if !u.IsValid() {
		return URN{}, d.fail("", 0, "URN", "the zero URN")
	}
	if u.dialect == d {
		return u, nil
	}
	c, err := d.Parse(strings.ReplaceAll(u.s, "~", escapedTilde))
	var e *Error
	if errors.As(err, &e) {
		return URN{}, &Error{Dialect: d, Input: u.s, Offset: beforeEscape(u.s, e.Offset), Rule: e.Rule, Message: e.Message}
	}
	return c, nil
}

const escapedTilde = "%7E"

// beforeEscape returns the offset into s of byte at of s with escaped tildes.
func beforeEscape(s string, at int) int {
	for i := range len(s) {
		width := 1
		if s[i] == '~' {
			width = len(escapedTilde)
		}
		if at < width {
			return i
		}
		at -= width
	}
	return len(s)
}
