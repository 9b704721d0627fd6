package bulk

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A decoder reads one JSON text (RFC 8259) with a structure known to the caller. The decoder keeps
// the first error and then stops reading.
//
// Decoded strings without escapes share memory with the input.
type decoder struct {
	in  string
	at  int        // offset in the input
	key int        // offset of the key of the current member
	err *LineError // the first error, without the line number

	// short is set if the input ended too early.
	short bool

	// The path of the current value is used in errors.
	field string // member of the outer object
	index int    // index of the element in a list, or -1
	sub   string // member of an inner object
}

func (d *decoder) reset(line string) {
	*d = decoder{in: line, index: -1}
	if !utf8.ValidString(line) {
		d.fail(invalid(line), notUTF8)
	}
}

func invalid(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(s)
}

func (d *decoder) fail(at int, message string) {
	if d.err == nil {
		d.err = &LineError{Column: at + 1, Field: d.path(), Message: message}
		d.short = at >= len(d.in)
	}
}

const maxShown = 64 // bytes of a field's name in an error

// path returns the path of the current value, such as "locations[2].url".
func (d *decoder) path() string {
	p := shorten(d.field)
	if d.field == "metadata" && d.sub != "" {
		p += "." + shorten(d.sub)
	}
	if d.index >= 0 {
		p += "[" + strconv.Itoa(d.index) + "]"
	}
	if (d.field == "locations" || d.field == "values") && d.sub != "" {
		p += "." + shorten(d.sub)
	}
	return p
}

func shorten(s string) string { return ascii.Head(s, maxShown) }

func (d *decoder) space() int {
	for d.at < len(d.in) {
		switch d.in[d.at] {
		case ' ', '\t', '\r', '\n':
			d.at++
		default:
			return d.at
		}
	}
	return d.at
}

// take skips white space and then the byte c. It returns false if the next byte is not c.
func (d *decoder) take(c byte) bool {
	if d.err == nil && d.space() < len(d.in) && d.in[d.at] == c {
		d.at++
		return true
	}
	return false
}

// want is like take, but records an error if the next byte is not c. The parameter description
// names c in the error.
func (d *decoder) want(c byte, description string) bool {
	if !d.take(c) {
		d.fail(d.space(), "expected "+description+", found "+d.found())
	}
	return d.err == nil
}

func (d *decoder) found() string {
	if d.at >= len(d.in) {
		return "the end of the line"
	}
	switch c := d.in[d.at]; {
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	case strings.HasPrefix(d.in[d.at:], "null"):
		return "null (omit a field without a value)"
	case strings.HasPrefix(d.in[d.at:], "true"), strings.HasPrefix(d.in[d.at:], "false"):
		return "a boolean"
	}
	r, _ := utf8.DecodeRuneInString(d.in[d.at:])
	return strconv.QuoteRune(r)
}

// end records an error if the rest of the input is not white space.
func (d *decoder) end() {
	if d.err == nil && d.space() < len(d.in) {
		d.field, d.index, d.sub = "", -1, ""
		d.fail(d.at, "unexpected data after the record: "+d.found())
	}
}

func (d *decoder) members(yield func(string) bool) {
	if !d.want('{', "an object") || d.take('}') {
		return
	}
	for d.err == nil {
		at := d.space()
		key := d.text()
		if !d.want(':', "a colon") {
			return
		}
		d.key = at
		if !yield(key) || d.err != nil || d.take('}') || !d.want(',', `"," or "}"`) {
			return
		}
	}
}

func (d *decoder) elements(yield func(int) bool) {
	if d.want('[', "a list") && !d.take(']') {
		for i := 0; d.err == nil; i++ {
			if !yield(i) || d.err != nil || d.take(']') || !d.want(',', `"," or "]"`) {
				break
			}
		}
	}
	if d.err == nil {
		d.index = -1
	}
}

func (d *decoder) text() string {
	if !d.want('"', "a string") {
		return ""
	}
	for i := d.at + ordinary(d.in[d.at:]); i < len(d.in); i++ {
		switch c := d.in[i]; {
		case c == '"':
			s := d.in[d.at:i]
			d.at = i + 1
			return s
		case c == '\\':
			return d.escaped(i)
		case c < ' ':
			d.fail(i, "a control character in a string must be escaped")
			return ""
		}
	}
	d.fail(len(d.in), "the line ends in a string")
	return ""
}

// ordinary returns the length of a prefix of s that has no quotes, backslashes or control
// characters. It examines eight bytes at a time, so the length is a multiple of eight.
func ordinary(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		quote, backslash := x^(ones*'"'), x^(ones*'\\')
		// If a byte of x is below ' ', or a byte of quote or backslash is zero, the subtraction
		// sets the top bit of this byte. A borrow can also set the top bit of the next byte, but
		// only after it has set a correct one. So the result is nonzero exactly if there is such a
		// byte.
		if ((x-ones*' ')&^x|(quote-ones)&^quote|(backslash-ones)&^backslash)&tops != 0 {
			break
		}
	}
	return i
}

// escaped reads the rest of a string. The first escape of the string is at offset.
func (d *decoder) escaped(offset int) string {
	b := append(make([]byte, 0, len(d.in[d.at:offset])+64), d.in[d.at:offset]...)
	d.at = offset
	for d.at < len(d.in) && d.err == nil {
		switch c := d.in[d.at]; {
		case c == '"':
			d.at++
			return string(b)
		case c == '\\':
			b = d.escape(b)
		case c < ' ':
			d.fail(d.at, "a control character in a string must be escaped")
		default:
			b = append(b, c)
			d.at++
		}
	}
	d.fail(d.at, "the line ends in a string")
	return ""
}

func (d *decoder) escape(b []byte) []byte {
	if d.at+1 >= len(d.in) {
		d.fail(len(d.in), "the line ends in a string")
		return b
	}
	c := d.in[d.at+1]
	if c == 'u' {
		return utf8.AppendRune(b, d.unicode())
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		d.fail(d.at, "invalid escape")
		return b
	}
	d.at += 2
	return append(b, "\"\\/\b\f\n\r\t"[i])
}

// unicode reads a \uXXXX escape, or two such escapes that form a surrogate pair.
func (d *decoder) unicode() rune {
	start := d.at
	r := d.hex()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if strings.HasPrefix(d.in[d.at:], `\u`) {
		if pair := utf16.DecodeRune(r, d.hex()); pair != utf8.RuneError {
			return pair
		}
	}
	d.fail(start, "unpaired surrogate")
	return utf8.RuneError
}

func (d *decoder) hex() rune {
	const size = len(`\uXXXX`)
	if d.at+size > len(d.in) {
		d.fail(len(d.in), "the line ends in an escape")
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(d.in[d.at+2:d.at+size], 16, 16)
	if err != nil {
		d.fail(d.at, `expected four hexadecimal digits after \u`)
		return utf8.RuneError
	}
	d.at += size
	return rune(n)
}

func (d *decoder) integer(low int64) int64 {
	at := d.space()
	if at < len(d.in) && d.in[at] != '-' && (d.in[at] < '0' || d.in[at] > '9') || at >= len(d.in) {
		d.fail(at, "expected a number, found "+d.found())
		return 0
	}
	for d.at++; d.at < len(d.in) && strings.IndexByte("0123456789.eE+-", d.in[d.at]) >= 0; {
		d.at++
	}
	s := d.in[at:d.at]
	n, err := strconv.ParseInt(s, 10, 64)
	digits := strings.TrimPrefix(s, "-")
	switch {
	case err != nil || n == math.MaxInt64 || len(digits) > 1 && digits[0] == '0':
		d.fail(at, "expected a whole number")
	case n < low:
		d.fail(at, "is too small")
	}
	return n
}

func (d *decoder) boolean() bool {
	at := d.space()
	for _, word := range [...]string{"true", "false"} {
		if strings.HasPrefix(d.in[at:], word) {
			d.at = at + len(word)
			return word == "true"
		}
	}
	d.fail(at, "expected true or false, found "+d.found())
	return false
}
