package format

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// NamePath returns the path of a name on the server that resolves it. A client would cut a name
// at "?" or "#", and would remove dot segments when it resolves the path as a reference (RFC
// 3986, 5.2.4). NamePath therefore escapes such a name completely, including the colon after
// its scheme.
func NamePath(key string) string {
	if strings.IndexByte(key, '?') >= 0 || strings.IndexByte(key, '#') >= 0 || hasDotSegment(key) {
		key = strings.ReplaceAll(uri.EscapePathSegment(key), ":", "%3A")
	}
	return "/" + key
}

// hasDotSegment reports whether a segment is "." or "..", in any spelling that browsers accept.
func hasDotSegment(s string) bool {
	// Most names have neither of these, and searching for them is faster than the loop.
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
