package scheme

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
)

// partsGeneric adds the parts of a URI of an unknown scheme (1993, BNF).
//
//	generic = scheme ":" path [ "?" search ]
func partsGeneric(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	t.rooted("path")
	t.search()
	t.fragment()
	return t.parts
}

// appendGeneral appends the findings that apply to all schemes.
func (s *Scheme) appendGeneral(found []Finding, u uri.URI) []Finding {
	text := u.String()
	name, _ := u.Scheme()
	if s.Danger != "" {
		found = append(found, warn(CodeDanger, 0, len(name), "RFC 7595, 3.7", s.Danger))
	}
	if strings.IndexByte(text, '%') >= 0 {
		found = appendHidden(found, text, u.Dialect())
	}
	if len(found) > 1 {
		slices.SortStableFunc(found, func(a, b Finding) int { return a.Offset - b.Offset })
	}
	return found
}

// appendHidden appends a finding for the first run of percent-encodings that
// decodes to an invisible or bidirectional control character. The charset is
// ISO Latin-1 in 1993, otherwise UTF-8.
func appendHidden(found []Finding, s string, d uri.Dialect) []Finding {
	for i := 0; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '%')
		if n < 0 {
			break
		}
		i += n
		r, size := escapedRune(s[i:], d)
		if isHidden(r) {
			return append(found, warn(CodeHidden, i, i+size, "RFC 3987, 4.1",
				"percent-encodes a character that is invisible or changes the text direction"))
		}
		i += max(size, 1) - 1
	}
	return found
}

// escapedRune decodes the character that the percent-encodings at the beginning
// of s stand for, and returns the number of bytes decoded; 0 if they are not
// valid UTF-8.
func escapedRune(s string, d uri.Dialect) (r rune, size int) {
	if d == uri.Draft1993 {
		return rune(unhex(s[1])<<4 | unhex(s[2])), 3
	}
	var b [utf8.UTFMax]byte
	n := 0
	for n < len(b) && len(s) >= 3*n+3 && s[3*n] == '%' && isHex(s[3*n+1]) && isHex(s[3*n+2]) {
		b[n] = unhex(s[3*n+1])<<4 | unhex(s[3*n+2])
		n++
	}
	r, w := utf8.DecodeRune(b[:n])
	if r == utf8.RuneError && w <= 1 {
		return 0, 0
	}
	return r, 3 * w
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

// needServer returns an error unless two slashes and a host are present.
func (l *layout) needServer(rule string) []Finding {
	switch {
	case !l.authority:
		return refuse(l.rest, l.rest, rule, "missing // and host after the colon")
	case l.host < 0:
		return refuse(l.rest+2, l.path, rule, "the authority must be a host")
	case l.host == l.hostEnd:
		return refuse(l.host, l.host, rule, "the host must not be empty")
	}
	return nil
}

// refuseControls returns an error if a percent-encoding, once decoded, would
// end a line or a field of the protocol.
func (l *layout) refuseControls(rule, protocol string) []Finding {
	at := escapedControl(l.s, l.rest, l.end())
	if at < 0 {
		return nil
	}
	return refuseControl(at, rule, protocol)
}

// refuseControl returns an error about a percent-encoded control character.
func refuseControl(at int, rule, protocol string) []Finding {
	f := broken(at, at+3, rule, "a control character cannot be sent in "+protocol)
	f.Code = CodeInjection
	return []Finding{f}
}
