package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
)

// A reply is the response to a request. The body is in memory, or is written by the function
// stream.
type reply struct {
	status int
	reason string // reason phrase; "" for the standard one
	fields []field
	body   []byte
	stream func(ctx context.Context, w io.Writer) error
	length int64 // number of bytes that stream writes; -1 if unknown

	// release frees the resources of the reply, even if the reply was not sent. It may be nil.
	release func()

	pool *pool // the pool in which the stream holds a turn, or nil

	form form // form of the request, for the metrics

	subject subject // what is counted
	located bool    // the reply is about the names with a location, and is not counted

	text []string // the lines of a body of plain text

	private bool // other servers were asked because the client is a user of this server, so pages of other sites must not read the response

	fieldBuf [16]field // backing array of fields
}

type field struct{ name, value string }

func newReply(status int) *reply {
	p := &reply{status: status, length: -1}
	p.fields = p.fieldBuf[:0]
	return p
}

func (p *reply) add(name, value string) {
	if value != "" {
		p.fields = append(p.fields, field{name, value})
	}
}

func (p *reply) withoutCORS() {
	p.fields = slices.DeleteFunc(p.fields, func(f field) bool { return strings.HasPrefix(f.name, "Access-Control-") })
}

func (p *reply) vary(header string) {
	for i := range p.fields {
		if f := &p.fields[i]; f.name == "Vary" {
			f.value = varying(f.value, header)
			return
		}
	}
	p.add("Vary", header)
}

func (p *reply) varyWith(ans *nomen.Answer) {
	p.add("Vary", "Accept, Accept-Language")
	if ans.ByAgent {
		p.vary("User-Agent")
	}
}

// varying adds the name of a header field to a Vary field. It does not allocate in the usual case.
func varying(field, header string) string {
	const usual, last = "Accept, Accept-Language", "Accept-Datetime"
	if field == usual && header == last {
		return usual + ", " + last
	}
	return field + ", " + header
}

func (p *reply) get(name string) string {
	for _, f := range p.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// has reports whether the reply has a field with this name in the same letter case.
func (p *reply) has(name string) bool {
	for i := range p.fields {
		if p.fields[i].name == name {
			return true
		}
	}
	return false
}

func (p *reply) withBody(contentType string, body []byte) *reply {
	p.add("Content-Type", contentType)
	p.body = body
	return p
}

func (p *reply) withText(lines ...string) *reply {
	p.text = lines
	return p.withBody("text/plain; charset=utf-8", []byte(strings.Join(lines, "\r\n")+"\r\n"))
}

// finish adds the fields of all responses. The parameter policy becomes the Content-Security-Policy
// of an HTML page that has none.
func (p *reply) finish(date, policy string) {
	p.add("Date", date)
	if p.private {
		p.add("Cross-Origin-Resource-Policy", "same-origin")
	} else {
		p.add("Access-Control-Allow-Origin", "*")
		if p.has("Link") {
			p.add("Access-Control-Expose-Headers", "Content-Location, ETag, Link, Location, Memento-Datetime")
		}
	}
	if !isRedirect(p.status) { // clients do not show the bodies of redirects
		p.add("X-Content-Type-Options", "nosniff")
	}
	if strings.HasPrefix(p.get("Content-Type"), format.TypeHTML) && !p.has("Content-Security-Policy") {
		p.add("Content-Security-Policy", policy)
	}
	switch {
	case p.status == http.StatusNotModified, p.status == http.StatusNoContent:
	case p.stream == nil:
		p.add("Content-Length", strconv.Itoa(len(p.body)))
	case p.length >= 0:
		p.add("Content-Length", strconv.FormatInt(p.length, 10))
	}
}

func (p *reply) drop() {
	if p.release != nil {
		p.release()
	}
}

func written(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
