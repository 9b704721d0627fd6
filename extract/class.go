package extract

// A class says where an octet may stand; several may hold.
type class uint16

const (
	classAlnum  class = 1 << iota // a letter or a digit of US-ASCII
	classScheme                   // in the name of a scheme (RFC 3986, 3.1)
	classURI                      // in a URI; the brackets of IP literals are left aside (RFC 3986, 2)
	classPlain                    // as before, and it says nothing about where an identifier ends
	classHost                     // in a registered name that somebody really has
	classLocal                    // in the local part of an address (RFC 5322, 3.2.3), its full stops too
	classSpace                    // white space
	classBreak                    // a sign after which a long word is broken over lines
	classJoin                     // a sign that an identifier at the end of a line does not end in
	classSign                     // a sign that words of a language do not have
	classEnd                      // an identifier ends before it, whatever it is
	classLast                     // an identifier may end in it: it is no sign of a sentence
)

// classes holds the classes of each octet.
var classes = func() (t [256]class) {
	set := func(chars string, c class) {
		for i := range len(chars) {
			t[chars[i]] |= c
		}
	}
	for c := range 128 {
		if isLetter(byte(c)) || isDigit(byte(c)) {
			t[c] = classAlnum | classScheme | classURI | classPlain | classHost | classLocal | classLast
		}
	}
	set("+-.", classScheme)
	set("-._~/?@!$*+,;=", classURI|classPlain)
	set("()%#:&'", classURI)
	set("-._~", classHost)
	set("!#$&'*+-/=?_~.", classLocal)
	set(" \t\r\n\f\v", classSpace)
	set("-/?&=._,;:", classBreak)
	set("-/_.?&=#+~", classJoin)
	set("_=&%#?~:", classSign)
	set(" \t\r\n\f\v<>\")]}", classEnd)
	set("-/@$+=&#", classLast)
	return t
}()

func is(c byte, k class) bool { return classes[c]&k != 0 }

func isAlnum(c byte) bool { return is(c, classAlnum) }
