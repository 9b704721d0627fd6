package format

import (
	"bytes"
	"io"
	"strings"
	unicode8 "unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
)

// writeLinkset writes the links of [writeLinksetJSON] as application/linkset (RFC 9264, section
// 4.1). This is a Link field of RFC 8288 with line breaks between the links.
func writeLinkset(w io.Writer, a *nomen.Answer, p Page) error {
	var b bytes.Buffer
	for _, c := range contextsOf(a, p) {
		for _, k := range c.links {
			if b.Len() > 0 {
				b.WriteString("," + crlf)
			}
			b.WriteString("<" + k.href + ">" + parameter("rel", k.rel))
			if c.anchor != "" {
				b.WriteString(parameter("anchor", c.anchor))
			}
			b.WriteString(k.attributes())
		}
	}
	if b.Len() > 0 {
		b.WriteString(crlf)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (k link) attributes() string {
	var b strings.Builder
	if k.kind != "" {
		b.WriteString(parameter("type", k.kind))
	}
	for _, l := range k.langs {
		b.WriteString(parameter("hreflang", l))
	}
	t := k.title
	switch {
	case t.value == "":
	case t.language == "" && isPrintable(t.value):
		b.WriteString(parameter("title", t.value))
	default:
		b.WriteString("; title*=UTF-8'" + t.language + "'" + percent(t.value))
	}
	return b.String()
}

func parameter(name, value string) string {
	return "; " + name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// percent percent-encodes the characters of s that are not attr-char (RFC 8187, section 3.2.1).
func percent(s string) string {
	return ascii.EscapeUnless(strings.ToValidUTF8(s, "\uFFFD"), func(c byte) bool {
		return ascii.IsToken(c) && c != '*' && c != '\'' && c != '%'
	})
}

// ReadLinkset reads application/linkset. The name in the answer is the anchor of the first link.
// ReadLinkset ignores links with a different anchor, because these are not about the name. It also
// ignores links to relative references.
func ReadLinkset(r io.Reader, asked nomen.Service) (*nomen.Answer, error) {
	b, err := readAll(r, TypeLinkset)
	if err != nil {
		return nil, err
	}
	s := &scanner{s: string(b)}
	var first *linkValue
	var all []link
	for {
		s.skip(space + ",")
		if s.atEnd() {
			break
		}
		v, ok := s.linkValue()
		if !ok || !s.atElementEnd() {
			return nil, &Error{Format: TypeLinkset, Offset: s.i, Rule: "link-value", Message: `not of the form "<" URI-Reference ">" *( ";" link-param )`}
		}
		if first == nil {
			first = &v
		}
		if v.anchor != first.anchor {
			continue
		}
		if all = append(all, v.links()...); len(all) > maxItems {
			return nil, tooMany(TypeLinkset, s.i)
		}
	}
	if first == nil {
		first = &linkValue{}
	}
	return answerOf(first.anchor, all, asked), nil
}

type linkValue struct {
	link
	anchor       string
	seen         map[string]bool // parameters whose later occurrences are ignored
	titleEncoded bool
}

func (v *linkValue) links() []link {
	var all []link
	k := v.link
	for _, k.rel = range relations(v.rel) {
		all = append(all, k)
	}
	return all
}

// linkValue reads the following:
//
//	"<" URI-Reference ">" *( OWS ";" OWS link-param )
func (s *scanner) linkValue() (linkValue, bool) {
	v := linkValue{seen: map[string]bool{}}
	if !s.accept('<') {
		return v, false
	}
	end := strings.IndexByte(s.s[s.i:], '>')
	if end < 0 {
		return v, false
	}
	v.href = strings.Trim(s.s[s.i:s.i+end], space)
	s.i += end + 1
	for s.acceptSpaced(';') {
		if s.atParameterEnd() {
			continue
		}
		param := strings.ToLower(s.token())
		if param == "" {
			return v, false
		}
		value := ""
		if s.acceptSpaced('=') {
			var ok bool
			if value, ok = s.looseValue(); !ok {
				return v, false
			}
		}
		v.set(param, value)
	}
	return v, true
}

// looseValue reads a quoted-string, or otherwise text up to white space, ";" or ",". Media types
// are often written without quotes (RFC 8288, B.3).
func (s *scanner) looseValue() (string, bool) {
	if s.peek() == '"' {
		return s.quoted()
	}
	start := s.i
	for !s.atEnd() && strings.IndexByte(space+";,\"", s.peek()) < 0 {
		s.i++
	}
	return s.s[start:s.i], s.i > start
}

// set sets a parameter of a link. It ignores repeated occurrences of a parameter, except for
// hreflang.
func (v *linkValue) set(param, value string) {
	if param == "hreflang" {
		v.langs = append(v.langs, value)
		return
	}
	if v.seen[param] {
		return
	}
	v.seen[param] = true
	switch param {
	case "rel":
		v.rel = value
	case "anchor":
		v.anchor = value
	case "type":
		v.kind = value
	case "title":
		if !v.titleEncoded {
			v.title = title{value: value}
		}
	case "title*":
		if t, ok := decodeTitle(value); ok {
			v.title, v.titleEncoded = t, true
		}
	}
}

// decodeTitle decodes the following (RFC 8187, section 3.2.1):
//
//	charset "'" [ language ] "'" *( pct-encoded / attr-char )
func decodeTitle(s string) (title, bool) {
	charset, rest, _ := strings.Cut(s, "'")
	language, encoded, ok := strings.Cut(rest, "'")
	if !ok {
		return title{}, false
	}
	raw, ok := unpercent(encoded)
	switch {
	case !ok:
		return title{}, false
	case strings.EqualFold(charset, charsetUTF8):
		return title{string(raw), language}, unicode8.Valid(raw)
	case strings.EqualFold(charset, "ISO-8859-1"):
		latin, _ := lookupCharset(charset)
		text, _ := latin.decode(raw)
		return title{text, language}, true
	}
	return title{}, false
}

func unpercent(s string) ([]byte, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) || !ascii.IsHex(s[i+1]) || !ascii.IsHex(s[i+2]) {
			return nil, false
		}
		b = append(b, ascii.Unhex(s[i+1])<<4|ascii.Unhex(s[i+2]))
		i += 2
	}
	return b, true
}
