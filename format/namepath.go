package format

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// NamePath returns the path of a name on the server that resolves it. Clients cut the path of a URL
// at "?" and "#", and remove dot segments (RFC 3986, section 5.2.4). If this would change the name,
// NamePath escapes the whole name, including the colon after the scheme.
func NamePath(key string) string {
	if strings.IndexByte(key, '?') >= 0 || strings.IndexByte(key, '#') >= 0 || hasDotSegment(key) {
		key = strings.ReplaceAll(uri.EscapePathSegment(key), ":", "%3A")
	}
	return "/" + key
}

// hasDotSegment reports whether s has a segment that browsers treat as "." or "..", including
// escaped spellings.
func hasDotSegment(s string) bool {
	// These searches are faster than the loop, and are enough for most names.
	if !strings.Contains(s, "/.") && !strings.Contains(s, "/%") && s != "" && s[0] != '.' && s[0] != '%' {
		return false
	}
	for segment := range strings.SplitSeq(s, "/") {
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".", "..":
			return true
		}
	}
	return false
}
