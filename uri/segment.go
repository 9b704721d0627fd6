package uri

import (
	"iter"
	"strings"
)

// A Segment is the part of a path between two slashes, in its raw spelling.
type Segment struct {
	raw    string
	params bool // the dialect has parameters
}

// Segments yields the segments of the path. The path "/a/" has the segments "a"
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

// String returns the segment in its raw spelling.
func (s Segment) String() string { return s.raw }

// Name returns the raw segment without its parameters. In the draft of 1993 and in RFC 3986 a
// semicolon has no meaning, and the name is the whole segment.
func (s Segment) Name() string {
	if !s.params {
		return s.raw
	}
	name, _, _ := strings.Cut(s.raw, ";")
	return name
}

// Params yields the raw parameters of the segment. Each follows a semicolon
// (1997, 4.3.2; 2003, 3.3).
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

// Data returns the decoded name of the segment.
func (s Segment) Data() Data {
	data, err := Decode(s.Name())
	if err != nil {
		panic("uri: internal error: a segment has an invalid escape")
	}
	return data
}

// Words yields the raw words of the query. Plus signs separate them (1993,
// search).
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
