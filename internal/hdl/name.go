// Package hdl reads and writes the names and values of handles, in the forms that all interfaces of
// the Handle System share.
package hdl

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Schemes returns the schemes that the name of a handle can have, with the usual scheme first.
func Schemes(handle string) []string {
	if strings.HasPrefix(handle, "10.") {
		return []string{"hdl:", "doi:"}
	}
	return []string{"hdl:"}
}

// Escape percent-encodes the characters of a handle that a URI cannot contain.
func Escape(handle string) string {
	return ascii.EscapeUnless(handle, func(c byte) bool { return c != '%' && (ascii.IsPchar(c) || c == '/') })
}

// Of returns the handle in a name, as it is spelled. It returns false if the name is not a handle.
func Of(spelling string) (string, bool) {
	for _, scheme := range []string{"hdl:", "doi:"} {
		if rest, ok := ascii.CutPrefix(spelling, scheme); ok {
			return Unescape(rest), true
		}
	}
	return "", false
}

// Unescape decodes percent-encodings. It does not change plus signs, or percent signs that are not
// part of a percent-encoding.
func Unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if ascii.IsEscape(s, i) {
			b = append(b, ascii.Unhex(s[i+1])<<4|ascii.Unhex(s[i+2]))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}
