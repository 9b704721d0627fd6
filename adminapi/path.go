package adminapi

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// Root is the path of the admin API.
const Root = "/api/v1/"

// EscapeName escapes a whole name or prefix for use in a path. It escapes all characters except the
// unreserved ones of RFC 3986 and the plus sign, which schemes may contain.
func EscapeName(s string) string {
	return ascii.EscapeUnless(s, func(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-._~+", c) >= 0 })
}

// UnescapeName returns the name in a path. An escaped colon after the scheme shows that the whole
// name was escaped by [EscapeName], so UnescapeName unescapes it. Otherwise, the escapes are a part
// of the name and stay.
func UnescapeName(s string) string {
	i := strings.IndexAny(s, ":%")
	if i <= 0 || !strings.HasPrefix(strings.ToUpper(s[i:min(i+3, len(s))]), "%3A") {
		return s
	}
	if plain, err := uri.Unescape(s); err == nil {
		return plain
	}
	return s
}
