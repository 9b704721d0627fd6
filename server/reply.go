package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/format"
)

// A reply is the answer to a request. Its body is either at hand or written by
// stream, which sends as it goes.
type reply struct {
	status int
	reason string // phrase of the status line; "" for the usual one
	fields []field
	body   []byte
	stream func(ctx context.Context, w io.Writer) error
	length int64 // of a stream, -1 if it is not known

	// release gives back what the reply holds, whether or not it was sent; nil
	// if it holds nothing.
	release func()

	pool *pool // of which a stream has a turn; nil if it needs none

	form form // of the request, for the books

	private bool // others were asked for an own user: no page of another site may read it

	room [16]field // where fields begin
}

// A field is one line of a head.
type field struct{ name, value string }

func newReply(status int) *reply {
	p := &reply{status: status, length: -1}
	p.fields = p.room[:0]
	return p
}

// add appends a field, unless its value is empty.
func (p *reply) add(name, value string) {
	if value != "" {
		p.fields = append(p.fields, field{name, value})
	}
}

// vary adds a header to those that the answer depends on.
func (p *reply) vary(header string) {
	for i := range p.fields {
		if f := &p.fields[i]; f.name == "Vary" {
			f.value = varying(f.value, header)
			return
		}
	}
	p.add("Vary", header)
}

// varying returns a Vary field with one more header. What nearly every answer has
// is at hand.
func varying(field, header string) string {
	const usual, last = "Accept, Accept-Language", "Accept-Datetime"
	if field == usual && header == last {
		return usual + ", " + last
	}
	return field + ", " + header
}

// get returns the first field of this name, "" if there is none.
func (p *reply) get(name string) string {
	for _, f := range p.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// has reports whether there is a field of exactly this spelling.
func (p *reply) has(name string) bool {
	for i := range p.fields {
		if p.fields[i].name == name {
			return true
		}
	}
	return false
}

// withBody sets the body and what a client has to know of it.
func (p *reply) withBody(contentType string, body []byte) *reply {
	p.add("Content-Type", contentType)
	p.body = body
	return p
}

// withText sets a body of plain text.
func (p *reply) withText(lines ...string) *reply {
	return p.withBody("text/plain; charset=utf-8", []byte(strings.Join(lines, "\r\n")+"\r\n"))
}

// finish adds the fields that every answer has.
func (p *reply) finish(date string) {
	p.add("Date", date)
	if p.private {
		p.add("Cross-Origin-Resource-Policy", "same-origin")
	} else {
		p.add("Access-Control-Allow-Origin", "*")
		if p.has("Link") {
			p.add("Access-Control-Expose-Headers", "Content-Location, ETag, Link, Location, Memento-Datetime")
		}
	}
	if !isRedirect(p.status) { // whose body nobody looks at
		p.add("X-Content-Type-Options", "nosniff")
	}
	if strings.HasPrefix(p.get("Content-Type"), format.TypeHTML) && !p.has("Content-Security-Policy") {
		p.add("Content-Security-Policy", format.ContentSecurityPolicy)
	}
	switch {
	case p.status == http.StatusNotModified, p.status == http.StatusNoContent:
	case p.stream == nil:
		p.add("Content-Length", strconv.Itoa(len(p.body)))
	case p.length >= 0:
		p.add("Content-Length", strconv.FormatInt(p.length, 10))
	}
}

// drop gives back what the reply holds.
func (p *reply) drop() {
	if p.release != nil {
		p.release()
	}
}

// written returns what write writes.
func written(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
