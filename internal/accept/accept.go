// Package accept parses the header fields in which clients state preferences: Accept,
// Accept-Charset, Accept-Encoding and Accept-Language (RFC 9110, 12.5). No other package parses
// them. The package returns preferences; its callers decide what to do with them.
//
// A field is parsed in one pass and without allocation. An element is ignored if it is malformed or
// has a malformed weight. Separators in quoted strings do not separate elements.
package accept

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits of a field. A field that is too long is treated as absent; elements above the maximum
// number are ignored.
const (
	MaxField    = 8 << 10 // bytes
	MaxElements = 32
)

// Unmatched is the weight of a value that no element matches.
const Unmatched = -1

// A Preference is the weight of the element that matches a value, and how specific this element is.
// The zero Preference has the weight 0: the client does not accept the value.
type Preference struct {
	Q           int // in thousandths; Unmatched if no element matches
	Specificity int // greater is more specific; 0 if no element matches
}

// How specific a media range is, without its parameters; parameters change the number by one.
const (
	anyType   = 3 * (iota + 1) // */*
	anySub                     // type/*
	wholeType                  // type/subtype
)

// Named reports whether the media range that matched has the whole type, type/subtype.
func (p Preference) Named() bool { return p.Specificity >= wholeType-1 }

// A Field is a parsed field. The zero Field is absent. If a header has several fields with the same
// name, they must be joined with commas before.
type Field struct {
	text     string
	n        int
	elements [MaxElements]element
}

// An element is one element of a field. Its numbers are offsets in the text of the field.
type element struct {
	begin, end     uint16 // the value without parameters
	charset, until uint16 // the value of the parameter charset, with its quotes if any; empty if there is no charset
	q              int16
	narrow         bool // the element has other parameters
}

// ReadMedia parses an Accept field:
//
//	Accept      = #( media-range [ weight ] )
//
//	media-range = ( "*/*" / ( type "/" "*" ) / ( type "/" subtype ) ) parameters
func (f *Field) ReadMedia(text string) { f.read(text, true) }

// ReadTokens parses an Accept-Charset, Accept-Encoding or Accept-Language field: a list of tokens
// with weights.
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

// At returns element i, without its parameters and in its original case, and its weight.
func (f *Field) At(i int) (value string, q int) {
	e := &f.elements[i]
	return f.text[e.begin:e.end], int(e.q)
}

// Media returns the preference for a media type without parameters, ignoring case. The most
// specific range that matches the type determines it; if several are equally specific, the first of
// them.
//
// If a range has a charset parameter, it must equal the charset of the type, where "" stands for
// utf-8. The charset "*" means that the charset is not known; then a charset parameter is treated
// like any other parameter. A range with other parameters matches only if ignore is true. Callers
// set ignore if their media type stands for the type with any parameters. If ignore is true, a
// range without parameters is more specific than one with parameters. A range with parameters and
// the weight 0 then excludes nothing (RFC 9110, 12.5.1).
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

// matchType returns how specific the media range in pattern is, or 0 if it does not match the media
// type.
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

// sameCharset reports whether a token or quoted string is equal to a charset.
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

// Token returns the preference for a token, such as a content coding, ignoring case. It is the
// preference of the element that names the token, or else that of "*".
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

// Language returns the preference for a language tag: the preference of the longest range that
// matches by basic filtering (RFC 4647, 3.3.1).
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

// AddParents adds a parent for each language range whose parent is not in the field, with a
// slightly lower weight, but never lower than the parameter least. For example, it assumes that a
// client that prefers de-AT also reads de (RFC 4647, 3.4).
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

// Mentions reports whether a field contains a word, ignoring case.
func Mentions(field, word string) bool {
	for i := range len(field) {
		if ascii.HasPrefix(field[i:], word) {
			return true
		}
	}
	return false
}
