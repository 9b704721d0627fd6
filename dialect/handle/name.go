package handle

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/name"
)

// nameOf returns the name of a handle. If the dialect is not switched on for the handle, the error
// has the code 301.
func (s *Server) nameOf(handle string) (name.Name, error) {
	if handle == "" {
		return name.Name{}, failed(codeInvalidHandle, "Empty handle invalid")
	}
	var first error
	for _, scheme := range schemes(handle) {
		n, err := name.Parse(scheme + escapeHandle(handle))
		if err == nil && s.scope.Covers(n) {
			return n, nil
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return name.Name{}, failed(codeInvalidHandle, "Invalid handle")
	}
	return name.Name{}, failed(codeNotHere, "this server is not responsible for the handle")
}

// schemes returns the schemes that the name of a handle can have.
func schemes(handle string) []string {
	if strings.HasPrefix(handle, "10.") {
		return []string{"hdl:", "doi:"}
	}
	return []string{"hdl:"}
}

// escapeHandle escapes the characters of a handle that a URI cannot have.
func escapeHandle(s string) string {
	return ascii.EscapeUnless(s, func(c byte) bool { return c != '%' && (ascii.IsPchar(c) || c == '/') })
}

// handleOf returns the handle of a name in the spelling shown, and false for names of other schemes.
func handleOf(spelling string) (string, bool) {
	for _, scheme := range []string{"hdl:", "doi:"} {
		if rest, ok := ascii.CutPrefix(spelling, scheme); ok {
			return unescape(rest), true
		}
	}
	return "", false
}
