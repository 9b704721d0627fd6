// Package hdl reads and writes what the interfaces of the Handle System share: the names of
// handles, and the data of their values.
package hdl

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Schemes returns the schemes that the name of a handle can have. The first is the usual one.
func Schemes(handle string) []string {
	if strings.HasPrefix(handle, "10.") {
		return []string{"hdl:", "doi:"}
	}
	return []string{"hdl:"}
}

// Escape escapes the characters of a handle that a URI cannot have.
func Escape(handle string) string {
	return ascii.EscapeUnless(handle, func(c byte) bool { return c != '%' && (ascii.IsPchar(c) || c == '/') })
}

// Of returns the handle of a name in the spelling shown. It returns false for names that are not
// handles.
func Of(spelling string) (string, bool) {
	for _, scheme := range []string{"hdl:", "doi:"} {
		if rest, ok := ascii.CutPrefix(spelling, scheme); ok {
			return Unescape(rest), true
		}
	}
	return "", false
}

// Unescape decodes the escapes of a text. A plus sign, and a percent sign that does not begin an
// escape, stay unchanged.
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
