package answercache

import (
	"iter"
	"strings"

	"github.com/nomen-project/nomen/counts"
)

// An Answer is a response in the cache.
type Answer struct {
	Status int
	Form   uint8 // form of the request, for metrics; the caller defines the values

	Name []byte      // the name to count as resolved each time the answer is used, or empty
	What counts.What // of the resolution

	// Hash is the hash of the key. Hash and the last client are for counting requests. They are not
	// set in an answer that is passed to [Cache.Put].
	Hash uint64
	Last *counts.Last

	pattern          *pattern
	texts            []byte // the target, the location and the length
	target, location uint16 // lengths of the first two
}

// AppendTo appends the response to out, and returns the length of the body. The parameter date is
// the value of the Date field. If final is true, AppendTo adds the field "Connection: close".
func (a *Answer) AppendTo(out []byte, date string, final bool) (longer []byte, body int) {
	out = a.appendPieces(out, a.pattern.head, date)
	if final {
		out = append(out, closing...)
	}
	out = append(out, headEnd...)
	begin := len(out)
	out = a.appendPieces(out, a.pattern.body, date)
	return out, len(out) - begin
}

func (a *Answer) appendPieces(out []byte, pieces []piece, date string) []byte {
	location := int(a.target) + int(a.location)
	for i := range pieces {
		p := &pieces[i]
		out = append(out, p.text...)
		switch p.gap {
		case gapTarget:
			out = append(out, a.texts[:a.target]...)
		case gapLocation:
			out = append(out, a.texts[a.target:location]...)
		case gapLength:
			out = append(out, a.texts[location:]...)
		case gapDate:
			out = append(out, date...)
		}
	}
	return out
}

// Body returns the body of the response.
func (a *Answer) Body() []byte { return a.appendPieces(nil, a.pattern.body, "") }

// Fields returns an iterator over the names and values of the header fields except Date, in order.
func (a *Answer) Fields() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		_, rest, _ := strings.Cut(string(a.appendPieces(nil, a.pattern.head, "")), lineEnd)
		for rest != "" {
			var line string
			line, rest, _ = strings.Cut(rest, lineEnd)
			name, value, _ := strings.Cut(line, ": ")
			if name != "Date" && !yield(name, value) {
				return
			}
		}
	}
}
