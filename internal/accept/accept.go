// Package accept parses the header fields in which clients state preferences, which are Accept,
// Accept-Charset, Accept-Encoding and Accept-Language (RFC 9110, 12.5). The caller decides how to
// apply the preferences.
//
// A field is parsed in one pass, without allocating. Malformed elements, and elements with a
// malformed weight, are ignored. A comma in a quoted string does not separate elements.
package accept

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on a field. A field that is too long is treated as absent. Elements beyond the maximum
// number are ignored.
const (
	MaxField    = 8 << 10 // bytes
	MaxElements = 32
)

// Unmatched is the weight of a value that matches no element.
const Unmatched = -1

// A Preference is the weight of the element that matches a value, and the specificity of this
// element. The weight of the zero Preference is 0, which means that the client does not accept the
// value.
type Preference struct {
	Q           int // in thousandths, or Unmatched
	Specificity int // greater for more specific elements; 0 if none matches
}

// The specificity of a media range without parameters. Parameters change the specificity by one.
const (
	anyType   = 3 * (iota + 1)
	anySub    // type/*
	wholeType // type/subtype
)

// Named reports whether the matching media range has the form type/subtype, without "*".
func (p Preference) Named() bool { return p.Specificity >= wholeType-1 }

// A Field is a parsed header field. The zero Field is an absent field. If a request has several
// fields with the same name, join them with commas before parsing.
type Field struct {
	text     string
	n        int
	elements [MaxElements]element
}

// An element is one element of a header field. It contains offsets into the text of the field.
type element struct {
	begin, end     uint16 // the value without parameters
	charset, until uint16 // value of the parameter charset, with any quotes; empty if absent
	q              int16
	narrow         bool // the element has other parameters
}

// ReadMedia parses an Accept field:
//
//	Accept      = #( media-range [ weight ] )
//
//	media-range = ( "*/*" / ( type "/" "*" ) / ( type "/" subtype ) ) parameters
func (f *Field) ReadMedia(text string) { f.read(text, true) }

// ReadTokens parses an Accept-Charset, Accept-Encoding or Accept-Language field, which is a list of
// tokens with weights.
func (f *Field) ReadTokens(text string) { f.read(text, false) }

func (f *Field) read(text string, media bool) {
	if f.n = 0; text == "" || len(text) > MaxField {
		return
	}
	f.text = text
	s := scanner{s: text}
	for f.n < MaxElements {
		if s.skip(true); s.atEnd() {
			return
		}
		if e, ok := s.element(media); ok {
			f.elements[f.n] = e
			f.n++
		} else {
			s.skipElement()
		}
	}
}

// Len returns the number of elements.
func (f *Field) Len() int { return f.n }

// At returns element i without its parameters, as the client wrote it, and its weight.
func (f *Field) At(i int) (value string, q int) {
	e := &f.elements[i]
	return f.text[e.begin:e.end], int(e.q)
}

// Media returns the preference for a media type. The media type has no parameters, and its letter
// case is ignored. If several ranges match, Media uses the most specific range. If several ranges
// are equally specific, Media uses the first of them.
//
// The argument charset is the charset of the media type; "" means utf-8, and "*" means an unknown
// charset. A range that has the parameter charset matches only if that parameter equals the
// argument. If the charset is unknown, the parameter charset of a range is treated like any other
// parameter.
//
// A range with other parameters matches only if ignore is true. Set ignore if mediaType stands for
// the type with any parameters. Ranges without parameters are then more specific than ranges with
// parameters, and a range with parameters and the weight 0 excludes nothing (RFC 9110, 12.5.1).
func (f *Field) Media(mediaType, charset string, ignore bool) Preference {
	best := Preference{Q: Unmatched}
	for i := range f.elements[:f.n] {
		e := &f.elements[i]
		s := matchType(mediaType, f.text[e.begin:e.end])
		if s == 0 {
			continue
		}
		narrow := e.narrow
		switch {
		case e.charset == e.until:
		case charset == "*":
			narrow = true
		case sameCharset(f.text[e.charset:e.until], charset):
			s++
		default:
			continue
		}
		if narrow {
			if !ignore || e.q == 0 {
				continue
			}
			s--
		}
		if s > best.Specificity {
			best = Preference{int(e.q), s}
		}
	}
	return best
}

func matchType(mediaType, pattern string) int {
	switch {
	case pattern == "*/*":
		return anyType
	case strings.HasSuffix(pattern, "/*"):
		if ascii.HasPrefix(mediaType, pattern[:len(pattern)-1]) {
			return anySub
		}
	case len(mediaType) == len(pattern) && strings.EqualFold(mediaType, pattern):
		return wholeType
	}
	return 0
}

func sameCharset(value, charset string) bool {
	if charset == "" {
		charset = "utf-8"
	}
	if value[0] != '"' {
		return strings.EqualFold(value, charset)
	}
	value = value[1 : len(value)-1]
	for ; value != "" && charset != ""; value, charset = value[1:], charset[1:] {
		if value[0] == '\\' {
			value = value[1:]
		}
		if !strings.EqualFold(value[:1], charset[:1]) {
			return false
		}
	}
	return value == charset
}

// Token returns the preference for a token, such as a content coding, ignoring letter case. It is
// the preference of the element with this token, or otherwise of the element "*".
func (f *Field) Token(token string) Preference {
	best := Preference{Q: Unmatched}
	for i := range f.n {
		switch value, q := f.At(i); {
		case strings.EqualFold(value, token):
			return Preference{q, 2}
		case value == "*" && best.Specificity == 0:
			best = Preference{q, 1}
		}
	}
	return best
}

// Language returns the preference for a language tag. It is the preference of the longest range
// that matches by basic filtering (RFC 4647, 3.3.1).
func (f *Field) Language(tag string) Preference {
	best := Preference{Q: Unmatched}
	for i := range f.n {
		value, q := f.At(i)
		s := 0
		switch {
		case value == "*":
			s = 1
		case ascii.HasPrefix(tag, value) && (len(tag) == len(value) || tag[len(value)] == '-'):
			s = 1 + len(value)
		}
		if s > best.Specificity {
			best = Preference{q, s}
		}
	}
	return best
}

// AddParents adds the missing parents of each language range. For example, it assumes that a client
// that accepts de-AT also accepts de (RFC 4647, 3.4). The weight of a parent is slightly lower than
// the weight of the range, but at least the value of the parameter least.
func (f *Field) AddParents(least int) {
	for _, e := range f.elements[:f.n] {
		for {
			i := strings.LastIndexByte(f.text[e.begin:e.end], '-')
			if i <= 0 || int(e.q) <= least {
				break
			}
			e.end, e.q = e.begin+uint16(i), e.q-1
			if f.n < MaxElements && !f.has(f.text[e.begin:e.end]) {
				f.elements[f.n] = e
				f.n++
			}
		}
	}
}

func (f *Field) has(value string) bool {
	for i := range f.n {
		if v, _ := f.At(i); strings.EqualFold(v, value) {
			return true
		}
	}
	return false
}

// Mentions reports whether a field contains a word, ignoring letter case.
func Mentions(field, word string) bool {
	for i := range len(field) {
		if ascii.HasPrefix(field[i:], word) {
			return true
		}
	}
	return false
}
