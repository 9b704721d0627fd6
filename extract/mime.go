package extract

import (
	"bytes"
	"io"
	"iter"
	"mime"
	"net/mail"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Limits on messages.
const (
	maxDepth    = 100     // nested entities
	maxHeader   = 1 << 20 // octets of a header that are read
	maxLine     = 64 << 10
	maxBoundary = 256 // octets; the standard allows 70
)

// MIME yields the identifiers in a message, or in the messages of a mailbox in
// mbox format (RFC 4155), in document order. It reads the fields of all
// headers, decoding encoded words, and the text and HTML parts at any depth of
// multiparts and messages, decoding transfer encodings, charsets and flowed
// text. It skips parts of other types. With o.Mail it also finds message
// identifiers in References and similar fields, which are mid and cid locators
// without the scheme (RFC 2392).
//
// Start and End are offsets in the undecoded file, and Text is the octets
// there: in quoted-printable with escapes and soft line breaks, in base64 the
// whole groups of four octets that contain the identifier, and likewise in an
// encoded word. Spelling is the decoded identifier. Where contains the number
// of the part if there are several, as in "part 2.1 a href".
//
// Relative references in HTML parts and in Link are resolved against the first
// of these that exists: the BASE of the part, its Content-Base, its
// Content-Location, the base of the enclosing entities, o.Base, o.Default (RFC
// 3986, 5.1).
//
// An error is a [*DocumentError], after which the sequence continues, or the
// error of the reader, which ends it. Time is linear and memory bounded.
// Entities nested more than 100 deep, and the part of a header beyond 1 MiB,
// are skipped and reported.
func MIME(r io.Reader, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		t := newTape(r)
		m := &mimeScan{tape: t, options: o, queue: newQueue(t, o, yield)}
		m.run()
		if m.queue.flush(true); !m.queue.stopped && t.cause() != nil {
			yield(Finding{}, t.cause())
		}
	}
}

// An entity is a multipart or message that contains the current text.
type entity struct {
	boundary string // of a multipart
	at       int64
	number   string // of the entity; "" for the outermost
	parts    int
	kind     string // default media type of its parts
	base     Base   // in force inside
}

// A mimeScan reads a message line by line.
type mimeScan struct {
	tape    *tape
	options Options
	queue   *queue

	mbox     bool
	messages int
	stack    []entity
	blank    bool // the last line was empty, or this is the first
	midLine  bool // the last line was longer than maxLine
	endless  bool // the last header has a rest that is not read
}

func (m *mimeScan) fail(at int64, what string) {
	m.queue.add(held{err: &DocumentError{Offset: at, Message: what}})
}

func (m *mimeScan) run() {
	m.blank = true
	m.mbox = bytes.HasPrefix(m.tape.peek(len("From ")), []byte("From "))
	for !m.queue.stopped && len(m.tape.peek(1)) > 0 {
		m.messages++
		if m.mbox {
			m.skipLine()
		}
		m.stack = append(m.stack[:0], entity{base: outside(m.options), kind: "text/plain"})
		m.message()
	}
}

// message reads a message to its end.
func (m *mimeScan) message() {
	m.entity("text/plain")
	for !m.queue.stopped {
		m.skipBody()
		if m.queue.stopped {
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

// unclosed reports that the multiparts above a level of the stack have no end.
func (m *mimeScan) unclosed(level int) {
	for i := level + 1; i < len(m.stack); i++ {
		if e := m.stack[i]; e.boundary != "" {
			m.fail(e.at, "multipart without a closing boundary")
			return // nor do those inside it
		}
	}
}

// entity reads a header, and the body after it unless that is a multipart,
// whose parts follow. A message in the body is an entity of its own.
func (m *mimeScan) entity(kind string) {
	for !m.queue.stopped {
		at := m.tape.pos()
		fs := m.header()
		h := fs.header()
		top := &m.stack[len(m.stack)-1]
		number := top.number
		if top.boundary != "" {
			number = strings.TrimPrefix(number+"."+strconv.Itoa(top.parts), ".")
		}
		base := EntityBase(uri.Latest, h)(top.base)
		m.queue.prefix = m.place(number)
		m.headerFields(fs, top.base, base)
		if m.endless {
			m.skipHeader()
		}
		m.tape.release(m.tape.pos())

		b := newBody(h, kind)
		inside := entity{at: at, number: number, base: base, kind: "text/plain"}
		if base != top.base {
			inside.base.Rule = BaseEncapsulating
		}
		switch {
		case b.isMultipart() && b.boundary() == "":
			m.fail(at, "multipart without a boundary parameter: it is skipped")
			return
		case (b.isMultipart() || b.isMessage()) && len(m.stack) >= maxDepth:
			m.fail(at, "too many nested entities: this one is skipped")
			return
		case b.isMultipart():
			inside.boundary = b.boundary()
			if b.kind == "multipart/digest" {
				inside.kind = "message/rfc822"
			}
			m.stack = append(m.stack, inside)
			return
		case b.isMessage():
			m.stack = append(m.stack, inside)
			kind = "text/plain"
		default:
			m.leaf(b, base, at)
			return
		}
	}
}

// place returns the beginning of Where for findings in a part.
func (m *mimeScan) place(number string) string {
	var s string
	if m.mbox {
		s = "message " + strconv.Itoa(m.messages) + " "
	}
	if number != "" {
		s += "part " + number + " "
	}
	return s
}

// A body holds the header fields that describe a body.
type body struct {
	kind     string // media type in lower case
	params   map[string]string
	encoding string
}

// newBody reads the relevant fields. An unreadable type means plain text (RFC
// 2045, 5.2).
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

// isMessage reports whether the body is a message that is not encoded.
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

func (b body) isHTML() bool {
	return b.kind == "text/html" || b.kind == "application/xhtml+xml"
}

// isFolded reports whether long lines are folded in the text.
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

// leaf reads a body that has no parts.
func (m *mimeScan) leaf(b body, base Base, at int64) {
	if !b.isText() && !b.isHTML() {
		return
	}
	f, ok := transfer(&bodyFeed{m: m}, b.encoding)
	if !ok {
		m.fail(at, "unknown transfer encoding "+strconv.Quote(b.encoding)+": the part is skipped")
		return
	}
	charset := b.params["charset"]
	if b.isHTML() {
		f, charset = sniffed(f, charset)
	}
	if f, ok = inCharset(f, charset); !ok {
		m.fail(at, "unknown charset "+strconv.Quote(charset)+": the part is read without conversion")
	}
	if b.isHTML() {
		scanHTML(m.tape, f, m.queue, newScope(base))
		m.queue.flush(true)
		return
	}
	flowed := b.kind == "text/plain" && strings.EqualFold(b.params["format"], "flowed")
	if flowed {
		f = &flowedFeed{joined: joined{src: window{feed: f}}, deleteEnd: strings.EqualFold(b.params["delsp"], "yes")}
	}
	if b.isFolded() {
		f = &foldedFeed{joined: joined{src: window{feed: f}}}
	}
	m.text(f, knownScope(base), flowed || b.isFolded())
}

// text searches a text. In flowed text, a line that is not flowed is complete.
func (m *mimeScan) text(f feed, sc *scope, flowed bool) {
	s := stretch{oneLine: flowed}
	for !m.queue.stopped {
		p, ok := f.next()
		if !ok {
			break
		}
		s.add(p)
		if s.isFull() {
			s.flush(m.queue, sc, false, "")
		}
		if len(s.runs) > 0 {
			m.tape.release(s.runs[0].at)
		}
	}
	s.flush(m.queue, sc, true, "")
}

// sniffed returns a feed that converts from the charset of the HTML in it.
func sniffed(f feed, declared string) (feed, string) {
	var head mapped
	for len(head.text) < sniffLength {
		p, ok := f.next()
		if !ok {
			break
		}
		head.add(p)
	}
	return &chain{first: mappedFeed{mapped: head}, then: f}, htmlCharset(head.text, declared)
}

// A chain returns one feed after another.
type chain struct {
	first mappedFeed
	then  feed
}

func (c *chain) next() (piece, bool) {
	if p, ok := c.first.next(); ok {
		return p, true
	}
	return c.then.next()
}

// A bodyFeed returns the lines of a body, up to the next boundary.
type bodyFeed struct{ m *mimeScan }

func (f *bodyFeed) next() (piece, bool) {
	line, ok := f.m.peekLine()
	if !ok || f.m.isEnd(line) {
		return piece{}, false
	}
	if f.m.tape.pos()-f.m.tape.keep > maxKept {
		f.m.fail(f.m.tape.pos(), "too much of this part decodes to nothing: the rest of it is skipped")
		return piece{}, false
	}
	p := literal(line, f.m.tape.pos())
	if f.m.mbox && !f.m.midLine && isQuotedFrom(line) {
		p = literal(line[1:], p.at+1)
	}
	f.m.skip(line)
	return p, true
}

// isQuotedFrom reports whether a line begins with a quoted "From ", which
// mailboxes use so that the line is not taken for the beginning of a message.
func isQuotedFrom(line []byte) bool {
	return line[0] == '>' && bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From "))
}

// skipBody skips to the next boundary.
func (m *mimeScan) skipBody() {
	for !m.queue.stopped {
		line, ok := m.peekLine()
		if !ok || m.isEnd(line) {
			return
		}
		m.skip(line)
		m.tape.release(m.tape.pos())
	}
}

// isEnd reports whether a line ends a body.
func (m *mimeScan) isEnd(line []byte) bool {
	if m.isFrom(line) {
		return true
	}
	level, _ := m.boundary(line)
	return level >= 0
}

// isFrom reports whether a line begins a message in a mailbox: it must follow
// an empty line and contain a time of day (RFC 4155, appendix A).
func (m *mimeScan) isFrom(line []byte) bool {
	if !m.mbox || !m.blank || m.midLine || !bytes.HasPrefix(line, []byte("From ")) {
		return false
	}
	for i := 2; i+2 < len(line); i++ {
		if line[i] == ':' && isDigit(line[i-1]) && isDigit(line[i+1]) && isDigit(line[i+2]) {
			return true
		}
	}
	return false
}

// boundary returns the level of the multipart whose boundary the line is, or
// -1, and whether it is the closing boundary.
func (m *mimeScan) boundary(line []byte) (level int, last bool) {
	if m.midLine || len(line) < 3 || line[0] != '-' || line[1] != '-' {
		return -1, false
	}
	line = bytes.TrimRight(line[2:], " \t\r\n")
	for level = len(m.stack) - 1; level >= 0; level-- {
		b := m.stack[level].boundary
		if b == "" || len(line) < len(b) || string(line[:len(b)]) != b {
			continue
		}
		switch string(line[len(b):]) {
		case "":
			return level, false
		case "--":
			return level, true
		}
	}
	return -1, false
}

// peekLine returns the next line with its line break, or maxLine octets of a
// longer one. It returns false at the end of the file.
func (m *mimeScan) peekLine() ([]byte, bool) {
	from := 0
	for {
		b := m.tape.rest()
		n := bytes.IndexByte(b[from:], '\n')
		switch {
		case n >= 0 && from+n < maxLine:
			return b[:from+n+1], true
		case len(b) >= maxLine:
			return uncut(b[:maxLine]), true
		}
		if from = len(b); !m.tape.fill() {
			return m.tape.rest(), from > 0
		}
	}
}

// uncut returns the beginning of a line without a possibly incomplete
// quoted-printable escape at its end.
func uncut(b []byte) []byte {
	for k := 1; k <= 2; k++ {
		if b[len(b)-k] == '=' {
			return b[:len(b)-k]
		}
	}
	return b
}

// skip consumes a line returned by peekLine.
func (m *mimeScan) skip(line []byte) {
	m.tape.skip(len(line))
	m.midLine = line[len(line)-1] != '\n'
	m.blank = !m.midLine && len(bytes.TrimRight(line, "\r\n")) == 0
}

func (m *mimeScan) skipLine() {
	for {
		line, ok := m.peekLine()
		if !ok {
			return
		}
		if m.skip(line); !m.midLine {
			return
		}
	}
}

// header reads a header including the empty line after it.
func (m *mimeScan) header() fields {
	fs, _ := m.headerLines()
	return fs
}

// headerLines is like header, and also returns the end of the fields.
func (m *mimeScan) headerLines() (fs fields, end int64) {
	size := 0
	for !m.queue.stopped {
		line, ok := m.peekLine()
		at := m.tape.pos()
		if !ok || m.isEnd(line) {
			return fs, at
		}
		whole := !m.midLine
		content := bytes.TrimRight(line, "\r\n")
		if whole && len(content) == 0 {
			m.skip(line)
			m.blank = true
			return fs, at
		}
		if size += len(line); size > maxHeader {
			m.fail(at, "header too long: the rest of it is skipped")
			m.endless = true
			return fs, at
		}
		name, ok := fieldName(line)
		switch {
		case (!whole || line[0] == ' ' || line[0] == '\t') && len(fs) > 0:
			fs[len(fs)-1].value.add(literal(line, at))
		case ok:
			n := len(name) + bytes.IndexByte(line[len(name):], ':') + 1
			fs = append(fs, field{name: name, at: at})
			fs[len(fs)-1].value.add(literal(line[n:], at+int64(n)))
		case whole:
			m.fail(at, "not a header field: the body is assumed to begin here")
			return fs, at
		}
		m.skip(line)
	}
	return fs, m.tape.pos()
}

// skipHeader skips the rest of a header.
func (m *mimeScan) skipHeader() {
	for m.endless = false; !m.queue.stopped; {
		line, ok := m.peekLine()
		if !ok || m.isEnd(line) {
			return
		}
		whole := !m.midLine
		m.skip(line)
		m.tape.release(m.tape.pos())
		if whole && m.blank {
			return
		}
	}
}

// fieldName returns the name of the header field at the beginning of a line.
func fieldName(line []byte) (string, bool) {
	n := 0
	for n < len(line) && line[n] > ' ' && line[n] < 0x7F && line[n] != ':' {
		n++
	}
	name := string(line[:n])
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return name, n > 0 && name != "" && n < len(line) && line[n] == ':'
}
