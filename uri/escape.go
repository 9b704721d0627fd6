package uri

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Data is text with its escapes decoded, as a sequence of octets. It is a separate type from string
// so that a program cannot put it into a URI without escaping it, or decode it twice (drafts of
// 1997 and 2003, section 2.4.2). Which characters the octets represent depends on the scheme.
type Data string

// ErrCharset means that the dialect does not say which octets represent a character. The draft of
// 1993 defines octets only for ISO Latin-1. The drafts of 1997 and 2003 define them only for
// US-ASCII, and leave other characters to the scheme.
var ErrCharset = errors.New("the dialect defines no octets for this character")

// Decode decodes the escapes of a raw component, or of a part of one. A plus sign stays a plus
// sign. The error is an *[Error] if a percent sign is not followed by two hexadecimal digits;
// Decode checks nothing else.
//
// Split a component before decoding it. After decoding, an escaped delimiter cannot be
// distinguished from an unescaped delimiter.
func Decode(raw string) (Data, error) {
	n := strings.IndexByte(raw, '%')
	if n < 0 {
		return Data(raw), nil
	}
	var b strings.Builder
	b.Grow(len(raw))
	b.WriteString(raw[:n])
	for i := n; i < len(raw); i++ {
		c := raw[i]
		if c == '%' {
			if !isEscape(raw, i) {
				return "", newError(Latest, raw, badCharacter(raw, i, ruleEscape))
			}
			c = ascii.Unhex(raw[i+1])<<4 | ascii.Unhex(raw[i+2])
			i += 2
		}
		b.WriteByte(c)
	}
	return Data(b.String()), nil
}

// Unescape is like [Decode], but returns a string.
func Unescape(raw string) (string, error) {
	data, err := Decode(raw)
	return string(data), err
}

// DecodeLatin1 decodes a raw text whose escapes represent characters of ISO Latin-1 (draft of 1993,
// Encoding prohibited characters). The result is UTF-8.
func DecodeLatin1(raw string) (string, error) {
	data, err := Decode(raw)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range []byte(data) {
		b.WriteRune(rune(c))
	}
	return b.String(), nil
}

// Escape escapes data for use as component c, or as one segment of a path. It escapes the
// characters that the component cannot contain and the characters that would separate its parts,
// such as a slash in a segment. It never escapes unreserved characters, and writes escapes with
// upper-case digits. If the component cannot contain escapes, such as the port, Escape returns data
// unchanged.
func (d Dialect) Escape(c Component, data Data) string {
	if !d.IsValid() || c > ComponentSegment {
		return string(data)
	}
	p := bareSetOf(d, c)
	if p.in == 0 {
		return string(data)
	}
	t := &classes[d]
	i := 0
	for i < len(data) && p.has(t, data[i]) {
		i++
	}
	if i == len(data) {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data) + 2*(len(data)-i))
	b.WriteString(string(data[:i]))
	for _, c := range []byte(data[i:]) {
		if p.has(t, c) {
			b.WriteByte(c)
		} else {
			b.WriteString(ascii.Escape(c))
		}
	}
	return b.String()
}

// A bareSet is the set of characters that need no escape: the characters of a class, without some
// delimiters.
type bareSet struct {
	in         class
	delimiters string
}

func (p bareSet) has(t *[256]class, c byte) bool {
	return t[c]&p.in != 0 && strings.IndexByte(p.delimiters, c) < 0
}

// bareSetOf returns the characters that need no escape in a component. In a segment, the set
// excludes the delimiters of parameters (draft of 1997, section 4.3.2; draft of 2003, section 3.3).
func bareSetOf(d Dialect, c Component) bareSet {
	switch c {
	case ComponentUserinfo:
		return bareSet{in: inUser}
	case ComponentHost:
		return bareSet{in: inHost}
	case ComponentPath:
		return bareSet{in: inPath}
	case ComponentQuery:
		return bareSet{in: inQuery}
	case ComponentFragment:
		return bareSet{in: inFrag}
	case ComponentSegment:
		if grammars[d].params {
			return bareSet{inPath, "/;="}
		}
		return bareSet{inPath, "/"}
	default:
		return bareSet{}
	}
}

// EscapeText escapes text for use as component c. It encodes the characters as UTF-8 in RFC 3986
// (section 2.5) and as ISO Latin-1 in the draft of 1993. The drafts of 1997 and 2003 define octets
// for US-ASCII only. If the dialect does not define octets for a character, the error is
// [ErrCharset].
func (d Dialect) EscapeText(c Component, text string) (string, error) {
	if d >= RFC3986 {
		return d.Escape(c, Data(text)), nil
	}
	limit := rune(utf8.RuneSelf)
	if d == Draft1993 {
		limit = 0x100
	}
	octets := make([]byte, 0, len(text))
	for i, r := range text {
		if r >= limit {
			return "", fmt.Errorf("uri: %s: offset %d: %w", quote(text), i, ErrCharset)
		}
		octets = append(octets, byte(r))
	}
	return d.Escape(c, Data(octets)), nil
}

// MakeSafer escapes each character of a URI that is in chars. Use it for contexts in which these
// characters are not safe (draft of 1993, Encoding prohibited characters). MakeSafer does not
// change existing escapes, so it is idempotent.
func MakeSafer(raw, chars string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for _, c := range []byte(raw) {
		if c != '%' && strings.IndexByte(chars, c) >= 0 {
			b.WriteString(ascii.Escape(c))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// EscapePathSegment escapes data for use as one segment of a path, so that "a/b" becomes "a%2Fb".
func EscapePathSegment(data string) string { return Latest.Escape(ComponentSegment, Data(data)) }

// EscapePath escapes data for use as a path. It does not escape slashes.
func EscapePath(data string) string { return Latest.Escape(ComponentPath, Data(data)) }

// EscapeQuery escapes data for use as a whole query. It does not escape the characters that
// separate keys and values; to escape a single key or value, use [EscapeQueryPart].
func EscapeQuery(data string) string { return Latest.Escape(ComponentQuery, Data(data)) }

// EscapeQueryPart escapes data for use as a key or a value in a query. It also escapes the
// delimiters & = + and ;.
func EscapeQueryPart(data string) string {
	return MakeSafer(Latest.Escape(ComponentQuery, Data(data)), "&=+;")
}

// EscapeFragment escapes data for use as a fragment.
func EscapeFragment(data string) string { return Latest.Escape(ComponentFragment, Data(data)) }

// EscapeUserinfo escapes data for use as a user name or a password. It also escapes colons.
func EscapeUserinfo(data string) string {
	return MakeSafer(Latest.Escape(ComponentUserinfo, Data(data)), ":")
}

// EscapeHost escapes data for use as a registered name.
func EscapeHost(data string) string { return Latest.Escape(ComponentHost, Data(data)) }
