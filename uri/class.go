package uri

// A class is a set of places where an octet may stand bare.
type class uint16

// The places.
const (
	inScheme   class = 1 << iota // in a scheme, after its first character
	inUser                       // in the user information
	inHost                       // in a host that is a name
	inPath                       // in a path; the slash is
	inQuery                      // in a query
	inFrag                       // in a fragment
	inOpaque                     // in a part without a leading slash only
	unreserved                   // has no reserved meaning anywhere
	safeBare                     // a normaliser writes it bare
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
