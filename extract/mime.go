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

// The bounds of messages.
const (
	maxDepth    = 100     // entities around an entity
	maxHeader   = 1 << 20 // octets of a header that are looked at
	maxLine     = 64 << 10
	maxBoundary = 256 // octets; 70 by the letter
)

// MIME yields the identifiers of a message, or of the messages of a mailbox in
// mbox format (RFC 4155), in the order in which they stand: in the fields of all
// headers, with encoded words decoded, and in the parts that are text or HTML,
// in whatever multiparts and messages they are, with their transfer encodings,
// charsets and flowed lines undone. Parts of other types are left out. With
// o.Mail, the identifiers of messages in References and the like are found, as
// the mid and cid locators that they are without the scheme (RFC 2392).
//
// Start and End are octets of the file as it is, and Text is what stands there:
// in quoted-printable with its escapes and soft line breaks, in base64 the whole
// groups of four octets that carry the identifier, in an encoded word likewise.
// Spelling is what that means. Where tells the part by its number, as in "part
// 2.1 a href", if there is more than one.
//
// Relative references in HTML parts and in Link are resolved against the BASE of
// the part, else its Content-Base, else its Content-Location, else what its
// enclosing entities say, else o.Base, else o.Default (RFC 3986, 5.1).
//
// Errors are a [*DocumentError], after which the sequence goes on, or that of
// the reader, with which it ends. Time is linear and memory bounded; what is
// nested deeper than 100 entities, and what of a header is beyond 1 MiB, is left
// out and told.
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

// An entity is what is open around what is being read: a multipart or a message.
type entity struct {
	boundary string // of a multipart
	at       int64
	number   string // of the entity; "" of the outermost
	parts    int
	kind     string // media type of parts that do not say
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
	blank    bool // the last line was empty, or there was none
	midLine  bool // the last line was longer than maxLine
	endless  bool // the last header has a rest that is not looked at
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

// unclosed tells that a multipart above a level of the stack has no end.
func (m *mimeScan) unclosed(level int) {
	for i := level + 1; i < len(m.stack); i++ {
		if e := m.stack[i]; e.boundary != "" {
			m.fail(e.at, "this multipart has no end")
			return // those within it have none either
		}
	}
}

// entity reads a header, and the body behind it unless that is a multipart, of
// which the parts come next. A message in the body is an entity itself.
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
			m.fail(at, "a multipart without a boundary; it is not looked at")
			return
		case (b.isMultipart() || b.isMessage()) && len(m.stack) >= maxDepth:
			m.fail(at, "entities within entities are too deep; this one is not looked at")
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

// place is the beginning of Where for what is found in a part.
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

// A body is what a header says of it.
type body struct {
	kind     string // media type in lower case
	params   map[string]string
	encoding string
}

// newBody reads the fields that matter. A type that cannot be read is plain text
// (RFC 2045, 5.2).
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

// isMessage reports whether the body is a message that can be read as it stands.
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

// leaf reads a body that is not made of others.
func (m *mimeScan) leaf(b body, base Base, at int64) {
	if !b.isText() && !b.isHTML() {
		return
	}
	f, ok := transfer(&bodyFeed{m: m}, b.encoding)
	if !ok {
		m.fail(at, "the transfer encoding "+strconv.Quote(b.encoding)+" is not known; the part is not looked at")
		return
	}
	charset := b.params["charset"]
	if b.isHTML() {
		f, charset = sniffed(f, charset)
	}
	if f, ok = inCharset(f, charset); !ok {
		m.fail(at, "the charset "+strconv.Quote(charset)+" is not known; the part is read as it is")
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

// text looks for identifiers in a text. Where lines flow, those that do not are
// whole.
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

// sniffed returns a feed with the charset of the HTML in it.
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

// A chain is one feed behind another.
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

// A bodyFeed hands out the lines of a body, up to the next boundary.
type bodyFeed struct{ m *mimeScan }

func (f *bodyFeed) next() (piece, bool) {
	line, ok := f.m.peekLine()
	if !ok || f.m.isEnd(line) {
		return piece{}, false
	}
	if f.m.tape.pos()-f.m.tape.keep > maxKept {
		f.m.fail(f.m.tape.pos(), "too much of this part says nothing; the rest of it is not looked at")
		return piece{}, false
	}
	p := literal(line, f.m.tape.pos())
	if f.m.mbox && !f.m.midLine && isQuotedFrom(line) {
		p = literal(line[1:], p.at+1)
	}
	f.m.skip(line)
	return p, true
}

// isQuotedFrom reports whether a line is one that begins with "From ", quoted so
// that it is not taken for the beginning of a message.
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

// isFrom reports whether a line begins a message of a mailbox: after an empty
// line, with the time of day in it (RFC 4155, appendix A).
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

// boundary returns the level of the multipart whose boundary a line is, -1 if it
// is none, and whether it is the last of it.
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

// peekLine returns the next line with its end, or maxLine octets of a longer
// one, or false at the end of the file.
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

// uncut returns the beginning of a line without an escape of quoted-printable
// that may not be complete.
func uncut(b []byte) []byte {
	for k := 1; k <= 2; k++ {
		if b[len(b)-k] == '=' {
			return b[:len(b)-k]
		}
	}
	return b
}

// skip passes a line that peekLine returned.
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

// header reads a header through the empty line behind it.
func (m *mimeScan) header() fields {
	fs, _ := m.headerLines()
	return fs
}

// headerLines is header, and returns where the fields end.
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
			m.fail(at, "a header is too long; the rest of it is not looked at")
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
			m.fail(at, "this is no header field; the body is taken to begin here")
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

// fieldName returns the name of a header field that a line begins with.
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
