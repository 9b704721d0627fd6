package uri

import "strings"

const upperHex = "0123456789ABCDEF"

// Unescape decodes the escapes of a component, once. The result is raw octets:
// what characters they mean is for the scheme to say. It is an error if a
// percent sign is not followed by two hexadecimal digits; nothing else is
// checked, and a plus sign is a plus sign.
func Unescape(raw string) (string, error) {
	n := strings.IndexByte(raw, '%')
	if n < 0 {
		return raw, nil
	}
	var b strings.Builder
	b.Grow(len(raw))
	b.WriteString(raw[:n])
	for i := n; i < len(raw); i++ {
		c := raw[i]
		if c == '%' {
			if !isEscape(raw, i) {
				return "", newError(Latest, raw, fault{off: uint32(i), code: CodeEscape, rule: ruleEscape})
			}
			c = unhex(raw[i+1])<<4 | unhex(raw[i+2])
			i += 2
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// EscapePathSegment escapes octets so that they are one segment of a path.
func EscapePathSegment(data string) string { return escape(data, inPath, "/") }

// EscapePath escapes octets so that they are a path; slashes stay.
func EscapePath(data string) string { return escape(data, inPath, "") }

// EscapeQuery escapes octets so that they are a query. What delimits the parts
// of a query is not known here: see [EscapeQueryPart].
func EscapeQuery(data string) string { return escape(data, inQuery, "") }

// EscapeQueryPart escapes octets so that they are a key or a value in a query:
// the delimiters & = + ; too.
func EscapeQueryPart(data string) string { return escape(data, inQuery, "&=+;") }

// EscapeFragment escapes octets so that they are a fragment.
func EscapeFragment(data string) string { return escape(data, inFrag, "") }

// EscapeUserinfo escapes octets so that they are a part of the user
// information, without a colon.
func EscapeUserinfo(data string) string { return escape(data, inUser, ":") }

// EscapeHost escapes octets so that they are a registered name.
func EscapeHost(data string) string { return escape(data, inHost, "") }

// escape escapes everything that may not stand bare in a place, and what is
// special there.
func escape(data string, in class, special string) string {
	t := &classes[Latest]
	bare := func(c byte) bool { return t[c]&in != 0 && strings.IndexByte(special, c) < 0 }
	i := 0
	for i < len(data) && bare(data[i]) {
		i++
	}
	if i == len(data) {
		return data
	}
	var b strings.Builder
	b.Grow(len(data) + 2*(len(data)-i))
	b.WriteString(data[:i])
	for _, c := range []byte(data[i:]) {
		if bare(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}
