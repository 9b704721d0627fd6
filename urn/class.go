package urn

// Character classes, one bit each, in a table over all octets.
const (
	classAlnum      = 1 << iota // ALPHA / DIGIT
	classLDH                    // alphanum / "-" (RFC 8141)
	classPchar                  // pchar of RFC 3986 without pct-encoded
	classHex                    // HEXDIG in both cases
	classUnreserved             // unreserved of RFC 1738
	classElement                // ElementID of 1995 without escape
	classSchemeID               // SchemeID of 1995
	classSpace                  // white space of 1995: space, tab, CR, LF
)

var classes = makeClasses()

func is(c byte, class uint8) bool { return classes[c]&class != 0 }

func makeClasses() (t [256]uint8) {
	set := func(class uint8, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	set(classAlnum|classLDH|classPchar|classUnreserved|classElement|classSchemeID, alnum)
	set(classLDH, "-")
	set(classPchar, "-._~!$&'()*+,;=:@")
	set(classHex, "0123456789ABCDEFabcdef")
	set(classUnreserved|classElement, "$-_.+!*'(),")
	set(classElement, ";/:@&=")
	set(classSchemeID, "-.+")
	set(classSpace, " \t\r\n")
	return t
}

func isEscape(s string, i int) bool {
	return i+2 < len(s) && is(s[i+1], classHex) && is(s[i+2], classHex)
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}
