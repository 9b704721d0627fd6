package scheme

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
)

// partsGeneric takes the parts of a scheme that is not known (1993, BNF).
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

// appendGeneral adds what is to be said about the URIs of all schemes.
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

// appendHidden adds the first run of escapes that stands for a character which
// is not seen or turns the order of others: in ISO Latin-1 in 1993, in UTF-8
// otherwise.
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
				"stands for a character that is not seen, or that turns the order of others"))
		}
		i += max(size, 1) - 1
	}
	return found
}

// escapedRune decodes the character that the escapes at the beginning of s stand
// for, and how many bytes they are; 0 if they are not UTF-8.
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

// isHidden reports whether a character beyond ASCII is not seen or turns the
// order of others.
func isHidden(r rune) bool {
	switch {
	case r < 0x80:
		return false // controls are told by the general inspection
	case r <= 0x9F, r == 0xAD, r == 0x61C, r == 0x115F, r == 0x1160, r == 0x180E, r == 0x3164, r == 0xFEFF, r == 0xFFA0:
		return true
	case 0x200B <= r && r <= 0x200F, 0x2028 <= r && r <= 0x202E, 0x2060 <= r && r <= 0x206F:
		return true
	case 0xFFF9 <= r && r <= 0xFFFB, 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return false
}

// needServer refuses what has no host after two slashes.
func (l *layout) needServer(rule string) []Finding {
	switch {
	case !l.authority:
		return refuse(l.rest, l.rest, rule, "needs // and a host after the colon")
	case l.host < 0:
		return refuse(l.rest+2, l.path, rule, "the authority must be a host")
	case l.host == l.hostEnd:
		return refuse(l.host, l.host, rule, "the host must not be empty")
	}
	return nil
}

// refuseControls refuses escapes that, decoded, would end a line or a field of a
// protocol.
func (l *layout) refuseControls(rule, protocol string) []Finding {
	at := escapedControl(l.s, l.rest, l.end())
	if at < 0 {
		return nil
	}
	return refuseControl(at, rule, protocol)
}

// refuseControl refuses the escape of a control character.
func refuseControl(at int, rule, protocol string) []Finding {
	f := broken(at, at+3, rule, "a control character cannot be said in "+protocol)
	f.Code = CodeInjection
	return []Finding{f}
}
