package mime

import (
	"bytes"
	"iter"
	"net/mail"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/extract/internal/source"
)

const (
	maxDepth    = 100     // nested entities
	maxHeader   = 1 << 20 // octets of a header; the rest is skipped
	maxLine     = 64 << 10
	maxBoundary = 256 // octets; the standard allows 70
)

// Parts returns an iterator over the entities of a message, or of all messages of a mailbox in mbox
// format (RFC 4155). An entity precedes the entities that it contains. Parts calls report for each
// problem in the messages, and stops if report returns false. Parts takes linear time, and its
// memory has a fixed limit.
func Parts(t *source.Tape, report func(at int64, message string) bool) iter.Seq[*Part] {
	return func(yield func(*Part) bool) {
		m := &messageReader{tape: t, report: report, yield: yield, blank: true}
		m.run()
	}
}

// A Part is a MIME entity, which is a message or a part of a message.
type Part struct {
	Message int    // number of the message in the mailbox, from 1; 0 without a mailbox
	Number  string // number of the part in the message, as in "2.1"; "" for the message itself
	Depth   int    // number of entities that contain this entity
	At      int64  // offset of the header in the file
	Header  Fields
	Mail    mail.Header // the result of Header.Mail

	body
	reader *messageReader
}

// An entity is a multipart or message that contains the current line.
type entity struct {
	boundary string // if the entity is a multipart
	at       int64
	number   string // "" for the outermost entity
	parts    int
	kind     string // default media type of the parts
}

type messageReader struct {
	tape   *source.Tape
	report func(at int64, message string) bool
	yield  func(*Part) bool

	mbox     bool
	messages int
	stack    []entity
	blank    bool // the last line was empty, or no line was read
	midLine  bool // the last line was longer than maxLine, and its rest comes next
	endless  bool // the last header was too long, and its rest comes next
	stopped  bool
}

func (m *messageReader) fail(at int64, what string) {
	m.stopped = m.stopped || !m.report(at, what)
}

func (m *messageReader) run() {
	m.mbox = isMailbox(m.tape)
	for !m.stopped && len(m.tape.Peek(1)) > 0 {
		m.messages++
		if m.mbox {
			m.skipLine()
		}
		m.stack = append(m.stack[:0], entity{kind: "text/plain"})
		m.message()
	}
}

func isMailbox(t *source.Tape) bool { return bytes.HasPrefix(t.Peek(len("From ")), []byte("From ")) }

func (m *messageReader) message() {
	m.entity("text/plain")
	for !m.stopped {
		m.skipBody()
		if m.stopped {
			return
		}
		line, ok := m.peekLine()
		if !ok || m.isFrom(line) {
			m.unclosed(0)
			return
		}
		level, last := m.boundary(line)
		m.unclosed(level)
		m.stack = m.stack[:level+1]
		m.skipLine()
		if last {
			m.stack = m.stack[:level]
			continue
		}
		m.stack[level].parts++
		m.entity(m.stack[level].kind)
	}
}

// unclosed reports an error if a multipart above a level of the stack has no closing boundary.
func (m *messageReader) unclosed(level int) {
	for i := level + 1; i < len(m.stack); i++ {
		if e := m.stack[i]; e.boundary != "" {
			m.fail(e.at, "multipart without a closing boundary")
			return // the multiparts in it do not end either
		}
	}
}

// entity reads a header and passes the entity to m.yield. If the entity contains a message, entity
// also reads the header of this message. If the entity is a multipart, its parts are the next
// entities.
func (m *messageReader) entity(kind string) {
	for !m.stopped {
		p := m.part(kind)
		if m.stopped = m.stopped || !m.yield(p); m.stopped {
			return
		}
		m.skipHeader()
		inside := entity{at: p.At, number: p.Number, kind: "text/plain"}
		switch {
		case p.isMultipart() && p.boundary() == "":
			m.fail(p.At, "multipart without a boundary parameter: it is skipped")
			return
		case (p.isMultipart() || p.isMessage()) && len(m.stack) >= maxDepth:
			m.fail(p.At, "too many nested entities: this one is skipped")
			return
		case p.isMultipart():
			inside.boundary = p.boundary()
			if p.kind == "multipart/digest" {
				inside.kind = "message/rfc822"
			}
			m.stack = append(m.stack, inside)
			return
		case p.isMessage():
			m.stack = append(m.stack, inside)
			kind = "text/plain"
		default:
			return
		}
	}
}

func (m *messageReader) part(kind string) *Part {
	at := m.tape.Pos()
	top := m.stack[len(m.stack)-1]
	p := &Part{Number: top.number, Depth: len(m.stack) - 1, At: at, reader: m}
	if p.Header, _ = m.header(); m.mbox {
		p.Message = m.messages
	}
	if top.boundary != "" {
		p.Number = strings.TrimPrefix(top.number+"."+strconv.Itoa(top.parts), ".")
	}
	p.Mail = p.Header.Mail()
	p.body = newBody(p.Mail, kind)
	return p
}

// Text returns the body, decoded and converted to UTF-8. It returns false if the body is not text.
// The caller must read the whole text before it asks for the next part.
func (p *Part) Text() (source.Feed, bool) {
	m := p.reader
	m.skipHeader()
	if m.stopped || p.isMultipart() || p.isMessage() || !p.isText() && !p.IsHTML() {
		return nil, false
	}
	f, ok := transfer(&bodyFeed{m: m}, p.encoding)
	if !ok {
		m.fail(p.At, "unknown transfer encoding "+strconv.Quote(p.encoding)+": the part is skipped")
		return nil, false
	}
	charset := p.params["charset"]
	if p.IsHTML() {
		f, charset = sniffed(f, charset)
	}
	if f, ok = source.InCharset(f, charset); !ok {
		m.fail(p.At, "unknown charset "+strconv.Quote(charset)+": the part is read without conversion")
	}
	if p.isFlowed() {
		f = &flowedFeed{joined: joined{src: source.Window{Feed: f}}, deleteEnd: strings.EqualFold(p.params["delsp"], "yes")}
	}
	if p.isFolded() {
		f = Unfold(f)
	}
	return f, !m.stopped
}

// HasWholeLines reports whether [Part.Text] returns the original lines, without the breaks that
// were inserted into long lines. This is the case for formats that mark these breaks.
func (p *Part) HasWholeLines() bool { return p.isFlowed() || p.isFolded() }
