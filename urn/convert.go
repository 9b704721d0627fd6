package urn

import "strings"

// Convert returns u as a URN in dialect d. It does not change the spelling, because since RFC 2141
// a name with an escape differs from the name with the decoded character. The exception is a tilde,
// which is escaped for [Draft1995] as RFC 1738 requires.
//
// The error is an [*Error] if the name cannot exist in dialect d:
//
//   - The name may violate the grammar of d. Examples are names with fewer than four fields for
//     [Draft1995], names with "/" for [Draft2012], and names with "&" or "~" for [RFC2141].
//   - Directives exist only in [Draft2012], and r- and q-components only in [RFC8141]. A fragment
//     of [Draft2012] becomes an f-component of [RFC8141], and vice versa.
//   - A name in [RFC2141] can contain "?" or "#". In other dialects these characters would begin a
//     component.
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
		return URN{}, d.fail(u.s, int(c.nss), grammars[d].nss, "%s is part of this name, but ends a name in the other dialect", found(s, int(c.nss)))
	}
	return c, nil
}

const escapedTilde = "%7E"

// beforeEscape converts an offset in escaped, which is s with its tildes escaped, to an offset in
// s.
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

func (d Dialect) nssRule() string {
	if !d.IsValid() {
		return "URN"
	}
	return grammars[d].nss
}
