package format

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/nomen-project/nomen/internal/shown"
)

// A charset is a character set for the metainformation of a [Part] (draft of 1995, section 3.4.2).
type charset struct {
	name string
	page *charmap.Charmap // nil for US-ASCII and UTF-8
	all  bool             // contains all characters, as UTF-8 does
}

// unicode is the charset for clients that accept UTF-8. The draft of 1995 does not include UTF-8.
var unicode = charset{name: "UTF-8", all: true}

// charsets are the charsets of the draft of 1995. The first is the default.
var charsets = [...]charset{
	{name: defaultCharset},
	{name: "ISO-8859-1", page: charmap.ISO8859_1},
	{name: "ISO-8859-2", page: charmap.ISO8859_2},
	{name: "ISO-8859-3", page: charmap.ISO8859_3},
	{name: "ISO-8859-4", page: charmap.ISO8859_4},
	{name: "ISO-8859-5", page: charmap.ISO8859_5},
	{name: "ISO-8859-6", page: charmap.ISO8859_6},
	{name: "ISO-8859-7", page: charmap.ISO8859_7},
	{name: "ISO-8859-8", page: charmap.ISO8859_8},
	{name: "ISO-8859-9", page: charmap.ISO8859_9},
}

// The values of omitted header fields.
const (
	defaultCharset  = "US-ASCII"
	defaultLanguage = "x-unspecified"
)

func lookupCharset(name string) (charset, bool) {
	for _, c := range charsets {
		if strings.EqualFold(c.name, name) {
			return c, true
		}
	}
	return charset{}, false
}

// append appends r to b, and returns false if c does not contain r.
func (c charset) append(b []byte, r rune) (_ []byte, ok bool) {
	switch {
	case r < utf8.RuneSelf:
		return append(b, byte(r)), true
	case r == utf8.RuneError:
		return b, false
	case c.all:
		return utf8.AppendRune(b, r), true
	case c.page == nil:
		return b, false
	}
	octet, ok := c.page.EncodeRune(r)
	if !ok {
		return b, false
	}
	return append(b, octet), true
}

func (c charset) has(r rune) bool {
	_, ok := c.append(nil, r)
	return ok
}

// decode decodes b, with U+FFFD for invalid bytes, and reports whether all bytes were valid.
func (c charset) decode(b []byte) (string, bool) {
	var s strings.Builder
	whole := true
	for _, x := range b {
		r := c.rune(x)
		whole = whole && r != utf8.RuneError
		s.WriteRune(r)
	}
	return s.String(), whole
}

func (c charset) rune(b byte) rune {
	switch {
	case b < utf8.RuneSelf:
		return rune(b)
	case c.page == nil:
		return utf8.RuneError
	}
	return c.page.DecodeByte(b)
}

func (c charset) missing(s string) int {
	n := 0
	for _, r := range s {
		if !c.has(r) {
			n++
		}
	}
	return n
}

// bestCharset returns the charset for a part:
//   - the charset declared, if it contains all characters of the note;
//   - otherwise, the charset that lacks the fewest characters of the note and, among equals, the
//     fewest characters of the description;
//   - the fallback, if the fallback is not zero and this charset lacks a character.
func bestCharset(declared, note, description string, fallback charset) charset {
	if c, ok := lookupCharset(declared); ok && c.missing(note) == 0 {
		return c
	}
	best := charsets[0]
	misses := [2]int{best.missing(note), best.missing(description)}
	for _, c := range charsets[1:] {
		if misses == [2]int{} {
			break
		}
		m := [2]int{c.missing(note), c.missing(description)}
		if m[0] < misses[0] || m[0] == misses[0] && m[1] < misses[1] {
			best, misses = c, m
		}
	}
	if misses != [2]int{} && fallback.name != "" {
		return fallback
	}
	return best
}

// escape replaces control characters and characters outside c by "&#x", hexadecimal digits and ";".
// It also escapes an "&" before "#x", so that unescape restores s exactly. Line endings become LF.
func (c charset) escape(s string) string {
	s = shown.Lines(s)
	var b strings.Builder
	for i, r := range s {
		switch {
		case !c.has(r), isControl(r) && r != '\n' && r != '\t', r == '&' && strings.HasPrefix(s[i:], reference):
			b.WriteString(reference + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + ";")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

const reference = "&#x"

// unescape reverses [charset.escape]. It ignores invalid references.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, reference)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		r, n := referenced(rest)
		if n == 0 {
			b.WriteString(reference)
		} else {
			b.WriteRune(r)
		}
		s = rest[n:]
	}
}

// referenced decodes a character reference, where s is the text after "&#x". It returns the
// character and the number of bytes read. The number is 0 if s does not continue a valid reference.
func referenced(s string) (rune, int) {
	const maxDigits = 6
	end := strings.IndexByte(s[:min(len(s), maxDigits+1)], ';')
	if end <= 0 {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[:end], 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return rune(n), end + 1
}
