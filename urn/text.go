package urn

// EndInText returns the length of the longest URN with which a running text
// begins, and 0 if it begins with none. The NSS ends before the first character
// that cannot be in it, also before a percent sign that begins no escape and
// before an escaped NUL (2012, 2.5.3; RFC 2141, 2.4); a query, fragment or
// component that follows belongs to the reference as far as it is right.
//
// Punctuation that may be in an NSS is not left out: whether the full stop
// belongs to the name or to the sentence cannot be seen from the syntax. In
// [Draft1995] the text is that of a name without angle brackets, which ends at
// white space.
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

// scanText1995 returns where a text has white space or a bracket.
func scanText1995(s string) int {
	for i := range len(s) {
		if is(s[i], classSpace) || s[i] == '<' || s[i] == '>' {
			return i
		}
	}
	return len(s)
}
