package urn

import "strings"

// Convert converts u to another dialect, in which it is the same name. The error is an [*Error]
// if the name has no counterpart in that dialect:
//
//   - Convert keeps the spelling of the assigned name, because a name with an escape and the
//     name with the decoded character are different names in every dialect since RFC 2141. The one
//     exception is a tilde, which Convert escapes for [Draft1995] because RFC 1738 requires it.
//   - A name that does not match the grammar of the other dialect has no counterpart. Examples
//     are names of fewer than four fields for [Draft1995], names with "/" for [Draft2012], and
//     names with "&" or "~" for [RFC2141].
//   - A fragment of [Draft2012] is an f-component of [RFC8141] and vice versa. Directives, r-
//     and q-components have no counterpart.
//   - A name of [RFC2141] with "?" or "#" in its NSS has no counterpart, because these
//     characters would begin a component in other dialects. RFC 2141 reserves them.
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

// beforeEscape returns the offset in s that corresponds to an offset in its escaped form. The
// parameter escaped is s with its tildes escaped, and the parameter at is the offset in escaped.
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

// unconvertible returns words for the first component of u that dialect d does not have, or ""
// if there is none.
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

// nssRule returns the name that the document of the dialect gives to the NSS, or "" if d is
// invalid.
func (d Dialect) nssRule() string {
	if !d.IsValid() {
		return "URN"
	}
	return grammars[d].nss
}
