package answercache

import (
	"iter"
	"strings"
)

const (
	dateField = "\r\nDate: "
	headEnd   = "\r\n\r\n"
	closing   = "\r\nConnection: close"
	dateSize  = len("Mon, 02 Jan 2006 15:04:05 GMT")
)

// AppendTo appends the response with another value of Date, which must be in the format of HTTP, and
// returns the length of its body. If it is the final response of its connection, it says so.
func (a *Answer) AppendTo(out []byte, date string, final bool) (longer []byte, body int) {
	out = append(out, a.text[:a.date]...)
	out = append(out, date...)
	out = append(out, a.text[a.date+dateSize:a.body-len(headEnd)]...)
	if final {
		out = append(out, closing...)
	}
	return append(out, a.text[a.body-len(headEnd):]...), len(a.text) - a.body
}

// Body returns the body of the response. It must not be changed.
func (a *Answer) Body() string { return a.text[a.body:] }

// Fields yields the names and values of the header fields in their order, except Date.
func (a *Answer) Fields() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		_, rest, _ := strings.Cut(a.text[:a.body-len("\r\n")], "\r\n")
		for rest != "" {
			var line string
			line, rest, _ = strings.Cut(rest, "\r\n")
			name, value, _ := strings.Cut(line, ": ")
			if name != "Date" && !yield(name, value) {
				return
			}
		}
	}
}
