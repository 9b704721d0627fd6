package uri

import (
	"strings"
	"testing"
)

// The character rules, written as predicates, with their sections.

func isAlpha(c byte) bool    { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigitB(c byte) bool   { return '0' <= c && c <= '9' }
func isHexB(c byte) bool     { return isDigitB(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
func isAlphanum(c byte) bool { return isAlpha(c) || isDigitB(c) }

func oneOf(set string) func(byte) bool {
	return func(c byte) bool { return strings.IndexByte(set, c) >= 0 }
}

// classRules has a rule for each bit of the table: whether c may appear unescaped
// in a component of dialect d.
var classRules = map[class]func(d Dialect, c byte) bool{
	inScheme:   schemeChar,
	inUser:     userChar,
	inHost:     hostChar,
	inPath:     pathChar,
	inQuery:    queryChar,
	inFrag:     fragmentChar,
	inOpaque:   opaqueChar,
	unreserved: unreservedChar,
	safeBare:   safeBareChar,
}

// xalpha is xalpha of 1993 (BNF) without its escapes and without the space,
// which the section Choices forbids.
func xalpha(c byte) bool { return isAlphanum(c) || oneOf(`$-_@.&!*"'():;,`)(c) }

// unreservedChar is unreserved: 1997 2.3, 2003 2.3, RFC 3986 2.3. 1993 does not
// have the term; letters and digits come closest.
func unreservedChar(d Dialect, c byte) bool {
	switch d {
	case Draft1993:
		return isAlphanum(c)
	case Draft1997:
		return isAlphanum(c) || oneOf("$-_.!~*'(),")(c)
	case Draft2003:
		return isAlphanum(c) || oneOf("-_.!~*'()")(c)
	default:
		return isAlphanum(c) || oneOf("-._~")(c)
	}
}

// safeBareChar reports whether normalisation decodes the escape of c: 1997 2.4.2,
// 2003 2.3 (letters, digits, _ and ~ only), RFC 3986 2.3. 1993 does not say that
// a character is equivalent to its escape.
func safeBareChar(d Dialect, c byte) bool {
	switch d {
	case Draft1993:
		return false
	case Draft2003:
		return isAlphanum(c) || oneOf("_~")(c)
	default:
		return unreservedChar(d, c)
	}
}

// schemeChar reports whether c may appear in a scheme: 1993 BNF scheme = ialpha
// (up to the first colon), 1997 4.1, 2003 3.1, RFC 3986 3.1.
func schemeChar(d Dialect, c byte) bool {
	if d == Draft1993 {
		return xalpha(c) && c != ':'
	}
	return isAlphanum(c) || oneOf("+-.")(c)
}

// userChar reports whether c may appear before the @: 1993 BNF user, and the
// colon of the password (FTP); 1997 4.3.1 user and password; 2003 3.2.2 and RFC
// 3986 3.2.1 userinfo.
func userChar(d Dialect, c byte) bool {
	switch d {
	case Draft1993:
		return xalpha(c)
	case Draft1997:
		return unreservedChar(d, c) || oneOf(";:&=+")(c)
	case Draft2003:
		return unreservedChar(d, c) || oneOf(";:&=+$,")(c)
	default:
		return unreservedChar(d, c) || oneOf("!$&'()*+,;=:")(c)
	}
}

// hostChar reports whether c may appear in a host name: 1993 BNF hostname up to
// the colon of the port and after the @ of the user; 1997 4.3.1 and 2003 3.2.2
// hostname; RFC 3986 3.2.2 reg-name.
func hostChar(d Dialect, c byte) bool {
	switch d {
	case Draft1993:
		return xalpha(c) && c != ':' && c != '@'
	case Draft1997, Draft2003:
		return isAlphanum(c) || oneOf("-.")(c)
	default:
		return unreservedChar(d, c) || oneOf("!$&'()*+,;=")(c)
	}
}

// pathChar reports whether c may appear in a path, including slash and
// parameters: 1993 BNF path, 1997 4.3.2, 2003 3.3, RFC 3986 3.3.
func pathChar(d Dialect, c byte) bool {
	switch d {
	case Draft1993:
		return xalpha(c) || oneOf("+/")(c)
	case Draft1997:
		return unreservedChar(d, c) || oneOf(":@&=+;/")(c)
	case Draft2003:
		return unreservedChar(d, c) || oneOf(";:@&=+$,/")(c)
	default:
		return unreservedChar(d, c) || oneOf("!$&'()*+,;=:@/")(c)
	}
}

// queryChar reports whether c may appear in a query: 1993 BNF search, 1997 4.3.3
// *urlc, 2003 3.4, RFC 3986 3.4.
func queryChar(d Dialect, c byte) bool {
	if d == Draft1993 {
		return xalpha(c) || c == '+'
	}
	return pathChar(d, c) || c == '?'
}

// fragmentChar reports whether c may appear in a fragment: 1993 BNF fragmentid,
// 1997 3 *urlc, 2003 4.1, RFC 3986 3.5.
func fragmentChar(d Dialect, c byte) bool {
	if d == Draft1993 {
		return xalpha(c)
	}
	return queryChar(d, c)
}

// opaqueChar reports whether c may appear only in a part that does not begin with
// a slash: the brackets of 2003 3 and G.1.
func opaqueChar(d Dialect, c byte) bool {
	return d == Draft2003 && (c == '[' || c == ']')
}

func TestClassTables(t *testing.T) {
	for d := Draft1993; d.IsValid(); d++ {
		for c := range 256 {
			for in, rule := range classRules {
				if got, want := classes[d][c]&in != 0, rule(d, byte(c)); got != want {
					t.Errorf("%s: class %#x of %q: got %v, want %v", d, in, byte(c), got, want)
				}
			}
		}
	}
}
