package urn

import "github.com/nomen-project/nomen/internal/ascii"

// A class is a set of octets.
type class uint16

// The classes that the parsers use.
const (
	classAlnum      class = 1 << iota // ALPHA / DIGIT
	classLDH                          // alphanum / "-"
	classHex                          // HEXDIG in both cases
	classUnreserved                   // unreserved of RFC 3986
	classPchar                        // pchar of RFC 3986 without pct-encoded
	classPath                         // pchar / "/": the NSS of RFC 8141
	classQuery                        // pchar / "/" / "?": components and fragments
	classValue                        // v-pchar of the draft of 2012 without pct-encoded
	classTrans                        // trans of RFC 2141 without "%"
	classPlain                        // unreserved of RFC 1738
	classElement                      // ElementID of the draft of 1995 without escape
	classSchemeID                     // SchemeID of the draft of 1995
	classSpace                        // white space of the draft of 1995: space, tab, CR, LF

	// noNUL is a class without octets. If a set includes noNUL, [scan] stops before an escaped NUL.
	noNUL
)

var classes = makeClasses()

func is(c byte, set class) bool { return classes[c]&set != 0 }

func makeClasses() (t [256]class) {
	set := func(c class, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= c
		}
	}
	const (
		alnum     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		subDelims = "!$&'()*+,;="
	)
	for c := class(1); c < noNUL; c <<= 1 {
		if c != classHex && c != classSpace {
			set(c, alnum)
		}
	}
	set(classHex, "0123456789ABCDEFabcdef")
	set(classSpace, " \t\r\n")
	set(classLDH, "-")
	set(classUnreserved|classPchar|classPath|classQuery|classValue, "-._~")
	set(classPchar|classPath|classQuery, subDelims+":@")
	set(classPath, "/")
	set(classQuery, "/?")
	set(classValue, "!$'()*+,;=:@/?")
	set(classTrans, "()+,-.:=@;$_!*'/?#")
	set(classPlain|classElement, "$-_.+!*'(),")
	set(classElement, ";/:@&=")
	set(classSchemeID, "-.+")
	return t
}

// scan skips octets of a set and complete escapes from offset i on. It returns the offset of the
// first byte that is neither. The set must be a single class, with or without [noNUL]. The loop
// tests four octets at a time, because most names are long and valid.
func scan(s string, i int, set class) int {
	for {
		rest := s[i:]
		for len(rest) >= 4 && classes[rest[0]]&classes[rest[1]]&classes[rest[2]]&classes[rest[3]]&set != 0 {
			rest = rest[4:]
		}
		for len(rest) > 0 && is(rest[0], set) {
			rest = rest[1:]
		}
		i = len(s) - len(rest)
		if !isEscape(s, i) || set&noNUL != 0 && isNUL(s, i) {
			return i
		}
		i += 3
	}
}

func isEscape(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && is(s[i+1], classHex) && is(s[i+2], classHex)
}

func isNUL(s string, i int) bool { return s[i+1] == '0' && s[i+2] == '0' }

func octetAt(s string, i int) byte { return ascii.Unhex(s[i+1])<<4 | ascii.Unhex(s[i+2]) }
