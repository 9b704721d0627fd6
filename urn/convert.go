package urn

import "strings"

// Convert returns the same name in another dialect. The error is an [*Error] if
// it has no counterpart there:
//
//   - The assigned name keeps its spelling, as an escape makes a different name
//     in every dialect since 1997. In [Draft1995] escapes represent characters,
//     and a tilde, which RFC 1738 requires to be escaped, is escaped.
//   - Names of fewer than four fields have no counterpart in [Draft1995], names
//     with "/" none in [Draft2012], those with "&" or "~" none in [RFC2141], and
//     so on for whatever the other grammar does not match.
//   - A fragment of [Draft2012] is an f-component of [RFC8141] and vice versa.
//     Directives, r- and q-components have no counterpart.
//   - "?" and "#" in an NSS of [RFC2141], which reserves them, would begin a
//     component in other dialects: no counterpart.
func (u URN) Convert(d Dialect) (URN, error) {
	switch {
	case !u.IsValid():
		return URN{}, d.fail("", 0, "URN", "the zero URN")
	case u.dialect == d:
		return u, nil
	}
	if part := u.unconvertible(d); part != "" {
		return URN{}, d.fail(u.s, int(u.nss), d.nssRule(), "%s has no counterpart in this dialect", part)
	}
	s := u.s
	if d == Draft1995 {
		s = strings.ReplaceAll(s, "~", escapedTilde)
	}
	var c URN
	err := c.read(d, s)
	switch {
	case err != nil:
		err.Input, err.Offset = u.s, beforeEscape(u.s, s, err.Offset)
		return URN{}, err
	case u.IsAssigned() && int(c.nss) < len(s):
		return URN{}, d.fail(u.s, int(c.nss), grammars[d].nss, "%s is part of the name and would end it in this dialect", found(s, int(c.nss)))
	}
	return c, nil
}

const escapedTilde = "%7E"

// beforeEscape returns the offset in s of byte at of the same text with escaped
// tildes.
func beforeEscape(s, escaped string, at int) int {
	if len(s) == len(escaped) {
		return at
	}
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

// unconvertible names the component of u that dialect d does not have, if any.
func (u URN) unconvertible(d Dialect) string {
	if _, ok := u.RComponent(); ok {
		return "an r-component"
	}
	if _, ok := u.QComponent(); ok {
		return "a q-component"
	}
	if _, ok := u.Query(); ok {
		return "a query"
	}
	if _, ok := u.FComponent(); ok && d < Draft2012 {
		return "a fragment"
	}
	return ""
}

// nssRule returns the dialect's name of the NSS, if d is valid.
func (d Dialect) nssRule() string {
	if !d.IsValid() {
		return "URN"
	}
	return grammars[d].nss
}
