package server

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
)

func schemeOf(s string) (string, bool) {
	i := strings.IndexByte(s, ':')
	if i <= 0 || !ascii.IsLetter(s[0]) {
		return "", false
	}
	for _, c := range []byte(s[:i]) {
		if !ascii.IsAlnum(c) && c != '+' && c != '-' && c != '.' {
			return "", false
		}
	}
	return strings.ToLower(s[:i]), true
}

// isNameScheme reports whether the server recognizes names of a scheme that no authority here
// covers. Such names must be complete.
func isNameScheme(scheme string) bool {
	return pid.Lookup(scheme).Resolved || scheme == "http" || scheme == "https"
}
