package extract

import "github.com/nomen-project/nomen/internal/ascii"

// A class is a set of octets that may occur at certain places in an identifier. An octet can be in
// several classes.
type class uint16

const (
	classAlnum  class = 1 << iota // an ASCII letter or digit
	classScheme                   // allowed in a scheme name (RFC 3986, section 3.1)
	classURI                      // allowed in a URI, except for the brackets of IP literals (RFC 3986, section 2)
	classPlain                    // allowed in a URI, and never the end of the identifier that is being read
	classHost                     // used in real registered names
	classLocal                    // allowed in the local part of an address, including dots (RFC 5322, section 3.2.3)
	classSpace                    // white space
	classBreak                    // programs that wrap text break a long word after this octet
	classJoin                     // at the end of a line, it suggests that the identifier continues on the next
	classSign                     // does not occur in words of a natural language
	classEnd                      // always ends an identifier
	classBegins                   // may begin an identifier without a scheme, or the word before such an identifier
	classLast                     // may be the last character of an identifier, because it is not sentence punctuation
)

var classes = func() (t [256]class) {
	set := func(chars string, c class) {
		for i := range len(chars) {
			t[chars[i]] |= c
		}
	}
	for c := range 128 {
		if ascii.IsLetter(byte(c)) || ascii.IsDigit(byte(c)) {
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
	set("0123456789iIaApP", classBegins)
	set("-/@$+=&#", classLast)
	return t
}()

func is(c byte, k class) bool { return classes[c]&k != 0 }

func isAlnum(c byte) bool { return is(c, classAlnum) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

func endsName(c byte) bool { return isSpace(c) || c == '/' || c == '>' }
