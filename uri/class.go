package uri

// A class is a set of components in which an octet may appear unescaped.
type class uint16

// The components, and two sets of characters.
const (
	inScheme   class = 1 << iota // in a scheme, after its first character
	inUser                       // in user information
	inHost                       // in a host name
	inPath                       // in a path, including the slash
	inQuery                      // in a query
	inFrag                       // in a fragment
	inOpaque                     // only in a part without a leading slash
	unreserved                   // not reserved anywhere
	safeBare                     // normalisation decodes its escape
)

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c-'0' < 10 }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// isEscape reports whether s has an escape at i: a percent sign and two
// hexadecimal digits.
func isEscape(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && isHex(s[i+1]) && isHex(s[i+2])
}
