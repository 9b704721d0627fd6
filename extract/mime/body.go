package mime

import (
	"bytes"
	"mime"
	"net/mail"
	"strings"

	"github.com/nomen-project/nomen/extract/internal/source"
)

// A body holds the header fields that describe the body of a MIME entity.
type body struct {
	kind     string // the media type, in lower case
	params   map[string]string
	encoding string
}

// newBody parses the header fields of a body. If the Content-Type is invalid, the body is plain
// text (RFC 2045, section 5.2).
func newBody(h mail.Header, kind string) body {
	b := body{kind: kind, encoding: strings.TrimSpace(withoutComments(h.Get("Content-Transfer-Encoding")))}
	value := withoutComments(h.Get("Content-Type"))
	if value == "" {
		return b
	}
	var err error
	if b.kind, b.params, err = mime.ParseMediaType(value); err != nil {
		b.kind, b.params = looseType(value)
	}
	if !strings.Contains(b.kind, "/") {
		b.kind = "text/plain"
	}
	return b
}

func (b body) isMultipart() bool { return strings.HasPrefix(b.kind, "multipart/") }

func (b body) isMessage() bool {
	switch strings.ToLower(b.encoding) {
	case "quoted-printable", "base64":
		return false
	}
	return b.kind == "message/rfc822" || b.kind == "message/global" || b.kind == "message/news"
}

func (b body) boundary() string {
	boundary := b.params["boundary"]
	if len(boundary) > maxBoundary {
		return ""
	}
	return strings.TrimRight(boundary, " \t")
}

// IsHTML reports whether the body is HTML.
func (b body) IsHTML() bool {
	return b.kind == "text/html" || b.kind == "application/xhtml+xml"
}

// isFlowed reports whether the text is flowed, in which the line breaks inserted into long lines
// are marked (RFC 3676).
func (b body) isFlowed() bool {
	return b.kind == "text/plain" && strings.EqualFold(b.params["format"], "flowed")
}

// isFolded reports whether long lines are folded, as in calendars.
func (b body) isFolded() bool {
	switch b.kind {
	case "text/calendar", "text/x-vcalendar", "text/vcard", "text/x-vcard", "text/directory":
		return true
	}
	return false
}

func (b body) isText() bool {
	return strings.HasPrefix(b.kind, "text/") || strings.HasPrefix(b.kind, "message/")
}

// sniffed determines the charset of HTML from its first bytes. It also returns a feed that still
// includes these bytes.
func sniffed(f source.Feed, declared string) (source.Feed, string) {
	var head source.Mapped
	for len(head.Text) < source.SniffLength {
		p, ok := f.Next()
		if !ok {
			break
		}
		head.Add(p)
	}
	return &chain{first: source.MappedFeed{Mapped: head}, then: f}, source.HTMLCharset(head.Text, declared)
}

// A chain is the concatenation of two feeds.
type chain struct {
	first source.MappedFeed
	then  source.Feed
}

func (c *chain) Next() (source.Piece, bool) {
	if p, ok := c.first.Next(); ok {
		return p, true
	}
	return c.then.Next()
}

type bodyFeed struct{ m *messageReader }

func (f *bodyFeed) Next() (source.Piece, bool) {
	line, ok := f.m.peekLine()
	if !ok || f.m.isEnd(line) {
		return source.Piece{}, false
	}
	if f.m.tape.Held() > source.MaxKept {
		f.m.fail(f.m.tape.Pos(), "too much of this part decodes to nothing: the rest of it is skipped")
		return source.Piece{}, false
	}
	p := source.Literal(line, f.m.tape.Pos())
	if f.m.mbox && !f.m.midLine && isQuotedFrom(line) {
		p = source.Literal(line[1:], p.At+1)
	}
	f.m.skip(line)
	return p, true
}

// isQuotedFrom reports whether a line begins with ">From ". In a mailbox, the ">" prevents the line
// from beginning a message.
func isQuotedFrom(line []byte) bool {
	return line[0] == '>' && bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From "))
}
