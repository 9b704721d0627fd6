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

// The bytes that mark gaps in a skeleton. An answer with such a byte in its head is not kept. A
// body with such a byte, for example because it is compressed, has no gaps.
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

// A pattern is an answer with gaps for the target of the request, the values of Location and
// Content-Length, and the date. Most names of an authority share a pattern.
type pattern struct{ head, body []piece }

// A piece is a text and the gap after it.
type piece struct {
	text string
	gap  byte
}

type gaps struct{ target, location, length []byte }

// appendSkeleton appends the skeleton of an answer, in which a byte marks each gap. It stores what
// was there in g, whose target must be set. It returns false if the answer cannot have a pattern.
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

// valueOf returns the value of a field, which is given by its name with the text around it. It
// returns nil unless the head has exactly one such field.
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

// next returns the first text of s that becomes a gap, or the longer of two at the same place.
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
