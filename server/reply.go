package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

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

	form form // of the request, for the books
}

// A field is one line of a head.
type field struct{ name, value string }

func newReply(status int) *reply { return &reply{status: status} }

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
			f.value += ", " + header
			return
		}
	}
	p.add("Vary", header)
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
func (p *reply) finish(now time.Time) {
	p.add("Date", now.UTC().Format(http.TimeFormat))
	p.add("Access-Control-Allow-Origin", "*")
	if p.get("Link") != "" {
		p.add("Access-Control-Expose-Headers", "ETag, Link, Location, Memento-Datetime")
	}
	p.add("X-Content-Type-Options", "nosniff")
	contentType := p.get("Content-Type")
	if strings.HasPrefix(contentType, format.TypeHTML) && p.get("Content-Security-Policy") == "" {
		p.add("Content-Security-Policy", format.ContentSecurityPolicy)
	}
	if p.stream == nil && p.status != http.StatusNotModified && p.status != http.StatusNoContent {
		p.add("Content-Length", strconv.Itoa(len(p.body)))
	}
}

// written returns what write writes.
func written(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
