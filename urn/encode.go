package urn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// EncodeNSS converts an identifier of another system to an NSS, or to an ElementID in [Draft1995].
// It escapes the UTF-8 octets of each character that the dialect does not allow there, and of each
// character in special (RFC 2141, sections 2.2 and 2.3; draft of 2012, section 2.5; RFC 8141,
// section 2.2). The parameter special should contain the ASCII characters that have a meaning in
// the namespace, such as separators.
//
// The error is an [*Error] if the identifier is empty, is not UTF-8 or contains NUL. In Draft1995,
// an identifier whose ElementID would be a request to a resolver is also an error; see [IsRequest].
//
// Only software that knows the rules of a namespace may create names in it (RFC 8141, section 2.2).
func (d Dialect) EncodeNSS(identifier, special string) (string, error) {
	b, err := d.appendEncoded(nil, identifier, special)
	if err != nil {
		return "", err
	}
	return d.checkEncoded(identifier, string(b))
}

// JoinNSS encodes each part of an identifier like [Dialect.EncodeNSS], and joins the parts with a
// separator. It escapes separators in the parts. Parts may be empty.
func (d Dialect) JoinNSS(separator byte, special string, parts ...string) (string, error) {
	var b []byte
	special += string(rune(separator))
	for i, part := range parts {
		if i > 0 {
			b = append(b, separator)
		}
		var err error
		if b, err = d.appendEncoded(b, part, special); err != nil {
			return "", err
		}
	}
	return d.checkEncoded(strings.Join(parts, string(rune(separator))), string(b))
}

func (d Dialect) appendEncoded(b []byte, identifier, special string) ([]byte, error) {
	switch {
	case !d.IsValid():
		return nil, d.fail(identifier, 0, "URN", "unknown dialect")
	case !utf8.ValidString(identifier):
		return nil, d.fail(identifier, invalidAt(identifier), grammars[d].nss, "is not UTF-8")
	case strings.IndexByte(identifier, 0) >= 0:
		return nil, d.fail(identifier, strings.IndexByte(identifier, 0), "excluded", "NUL is not allowed in a name")
	}
	for i := range len(identifier) {
		c := identifier[i]
		if d.bare(c, len(b) == 0) && strings.IndexByte(special, c) < 0 {
			b = append(b, c)
		} else {
			b = append(b, ascii.Escape(c)...)
		}
	}
	return b, nil
}

// bare reports whether octet c can stay unescaped. If first is true, c is the first octet of the
// NSS. The grammar of RFC 2141 allows "/", "?" and "#", but section 2.3.2 advises against them, so
// they are escaped.
func (d Dialect) bare(c byte, first bool) bool {
	g := &grammars[d]
	switch c {
	case '?', '#':
		return false
	case '/':
		return d != RFC2141 && is(c, g.nssSet) && (!first || g.leadingSlash)
	}
	return is(c, g.nssSet)
}

// checkEncoded checks that nss, which encodes the identifier, is a valid NSS. A result of JoinNSS
// can be invalid, because the separators are not escaped.
func (d Dialect) checkEncoded(identifier, nss string) (string, error) {
	if !d.IsValid() {
		return "", d.fail(identifier, 0, "URN", "unknown dialect")
	}
	rule := grammars[d].nss
	if err := d.checkNSS(nss); err != nil {
		return "", d.fail(identifier, min(err.Offset, len(identifier)), rule, "%s", err.Message)
	}
	if d == Draft1995 && IsRequest(nss) {
		return "", d.fail(identifier, 0, rule, "elements that begin with %q are requests to a resolver", ReservedPrefix)
	}
	return nss, nil
}

// checkNSS returns nil if s is an NSS, or an ElementID in the draft of 1995. Otherwise it returns
// the reason.
func (d Dialect) checkNSS(s string) *Error {
	g := &grammars[d]
	end := scan(s, 0, g.nssSet)
	switch {
	case end == 0, s[0] == '/' && !g.leadingSlash:
		return d.failNSS(s, 0)
	case end < len(s):
		return d.failAt(s, end, g.nss)
	}
	return nil
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return len(s)
}

// Display returns a spelling of u that is easier for people to read (draft of 2012, section 4; RFC
// 8141, section 4.4). For example, it decodes the escapes of "ä". Different names have different
// spellings. Use [URN.String] to copy and exchange names.
//
// In the NSS, Display decodes the escapes of letters, digits, signs and punctuation outside ASCII.
// It also decodes ASCII characters that the dialect excludes, such as "[", "]", "\", "^", "|", "{",
// "}" and the back-quote. It keeps an escape if the decoded character would result in a different
// name or could mislead readers. Such characters are those that need no escape, delimiters, quotes,
// spaces, controls, combining marks, and the characters in special.
func (u URN) Display(special string) string {
	if !u.IsValid() || strings.IndexByte(u.s[:u.nss], '%') < 0 {
		return u.s
	}
	b := make([]byte, 0, len(u.s))
	s := u.s[:u.nss]
	for i := 0; i < len(s); {
		if s[i] != '%' {
			b = append(b, s[i])
			i++
			continue
		}
		r, n := u.shown(s, i, special)
		if n == 0 {
			b = append(b, s[i:i+3]...)
			i += 3
			continue
		}
		b = utf8.AppendRune(b, r)
		i += n
	}
	return string(append(b, u.s[u.nss:]...))
}

// shown decodes the escapes at offset i of s. It returns the character and the length of its
// escapes, or 0 and 0 if Display keeps these escapes.
func (u URN) shown(s string, i int, special string) (rune, int) {
	var octets [utf8.UTFMax]byte
	n := 0
	for n < len(octets) && isEscape(s, i+3*n) {
		octets[n] = octetAt(s, i+3*n)
		n++
	}
	r, size := utf8.DecodeRune(octets[:n])
	if r == utf8.RuneError || !u.showable(r) || strings.ContainsRune(special, r) {
		return 0, 0
	}
	return r, 3 * size
}

func (u URN) showable(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !is(byte(r), grammars[u.dialect].nssSet) && !strings.ContainsRune(`%"<>#?/`, r)
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}
