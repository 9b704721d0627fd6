package urn

// EndInText returns the length of the longest URN at the start of a running text, or 0 if the
// text does not start with a URN. The NSS ends before the first character that cannot be part
// of it; an incomplete escape and an escaped NUL also end it (2012, 2.5.3; RFC 2141, 2.4). If a
// query, fragment or component follows, its valid part is included.
//
// Punctuation that is allowed in an NSS is included: by the syntax one cannot decide whether a
// full stop belongs to the name or to the sentence. In [Draft1995] the name must not be in
// angle brackets, and ends at white space.
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

// scanText1995 returns the offset of the first white space or bracket.
func scanText1995(s string) int {
	for i := range len(s) {
		if is(s[i], classSpace) || s[i] == '<' || s[i] == '>' {
			return i
		}
	}
	return len(s)
}
