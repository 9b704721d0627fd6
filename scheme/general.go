package scheme

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

func (s *Scheme) appendGeneral(found []Finding, u uri.URI) []Finding {
	text := u.String()
	name, _ := u.Scheme()
	if s.Danger != "" {
		found = append(found, layout.Warn(CodeDanger, 0, len(name), "RFC 7595, 3.7", s.Danger))
	}
	if strings.IndexByte(text, '%') >= 0 {
		found = appendHidden(found, text, u.Dialect())
	}
	if len(found) > 1 {
		slices.SortStableFunc(found, func(a, b Finding) int { return a.Offset - b.Offset })
	}
	return found
}

// appendHidden reports the first percent-encoded character that is invisible or changes the text
// direction. It decodes octets as ISO Latin-1 in the dialect of 1993, and as UTF-8 in all other
// dialects.
func appendHidden(found []Finding, s string, d uri.Dialect) []Finding {
	for i := 0; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '%')
		if n < 0 {
			break
		}
		i += n
		r, size := escapedRune(s[i:], d)
		if isHidden(r) {
			return append(found, layout.Warn(CodeHidden, i, i+size, "RFC 3987, 4.1",
				"percent-encodes a character that is invisible or changes the text direction"))
		}
		i += max(size, 1) - 1
	}
	return found
}

// escapedRune decodes the percent-encoded character at the start of s, and returns the length of
// its encoding. The length is 0 if the percent-encodings are not valid UTF-8.
func escapedRune(s string, d uri.Dialect) (r rune, size int) {
	if d == uri.Draft1993 {
		return rune(ascii.Unhex(s[1])<<4 | ascii.Unhex(s[2])), 3
	}
	return ascii.UnescapeRune(s)
}

// isHidden reports whether a non-ASCII character is invisible or changes the
// text direction.
func isHidden(r rune) bool {
	switch {
	case r < 0x80:
		return false // [uri.URI.Inspect] reports control characters
	case r <= 0x9F, r == 0xAD, r == 0x61C, r == 0x115F, r == 0x1160, r == 0x180E, r == 0x3164, r == 0xFEFF, r == 0xFFA0:
		return true
	case 0x200B <= r && r <= 0x200F, 0x2028 <= r && r <= 0x202E, 0x2060 <= r && r <= 0x206F:
		return true
	case 0xFFF9 <= r && r <= 0xFFFB, 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return false
}
