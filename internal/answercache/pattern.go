package answercache

import (
	"bytes"
	"strings"
)

const (
	dateField     = "Date: "
	lengthField   = "Content-Length: "
	locationField = "\r\nLocation: "
	lineEnd       = "\r\n"
	headEnd       = "\r\n\r\n"
	closing       = "\r\nConnection: close"

	minReplaced = 4 // least length of a text that becomes a gap
)

// Bytes that mark the gaps in a skeleton. An answer whose head contains such a byte is not cached.
// If the body contains such a byte, for example in compressed data, the body is stored without
// gaps.
const (
	gapNone = iota
	gapTarget
	gapLocation
	gapLength
	gapDate
	gapEnd  // end of the head
	gapRaw  // end of the head, before a body without gaps
	allGaps = "\x00\x01\x02\x03\x04\x05\x06"
)

// A pattern is a template for answers. It has gaps for the request target, for the date, and for
// the values of Location and Content-Length. Most names of an authority share one pattern.
type pattern struct{ head, body []piece }

// A piece is a constant text of a pattern and the gap after this text.
type piece struct {
	text string
	gap  byte
}

type gaps struct{ target, location, length []byte }

// appendSkeleton appends the skeleton of an answer to b. A skeleton is an encoded pattern, in which
// a byte marks each gap. The texts that fill the gaps are stored in g; the caller must have set the
// target. For an answer that cannot have a pattern, appendSkeleton returns false.
func appendSkeleton(b, text []byte, g *gaps) (skeleton []byte, ok bool) {
	head, body, ok := bytes.Cut(text, []byte(headEnd))
	if !ok || hasGap(head) {
		return b, false
	}
	head = bytes.TrimSuffix(head, []byte(closing))
	g.location, g.length = valueOf(head, locationField), valueOf(head, lineEnd+lengthField)
	dated := false
	for first, rest := true, head; len(rest) > 0; first = false {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte(lineEnd))
		if !first {
			b = append(b, lineEnd...)
		}
		switch {
		case !first && !dated && bytes.HasPrefix(line, []byte(dateField)):
			b, dated = append(append(b, dateField...), gapDate), true
		case !first && len(g.length) > 0 && bytes.HasPrefix(line, []byte(lengthField)):
			b = append(append(b, lengthField...), gapLength)
		default:
			b = g.replace(b, line)
		}
	}
	if hasGap(body) {
		return append(append(b, gapRaw), body...), dated
	}
	return g.replace(append(b, gapEnd), body), dated
}

func hasGap(b []byte) bool {
	for gap := range byte(len(allGaps)) {
		if bytes.IndexByte(b, gap) >= 0 { // for seven bytes, much faster than bytes.ContainsAny
			return true
		}
	}
	return false
}

// valueOf returns the value of a header field, or nil if the head does not have exactly one such
// field. The parameter field is the name with the line break before it and the colon and space
// after it.
func valueOf(head []byte, field string) []byte {
	_, rest, _ := bytes.Cut(head, []byte(field))
	if bytes.Contains(rest, []byte(field)) {
		return nil
	}
	value, _, _ := bytes.Cut(rest, []byte(lineEnd))
	return value
}

func (g *gaps) replace(b, s []byte) []byte {
	for {
		at, gap, size := g.next(s)
		if gap == gapNone {
			return append(b, s...)
		}
		b = append(append(b, s[:at]...), gap)
		s = s[at+size:]
	}
}

// next finds the first text in s that can become a gap. If two texts begin at the same position, it
// returns the longer one.
func (g *gaps) next(s []byte) (at int, gap byte, size int) {
	at = len(s)
	for i, text := range [...][]byte{gapTarget: g.target, gapLocation: g.location} {
		if len(text) < minReplaced {
			continue
		}
		if k := bytes.Index(s[:min(len(s), at+len(text))], text); k >= 0 && (k < at || len(text) > size) {
			at, gap, size = k, byte(i), len(text)
		}
	}
	return at, gap, size
}

func newPattern(skeleton string) *pattern {
	end := strings.IndexAny(skeleton, "\x05\x06")
	head, body := skeleton[:end], skeleton[end+1:]
	if skeleton[end] == gapRaw {
		return &pattern{piecesOf(head), []piece{{body, gapNone}}}
	}
	return &pattern{piecesOf(head), piecesOf(body)}
}

func piecesOf(skeleton string) (all []piece) {
	for skeleton != "" {
		end := strings.IndexAny(skeleton, allGaps)
		if end < 0 {
			return append(all, piece{skeleton, gapNone})
		}
		all = append(all, piece{skeleton[:end], skeleton[end]})
		skeleton = skeleton[end+1:]
	}
	return all
}
