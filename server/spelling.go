package server

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/name"
)

// schemeOf returns the scheme at the beginning of s in lower case, if there is one.
func schemeOf(s string) (string, bool) {
	i := strings.IndexByte(s, ':')
	if i <= 0 || s[0]|0x20 < 'a' || s[0]|0x20 > 'z' {
		return "", false
	}
	for _, c := range []byte(s[:i]) {
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '+' || c == '-' || c == '.') {
			return "", false
		}
	}
	return strings.ToLower(s[:i]), true
}

// isNameScheme reports whether names of a scheme are recognized by their full spelling
// even without an authority.
func isNameScheme(scheme string) bool {
	return pid.Lookup(scheme).Resolved || scheme == "http" || scheme == "https"
}

// escapeExcluded escapes the octets that are never allowed in a URI (2012, N12-21),
// except the percent sign.
func escapeExcluded(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c > ' ' && c < 0x7f && strings.IndexByte("\"<>\\^`{|}", c) < 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// malformed returns the error for the malformed name in s that begins at an offset.
func malformed(s string, begin int, err error) error {
	e := &nomen.Error{Kind: nomen.Malformed, Name: s, Rule: "name", Message: err.Error(), Err: err}
	var bad *name.Error
	if errors.As(err, &bad) {
		e.Offset, e.Rule, e.Message = min(max(bad.Offset-begin, 0), len(s)), bad.Rule, bad.Message
	}
	return e
}
