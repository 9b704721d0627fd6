package format

import (
	"bytes"
	"io"
	"strings"
)

// ReadParts reads text/urc-0 with any layout of the header fields. It returns an error if the body
// cannot be read, has no header, or exceeds a limit. It returns the parts before the error together
// with the error.
//
// Lines may end in CRLF, LF or CR, and lines before the first header are ignored. A missing charset
// or language has its default value. Two problems set Undecoded. If the charset is not supported,
// Meta is "" and only Raw has the metainformation. If bytes are invalid in the charset, Meta has
// U+FFFD in their place.
func ReadParts(r io.Reader) ([]Part, error) {
	b, err := readAll(r, TypeURC)
	if err != nil {
		return nil, err
	}
	in := &splitter{data: b}
	for !in.atHeader() {
		if _, ok := in.next(); !ok {
			return nil, &Error{Format: TypeURC, Offset: len(b), Rule: "header", Message: `no line begins with "` + mark + `"`}
		}
	}
	var parts []Part
	for in.pos < len(in.data) {
		if len(parts) == maxItems {
			return parts, tooMany(TypeURC, in.pos)
		}
		parts = append(parts, in.part())
	}
	return parts, nil
}

func (s *splitter) atHeader() bool { return bytes.HasPrefix(s.data[s.pos:], []byte(mark)) }

// part reads a header, and all lines up to the next header.
func (s *splitter) part() Part {
	header, _ := s.next()
	var p Part
	p.Charset, p.Language = headerFields(strings.TrimLeft(string(header), "="))
	var rest []byte
	p.URL, rest = s.url()
	p.Raw = s.meta(rest)
	c, ok := lookupCharset(p.Charset)
	if !ok {
		p.Undecoded = len(p.Raw) > 0
		return p
	}
	p.Charset = c.name
	text, whole := c.decode(p.Raw)
	p.Meta, p.Undecoded = text, !whole
	return p
}

// url reads the URL of a part, if the part has a URL. It also returns the rest of the line after a
// folded URL.
func (s *splitter) url() (string, []byte) {
	start := s.pos
	for !s.atHeader() {
		line, ok := s.next()
		if !ok {
			break
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
			continue
		case isAbsolute(string(line)):
			return string(line), nil
		case hasOpenURL(line):
			if u, rest, ok := s.folded(line[len(openURL):]); ok {
				return u, rest
			}
		}
		break
	}
	s.pos = start
	return "", nil
}

func (s *splitter) folded(line []byte) (string, []byte, bool) {
	var u []byte
	for {
		part, rest, closed := bytes.Cut(line, []byte(closeURL))
		for _, field := range bytes.Fields(part) {
			u = append(u, field...)
		}
		if len(u) > maxURL {
			return "", nil, false
		}
		more := !closed && !s.atHeader()
		if more {
			line, more = s.next()
		}
		if !more {
			return string(u), bytes.TrimSpace(rest), isAbsolute(string(u))
		}
	}
}

// beginsURL reports whether line would be read as the URL of a part.
func beginsURL(line string) bool {
	line = strings.TrimSpace(line)
	return isAbsolute(line) || hasOpenURL([]byte(line))
}

func hasOpenURL(line []byte) bool {
	return len(line) >= len(openURL) && bytes.EqualFold(line[:len(openURL)], []byte(openURL))
}

// meta returns the lines before the next header, separated by LF. The parameter first is the first
// line, unless it is empty.
func (s *splitter) meta(first []byte) []byte {
	var all []byte
	begun := len(first) > 0
	all = append(all, first...)
	for !s.atHeader() {
		line, ok := s.next()
		if !ok {
			break
		}
		if begun {
			all = append(all, '\n')
		}
		all, begun = append(all, line...), true
	}
	return all
}

// headerFields returns the charset and the language in a header of any plausible layout. White
// space or one of ";,/:|()" may separate the fields. The name of the field and "=" or ":" may
// precede a value.
func headerFields(s string) (charset, language string) {
	f := fields{s: s}
	for f.more() {
		word := f.word()
		switch name, named := f.named(word); {
		case named && name == fieldCharset:
			charset = orDefault(charset, f.word())
		case named && name == fieldLanguage:
			language = orDefault(language, f.word())
		case named:
			f.word()
		case isCharset(word):
			charset = orDefault(charset, word)
		case isLanguage(word):
			language = orDefault(language, word)
		}
	}
	return orDefault(charset, defaultCharset), orDefault(language, defaultLanguage)
}

func isCharset(s string) bool {
	_, ok := lookupCharset(s)
	return ok
}

// A fields splits a header into words.
type fields struct {
	s string
	i int
}

const cutters = " \t;,/:|()"

func (f *fields) more() bool {
	f.skip(cutters + "=")
	return f.i < len(f.s)
}

func (f *fields) skip(set string) {
	for f.i < len(f.s) && strings.IndexByte(set, f.s[f.i]) >= 0 {
		f.i++
	}
}

// word reads up to a separator or "=". It removes quotes around the word.
func (f *fields) word() string {
	start := f.i
	for f.i < len(f.s) && strings.IndexByte(cutters+"=", f.s[f.i]) < 0 {
		f.i++
	}
	return strings.Trim(f.s[start:f.i], `"'`)
}

// The fields of a header.
const (
	fieldCharset  = "charset"
	fieldLanguage = "language"
)

// named reports whether word is the name of a field and a value follows. It returns the name of the
// field, and skips the delimiter before the value. The delimiter can be "=", or ":" or white space
// after a known name.
func (f *fields) named(word string) (string, bool) {
	name := strings.ToLower(word)
	switch name {
	case "lang", "content-language":
		name = fieldLanguage
	}
	known := name == fieldCharset || name == fieldLanguage
	start := f.i
	f.skip(" \t")
	switch {
	case f.i < len(f.s) && (f.s[f.i] == '=' || known && f.s[f.i] == ':'):
		f.i++
		f.skip(" \t")
		return name, true
	case known:
		return name, true
	}
	f.i = start
	return name, false
}
