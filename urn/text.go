package urn

// EndInText returns the length of the URN at the start of a text, or 0 if the text does not begin
// with a URN. The NSS ends before the first character that an NSS cannot contain, an incomplete
// escape or an escaped NUL (draft of 2012, section 2.5.3; RFC 2141, section 2.4). If a query,
// fragment or component follows, its valid part is included.
//
// Punctuation that an NSS can contain is included too, because the syntax does not distinguish the
// full stop of a sentence from a full stop in the name. In [Draft1995] the name ends at white
// space, and must not be in angle brackets.
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
