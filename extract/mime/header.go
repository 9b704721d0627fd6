package mime

import (
	"bytes"
	"encoding/base64"
	"net/mail"
	"net/textproto"
	"strings"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// A Field is a header field as it is spelled in a message.
type Field struct {
	Name  string
	Value source.Mapped // including the line breaks of folds
	At    int64
}

// Fields are the fields of one header.
type Fields []Field

// Mail returns the fields that describe a body, as the type of net/mail. If a field is repeated,
// the first occurrence counts.
func (fs Fields) Mail() mail.Header {
	h := mail.Header{}
	for i := range fs {
		switch name := textproto.CanonicalMIMEHeaderKey(fs[i].Name); name {
		case "Content-Type", "Content-Transfer-Encoding", "Content-Base", "Content-Location":
			if _, ok := h[name]; !ok {
				h[name] = []string{strings.TrimSpace(string(Unfolded(&fs[i].Value).Text))}
			}
		}
	}
	return h
}

// Extent returns the offsets in the file at which the field with the given name starts and ends.
// The name must be in canonical form. The parameter end is the end of the header.
func (fs Fields) Extent(name string, end int64) (int64, int64) {
	for i := range fs {
		if textproto.CanonicalMIMEHeaderKey(fs[i].Name) != name {
			continue
		}
		if i+1 < len(fs) {
			return fs[i].At, fs[i+1].At
		}
		return fs[i].At, end
	}
	return end, end
}

// Unfolded returns a copy of a value without line breaks (RFC 5322, section 2.2.3).
func Unfolded(v *source.Mapped) *source.Mapped {
	return Without(v, "\r\n")
}

// Without returns a copy of a text without the octets in chars.
func Without(v *source.Mapped, chars string) *source.Mapped {
	if !bytes.ContainsAny(v.Text, chars) {
		return v
	}
	out := &source.Mapped{}
	for i := 0; i < len(v.Text); {
		n := bytes.IndexAny(v.Text[i:], chars)
		if n < 0 {
			n = len(v.Text) - i
		}
		if n > 0 {
			v.Pieces(out, i, i+n)
		}
		i += n + 1
	}
	return out
}

// withoutComments removes the comments from the value of a structured field (RFC 822, section
// 3.4.3; RFC 2045, section 5.1).
func withoutComments(value string) string {
	if strings.IndexByte(value, '(') < 0 {
		return value
	}
	var b strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && i+1 < len(value):
			if i++; depth == 0 {
				b.WriteString(value[i-1 : i+1])
			}
			continue
		case c == '"' && depth == 0:
			quoted = !quoted
		case c == '(' && !quoted:
			depth++
			continue
		case c == ')' && depth > 0:
			depth--
			continue
		}
		if depth == 0 {
			b.WriteByte(value[i])
		}
	}
	return b.String()
}

// looseType parses a media type with invalid parameters, which are common in messages. It accepts
// unquoted values with special characters, repeated parameters, and parameters without a value. If
// a parameter is repeated, the first one counts.
func looseType(value string) (kind string, params map[string]string) {
	kind, rest, _ := strings.Cut(value, ";")
	kind, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(kind)), " ")
	params = map[string]string{}
	for rest != "" {
		var name, text string
		name, text, rest = looseParameter(rest)
		if _, ok := params[name]; !ok && name != "" {
			params[name] = text
		}
	}
	return kind, params
}

// looseParameter parses the parameter before the first semicolon of s. It returns the name in lower
// case, the value without quotation marks, and the text after the semicolon.
func looseParameter(s string) (name, value, rest string) {
	n := strings.IndexAny(s, "=;")
	if n < 0 {
		return "", "", ""
	}
	name, rest = strings.ToLower(strings.TrimSpace(s[:n])), s[n+1:]
	if s[n] == ';' {
		return "", "", rest
	}
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" || rest[0] != '"' {
		value, rest, _ = strings.Cut(rest, ";")
		return name, strings.TrimSpace(value), rest
	}
	var b strings.Builder
	i := 1
	for ; i < len(rest) && rest[i] != '"'; i++ {
		if rest[i] == '\\' && i+1 < len(rest) {
			i++
		}
		b.WriteByte(rest[i])
	}
	_, rest, _ = strings.Cut(rest[i:], ";")
	return name, b.String(), rest
}

// DecodedWords returns a copy of a value, unfolded and with its encoded words decoded (RFC 2047).
// White space between two encoded words is removed.
func DecodedWords(v *source.Mapped) *source.Mapped {
	v = Unfolded(v)
	if !bytes.Contains(v.Text, []byte("=?")) {
		return v
	}
	out := &source.Mapped{}
	for i, afterWord := 0, false; i < len(v.Text); {
		n := bytes.Index(v.Text[i:], []byte("=?"))
		if n < 0 {
			v.Pieces(out, i, len(v.Text))
			break
		}
		w, ok := encodedWord(v.Text[i+n:])
		if !ok {
			v.Pieces(out, i, i+n+2)
			i, afterWord = i+n+2, false
			continue
		}
		if n > 0 && !(afterWord && len(bytes.TrimSpace(v.Text[i:i+n])) == 0) {
			v.Pieces(out, i, i+n)
		}
		w.decode(v, i+n, out)
		i, afterWord = i+n+w.length, true
	}
	return out
}

// A word is an encoded word: =?charset?encoding?text?=.
type word struct {
	charset    string
	base64     bool
	text, tail int // the encoded text is between these offsets
	length     int
}

func encodedWord(b []byte) (w word, ok bool) {
	charset, rest, ok := bytes.Cut(b[2:], []byte("?"))
	if !ok || len(charset) == 0 || len(charset) > 64 || len(rest) < 2 || rest[1] != '?' || bytes.ContainsAny(charset, " \t<>@") {
		return word{}, false
	}
	switch ascii.Lower(rest[0]) {
	case 'b':
		w.base64 = true
	case 'q':
	default:
		return word{}, false
	}
	w.text = 2 + len(charset) + 1 + 2
	limit := min(len(b), w.text+maxWordLen)
	n := bytes.IndexAny(b[w.text:limit], "? \t")
	if n < 0 || w.text+n+1 >= len(b) || b[w.text+n] != '?' || b[w.text+n+1] != '=' {
		return word{}, false
	}
	name, _, _ := strings.Cut(string(charset), "*") // a language follows the star (RFC 2231, section 5)
	w.charset, w.tail = name, w.text+n
	w.length = w.tail + 2
	return w, true
}

const maxWordLen = 4 << 10 // octets; the standard allows 75

func (w word) decode(v *source.Mapped, i int, out *source.Mapped) {
	raw := &source.Mapped{}
	if w.text < w.tail {
		v.Pieces(raw, i+w.text, i+w.tail)
	}
	octets := &source.Mapped{}
	for f := (&source.MappedFeed{Mapped: *raw}); ; {
		p, ok := f.Next()
		if !ok {
			break
		}
		if w.base64 {
			decodeWord64(p, octets)
		} else {
			quoted(p, 0, len(p.Text), octets, true)
		}
	}
	f, _ := source.InCharset(&source.MappedFeed{Mapped: *octets}, w.charset)
	for {
		p, ok := f.Next()
		if !ok {
			return
		}
		out.Add(p)
	}
}

func decodeWord64(p source.Piece, out *source.Mapped) {
	if len(p.Text)%4 == 0 {
		text, err := base64.StdEncoding.DecodeString(string(p.Text))
		if err == nil {
			out.Add(source.Piece{Text: text, At: p.At, In: 4, Out: 3})
			return
		}
	}
	new(base64Decoder).line(p, out, true)
}
