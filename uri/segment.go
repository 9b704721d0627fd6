package uri

import (
	"iter"
	"strings"
)

// A Segment is the part of a path between two slashes, with its escapes.
type Segment struct {
	raw    string
	params bool // semicolons separate parameters in this dialect
}

// Segments returns an iterator over the segments of the path. The path "/a/" has the segments "a"
// and "", the path "/" has one empty segment, and the empty path has none.
func (u URI) Segments() iter.Seq[Segment] {
	params := grammars[u.dialect].params
	return func(yield func(Segment) bool) {
		rest, more := u.Path(), true
		if rest == "" {
			return
		}
		rest = strings.TrimPrefix(rest, "/")
		for more {
			var raw string
			raw, rest, more = strings.Cut(rest, "/")
			if !yield(Segment{raw, params}) {
				return
			}
		}
	}
}

// String returns the segment with its escapes and parameters.
func (s Segment) String() string { return s.raw }

// Name returns the segment without its parameters, with its escapes. In the draft of 1993 and in
// RFC 3986, segments have no parameters, so Name returns the whole segment.
func (s Segment) Name() string {
	if !s.params {
		return s.raw
	}
	name, _, _ := strings.Cut(s.raw, ";")
	return name
}

// Params returns an iterator over the parameters of the segment, which semicolons separate (draft
// of 1997, section 4.3.2; draft of 2003, section 3.3). The parameters have their escapes.
func (s Segment) Params() iter.Seq[string] {
	return func(yield func(string) bool) {
		rest := s.raw
		more := s.params
		if more {
			_, rest, more = strings.Cut(rest, ";")
		}
		for more {
			var p string
			p, rest, more = strings.Cut(rest, ";")
			if !yield(p) {
				return
			}
		}
	}
}

// Data returns the name of the segment with its escapes decoded.
func (s Segment) Data() Data {
	data, err := Decode(s.Name())
	if err != nil {
		panic("uri: internal error: a segment has an invalid escape")
	}
	return data
}

// Words returns an iterator over the words of the query, which plus signs separate (draft of 1993,
// search). The words have their escapes.
func (u URI) Words() iter.Seq[string] {
	return func(yield func(string) bool) {
		rest, more := u.Query()
		for more {
			var w string
			w, rest, more = strings.Cut(rest, "+")
			if !yield(w) {
				return
			}
		}
	}
}
