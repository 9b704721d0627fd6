package uri

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const upperHex = "0123456789ABCDEF"

// Data is what a raw text stands for: octets, with all escapes decoded. It is a
// type of its own so that it is not put into a URI without being escaped, and
// not decoded twice (1997 and 2003, 2.4.2). What characters the octets mean is
// for the scheme to say.
type Data string

// ErrCharset is the error of a text for which the dialect has no octets: 1993
// knows ISO Latin-1 only, 1997 and 2003 leave the choice to the scheme.
var ErrCharset = errors.New("no octets are defined for the text")

// Decode decodes the escapes of a raw component or a part of one, once. It is
// an error, a *[Error], if a percent sign is not followed by two hexadecimal
// digits; nothing else is checked, and a plus sign is a plus sign.
//
// A component is to be split before it is decoded: a decoded delimiter can no
// longer be told from a real one.
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
			c = unhex(raw[i+1])<<4 | unhex(raw[i+2])
			i += 2
		}
		b.WriteByte(c)
	}
	return Data(b.String()), nil
}

// Unescape is [Decode] for those who keep raw and decoded texts apart
// themselves.
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

// Escape escapes octets so that they are the whole of a component, or one
// segment of a path: all that may not stand bare there, and what delimits parts
// of it. Unreserved characters are never escaped; letters of escapes are upper
// case. A component that has no escapes, such as a port, is returned as it is.
func (d Dialect) Escape(c Component, data Data) string {
	if !d.IsValid() || c > ComponentSegment {
		return string(data)
	}
	p := placeOf(d, c)
	if p.in == 0 {
		return string(data)
	}
	t := &classes[d]
	i := 0
	for i < len(data) && p.bare(t, data[i]) {
		i++
	}
	if i == len(data) {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data) + 2*(len(data)-i))
	b.WriteString(string(data[:i]))
	for _, c := range []byte(data[i:]) {
		if p.bare(t, c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}

// A place is a class of characters without those that delimit there.
type place struct {
	in         class
	delimiters string
}

func (p place) bare(t *[256]class, c byte) bool {
	return t[c]&p.in != 0 && strings.IndexByte(p.delimiters, c) < 0
}

// placeOf returns where data of a component stand. The delimiters of segments
// are those that 1997, 4.3.2 and 2003, 3.3 reserve.
func placeOf(d Dialect, c Component) place {
	switch c {
	case ComponentUserinfo:
		return place{in: inUser}
	case ComponentHost:
		return place{in: inHost}
	case ComponentPath:
		return place{in: inPath}
	case ComponentQuery:
		return place{in: inQuery}
	case ComponentFragment:
		return place{in: inFrag}
	case ComponentSegment:
		if grammars[d].params {
			return place{inPath, "/;="}
		}
		return place{inPath, "/"}
	default:
		return place{}
	}
}

// EscapeText escapes a text: by the octets of UTF-8 in RFC 3986 (2.5), by those
// of ISO Latin-1 in 1993. In 1997 and 2003 only US-ASCII has octets without the
// scheme being asked; for other characters, and for those not in ISO Latin-1,
// the error is [ErrCharset].
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

// MakeSafer escapes further characters of a URI, those in chars, where they are
// not safe to pass on (1993, Encoding prohibited characters). Escapes stay as
// they are, so doing it twice changes nothing.
func MakeSafer(raw, chars string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for _, c := range []byte(raw) {
		if c != '%' && strings.IndexByte(chars, c) >= 0 {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// EscapePathSegment escapes octets so that they are one segment of a path.
func EscapePathSegment(data string) string { return Latest.Escape(ComponentSegment, Data(data)) }

// EscapePath escapes octets so that they are a path; slashes stay.
func EscapePath(data string) string { return Latest.Escape(ComponentPath, Data(data)) }

// EscapeQuery escapes octets so that they are a query. What delimits the parts
// of a query is not known here; see [EscapeQueryPart].
func EscapeQuery(data string) string { return Latest.Escape(ComponentQuery, Data(data)) }

// EscapeQueryPart escapes octets so that they are a key or a value in a query:
// the delimiters & = + ; too.
func EscapeQueryPart(data string) string {
	return MakeSafer(Latest.Escape(ComponentQuery, Data(data)), "&=+;")
}

// EscapeFragment escapes octets so that they are a fragment.
func EscapeFragment(data string) string { return Latest.Escape(ComponentFragment, Data(data)) }

// EscapeUserinfo escapes octets so that they are a part of the user
// information, without a colon.
func EscapeUserinfo(data string) string {
	return MakeSafer(Latest.Escape(ComponentUserinfo, Data(data)), ":")
}

// EscapeHost escapes octets so that they are a registered name.
func EscapeHost(data string) string { return Latest.Escape(ComponentHost, Data(data)) }
