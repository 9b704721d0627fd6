package extract

import (
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// readReference parses a reference from a place meant for references. It
// repairs an invalid one as browsers do, if possible (URL Standard): it removes
// tabs and line breaks, turns backslashes into slashes, percent-encodes
// characters that are not allowed, and converts international host names to
// ASCII.
//
// It does not change a valid reference, even where browsers read it
// differently: "http:g" and "http:///g" are URIs without a host.
func readReference(s string) (u uri.URI, err error) {
	if u, err = uri.ParseReference(s); err == nil {
		return u, nil
	}
	mended := mend(s)
	if !isASCII(mended) {
		if i, e := iri.ParseReference(mended); e == nil {
			if scheme, _ := i.Scheme(); isSpecial(scheme) {
				if a, e := i.ASCIIURI(); e == nil {
					return a, nil
				}
			}
			return i.URI(), nil
		}
		mended = escapeNonASCII(mended)
	}
	if u, e := uri.ParseReference(mended); e == nil && !hidesHost(u) {
		return u, nil
	}
	return uri.URI{}, err
}

// hidesHost reports whether a repaired reference has an empty host where
// browsers skip slashes until they find one.
func hidesHost(u uri.URI) bool {
	scheme, _ := u.Scheme()
	host, ok := u.Host()
	return ok && host == "" && isSpecial(scheme) && !strings.EqualFold(scheme, "file")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// schemeLength returns the length of the scheme at the beginning of s, or 0 if
// there is none.
func schemeLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || n > 0 && (isDigit(s[n]) || s[n] == '+' || s[n] == '-' || s[n] == '.')) {
		n++
	}
	if n == 0 || n == len(s) || s[n] != ':' {
		return 0
	}
	return n
}

// isSpecial reports whether browsers treat a scheme as special, which means
// that backslashes are slashes and hosts are domain names. Relative references
// count as special.
func isSpecial(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "", "http", "https", "ftp", "ws", "wss", "file":
		return true
	}
	return false
}

// mend percent-encodes and replaces what is not allowed in an IRI reference.
func mend(s string) string {
	n := schemeLength(s)
	slashes := isSpecial(s[:n])
	var b strings.Builder
	b.Grow(len(s) + 16)
	if n == 0 {
		if i := strings.IndexAny(s, ":/?#\\"); i >= 0 && s[i] == ':' {
			b.WriteString("./") // "a b:c", which has no scheme
		}
	}
	authority, query, fragment := false, false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\t' || c == '\n' || c == '\r':
		case c == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			b.WriteString("%25")
		case c == '#' && !fragment:
			authority, fragment = false, true
			b.WriteByte(c)
		case c == '?':
			authority, query = false, true
			b.WriteByte(c)
		case c == '\\' && slashes && !query && !fragment, c == '/':
			if !query && !fragment && !authority && atAuthority(b.String(), n) {
				authority = true
			} else {
				authority = false
			}
			b.WriteByte('/')
		case (c == '[' || c == ']') && authority, c >= utf8.RuneSelf, inURI(c):
			b.WriteByte(c)
		default:
			escapeOctet(&b, c)
		}
	}
	return b.String()
}

// atAuthority reports whether a slash after b, which has a scheme of n octets,
// is the second slash before an authority.
func atAuthority(b string, n int) bool {
	if n > 0 {
		n++
	}
	return len(b) == n+1 && b[n] == '/'
}

// inURI reports whether c is allowed in a URI, apart from brackets and the
// number sign.
func inURI(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte("-._~!$&'()*+,;=:@%", c) >= 0
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' }

func escapeOctet(b *strings.Builder, c byte) {
	const digits = "0123456789ABCDEF"
	b.Write([]byte{'%', digits[c>>4], digits[c&15]})
}

// escapeNonASCII percent-encodes all non-ASCII octets where they are not valid
// text.
func escapeNonASCII(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			escapeOctet(&b, s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
