package urn

// EndInText returns the length of the URN at the start of a text, or 0. An NSS
// extends to the first character that it cannot contain, or to an incomplete escape or escaped NUL
// (2012, 2.5.3; RFC 2141, 2.4). If a query, fragment or component follows, the valid part of it is
// included.
//
// Punctuation that an NSS can contain is included too, because the syntax does not say whether a
// full stop ends the sentence or belongs to the name. In [Draft1995] the name ends at white space,
// and must not be in angle brackets.
func (d Dialect) EndInText(text string) int {
	if len(text) > MaxLength {
		text = text[:MaxLength]
	}
	if d == Draft1995 {
		text = text[:scanText1995(text)]
	}
	var u URN
	if err := u.read(d, text); err == nil {
		return len(text)
	}
	return len(u.s)
}

func scanText1995(s string) int {
	for i := range len(s) {
		if is(s[i], classSpace) || s[i] == '<' || s[i] == '>' {
			return i
		}
	}
	return len(s)
}
