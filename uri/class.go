package uri

import "github.com/nomen-project/nomen/internal/ascii"

// A class is a set of components. The class of an octet says in which components the octet may
// appear unescaped.
type class uint16

// The bits of a class. The last two bits do not stand for components, but are in the same table.
const (
	inScheme   class = 1 << iota // may appear in a scheme, after its first character
	inUser                       // may appear in user information
	inHost                       // may appear in a host name
	inPath                       // may appear in a path, including the slash
	inQuery                      // may appear in a query
	inFrag                       // may appear in a fragment
	inOpaque                     // only in an opaque part, which is a path without a leading slash
	unreserved                   // the characters that the document calls unreserved
	safeBare                     // the characters whose escapes normalisation decodes
)

const (
	alphanums     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	xalphas1993   = alphanums + `$-_.&!*"'();,` // xalpha (draft of 1993, BNF) without ":", "@", escapes and the space
	unreserved97  = alphanums + "$-_.!~*'(),"   // draft of 1997, section 2.3
	unreserved03  = alphanums + "-_.!~*'()"     // draft of 2003, section 2.3
	unreserved05  = alphanums + "-._~"          // RFC 3986, section 2.3
	subDelims     = "!$&'()*+,;="               // RFC 3986, section 2.2
	schemeLetters = alphanums + "+-."           // draft of 1997, section 4.1; draft of 2003, section 3.1; RFC 3986, section 3.1
)

// charsets holds the characters of each component in each dialect. The comment on each line cites
// the section or production of the document.
var charsets = [dialects]map[class]string{
	Draft1993: {
		inScheme:   xalphas1993 + "@",    // BNF: scheme, up to the first colon
		inUser:     xalphas1993 + "@:",   // BNF: user, and the colon of the password
		inHost:     xalphas1993,          // BNF: hostname
		inPath:     xalphas1993 + "@:+/", // BNF: path
		inQuery:    xalphas1993 + "@:+",  // BNF: search
		inFrag:     xalphas1993 + "@:",   // BNF: fragmentid
		unreserved: alphanums,            // the draft does not define unreserved characters
	},
	Draft1997: {
		inScheme:   schemeLetters,
		inUser:     unreserved97 + ";:&=+",    // 4.3.1
		inHost:     alphanums + "-.",          // 4.3.1: hostname
		inPath:     unreserved97 + ":@&=+;/",  // 4.3.2
		inQuery:    unreserved97 + ":@&=+;/?", // 4.3.3: *urlc
		inFrag:     unreserved97 + ":@&=+;/?", // 3: *urlc
		unreserved: unreserved97,
		safeBare:   unreserved97, // 2.4.2
	},
	Draft2003: {
		inScheme:   schemeLetters,
		inUser:     unreserved03 + ";:&=+$,",    // 3.2.2: userinfo
		inHost:     alphanums + "-.",            // 3.2.2: hostname
		inPath:     unreserved03 + ";:@&=+$,/",  // 3.3
		inQuery:    unreserved03 + ";:@&=+$,/?", // 3.4
		inFrag:     unreserved03 + ";:@&=+$,/?", // 4.1
		inOpaque:   "[]",                        // 3 and G.1
		unreserved: unreserved03,
		safeBare:   alphanums + "_~", // 2.3
	},
	RFC3986: charsets3986,
	RFC6874: charsets3986,
}

var charsets3986 = map[class]string{
	inScheme:   schemeLetters,
	inUser:     unreserved05 + subDelims + ":",    // 3.2.1
	inHost:     unreserved05 + subDelims,          // 3.2.2: reg-name
	inPath:     unreserved05 + subDelims + ":@/",  // 3.3
	inQuery:    unreserved05 + subDelims + ":@/?", // 3.4
	inFrag:     unreserved05 + subDelims + ":@/?", // 3.5
	unreserved: unreserved05,
	safeBare:   unreserved05, // 2.3
}

// classes maps each octet to the components in which the octet may appear unescaped. It is made
// from charsets.
var classes = func() (all [dialects][256]class) {
	for d, sets := range charsets {
		for in, chars := range sets {
			for i := range len(chars) {
				all[d][chars[i]] |= in
			}
		}
	}
	return all
}()

// isEscape reports whether s has an escape at i: a percent sign and two
// hexadecimal digits.
func isEscape(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && ascii.IsHex(s[i+1]) && ascii.IsHex(s[i+2])
}
