package uri

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Data is the meaning of a raw text: octets, with all escapes decoded. It is a
// separate type so that it cannot be put into a URI without being escaped, or be
// decoded twice (1997 and 2003, 2.4.2). The scheme defines which characters the
// octets represent.
type Data string

// ErrCharset is the error for a text to which the dialect assigns no octets. The draft of 1993
// defines only ISO Latin-1. The drafts of 1997 and 2003 leave the choice to the scheme.
var ErrCharset = errors.New("the dialect defines no octets for this character")

// Decode decodes the escapes of a raw component, or a part of one, once. The
// error is a *[Error] if a percent sign is not followed by two hexadecimal
// digits. Nothing else is checked, and a plus sign stays a plus sign.
//
// Split a component before decoding it: a delimiter that was escaped looks like a real
// delimiter after decoding.
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

// Unescape is like [Decode], but returns a string. Use it if your code keeps raw and decoded
// texts apart itself.
func Unescape(raw string) (string, error) {
	data, err := Decode(raw)
	return string(data), err
}

// DecodeLatin1 decodes a raw text whose escapes stand for characters of ISO
// Latin-1 (1993, Encoding prohibited characters).
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

// Escape escapes octets for use as a whole component or as one segment of a path. It escapes the
// characters that cannot appear there, and the characters that separate parts of the component. It
// never escapes unreserved characters, and writes escapes with upper-case letters. For a component
// that cannot have escapes, such as a port, it returns data unchanged.
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

// A bareSet is the set of the characters of a class without some delimiters. These characters
// need no escape.
type bareSet struct {
	in         class
	delimiters string
}

func (p bareSet) has(t *[256]class, c byte) bool {
	return t[c]&p.in != 0 && strings.IndexByte(p.delimiters, c) < 0
}

// bareSetOf returns the characters that need no escape in a component. In a segment, the
// delimiters that 1997, 4.3.2 and 2003, 3.3 reserve need an escape.
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

// EscapeText escapes a text: as UTF-8 in RFC 3986 (2.5), and as ISO Latin-1 in the draft of 1993. The
// drafts of 1997 and 2003 define octets for US-ASCII only and leave other characters to the scheme.
// For a character without octets in the dialect, the error is [ErrCharset].
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

// MakeSafer escapes the characters of a URI that are in chars, for use where they
// are not safe (1993, Encoding prohibited characters). Escapes stay unchanged, so
// applying it twice has no further effect.
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

// EscapePathSegment escapes octets for use as one segment of a path.
func EscapePathSegment(data string) string { return Latest.Escape(ComponentSegment, Data(data)) }

// EscapePath escapes octets for use as a path; slashes stay.
func EscapePath(data string) string { return Latest.Escape(ComponentPath, Data(data)) }

// EscapeQuery escapes octets for use as a query. It does not escape the delimiters of keys and
// values; [EscapeQueryPart] does.
func EscapeQuery(data string) string { return Latest.Escape(ComponentQuery, Data(data)) }

// EscapeQueryPart escapes octets for use as a key or a value in a query,
// including the delimiters & = + ;.
func EscapeQueryPart(data string) string {
	return MakeSafer(Latest.Escape(ComponentQuery, Data(data)), "&=+;")
}

// EscapeFragment escapes octets for use as a fragment.
func EscapeFragment(data string) string { return Latest.Escape(ComponentFragment, Data(data)) }

// EscapeUserinfo escapes octets for use as a part of the user information; it
// escapes colons.
func EscapeUserinfo(data string) string {
	return MakeSafer(Latest.Escape(ComponentUserinfo, Data(data)), ":")
}

// EscapeHost escapes octets for use as a registered name.
func EscapeHost(data string) string { return Latest.Escape(ComponentHost, Data(data)) }
