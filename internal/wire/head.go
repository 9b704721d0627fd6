package wire

import (
	"bytes"
	"net/http"

	"github.com/nomen-project/nomen/internal/ascii"
)

type action uint8

const (
	unfinished action = iota // wait, because the head is incomplete
	good                     // pass on this GET or HEAD without a body, and inspect the next head
	last                     // pass on this head and all later bytes
	mend                     // replace the request line by one that net/http accepts
	longLine                 // answer 414
	longHeader               // answer 431
	misframed                // answer 400
)

// A head is the state of parsing the head at the start of a buffer. The zero head is ready to use.
// Each byte is inspected once, even if scan is called several times.
type head struct {
	first  bool // this is the first request of the connection
	lenGot bool // a Content-Length was found
	coded  bool // a Transfer-Encoding was found
	old    bool // the version is HTTP/1.0
	odd    bool // bytes after this request must not be inspected
	body   bool // there may be a body
	torn   bool // the request line must be mended

	line   requestLine
	begun  int // offset of the current line
	sought int // offset before which the current line does not end
	block  int // offset of the header block; 0 if the request line is incomplete
	end    int // offset of the end of the head, if known
}

// scan parses more of the head and returns what to do with it. The buffer b must begin with the
// bytes of the previous call. After an action other than unfinished, scan must not be called again.
func (h *head) scan(b []byte, limits *Config) action {
	if len(b) > 0 && !ascii.IsToken(b[0]) {
		return last // TLS, a leading space or garbage, which net/http rejects
	}
	for {
		i := bytes.IndexByte(b[h.sought:], '\n')
		if i < 0 {
			h.sought = len(b)
			return h.checkLength(trimLineEnd(b[h.begun:]), len(b), limits)
		}
		h.sought += i + 1
		line := trimLineEnd(b[h.begun:h.sought])
		if f := h.checkLength(line, h.sought, limits); f != unfinished {
			return f
		}
		h.begun = h.sought
		if f := h.take(line); f != unfinished {
			return f
		}
	}
}

// checkLength returns longLine or longHeader if the head is too long, and otherwise unfinished. The
// head is read up to the offset end, and line is its last line, which may be incomplete.
func (h *head) checkLength(line []byte, end int, limits *Config) action {
	switch {
	case h.block == 0 && len(line) > limits.MaxLine:
		return longLine
	case h.block > 0 && len(line) > 0 && end-h.block > limits.MaxHeader:
		return longHeader
	}
	return unfinished
}

// take processes a complete line without its line ending.
func (h *head) take(line []byte) action {
	switch {
	case h.block == 0:
		h.block = h.begun
		return h.takeRequestLine(line)
	case len(line) == 0:
		h.end = h.begun
		return h.settle()
	}
	h.takeField(line)
	return unfinished
}

func (h *head) takeRequestLine(line []byte) action {
	method, ok := accepted(line)
	h.old = bytes.HasSuffix(line, []byte("1.0"))
	if ok {
		h.odd = string(method) != http.MethodGet && string(method) != http.MethodHead
		return unfinished
	}
	h.line, h.torn = mendable(line, h.first)
	switch {
	case !h.torn:
		return last
	case h.line.simple():
		h.end = h.begun
		return mend
	}
	return unfinished
}

// takeField records what a header line says about the framing of the request. A body, an upgrade,
// Expect, and lines that parsers interpret differently end the inspection after this request.
// Invalid names and values need no check, because net/http rejects such a request and closes the
// connection.
func (h *head) takeField(line []byte) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 || isSpace(line[0]) {
		h.odd = true
		return
	}
	name, value := line[:colon], line[colon+1:]
	switch {
	case ascii.EqualFold(name, "Content-Length"):
		zero := string(bytes.Trim(value, " \t")) == "0" && !h.lenGot
		h.lenGot = true
		h.body = h.body || !zero
	case ascii.EqualFold(name, "Transfer-Encoding"):
		h.body, h.coded = true, true
	case ascii.EqualFold(name, "Upgrade"), ascii.EqualFold(name, "Expect"):
		h.odd = true
	}
}

// settle returns the action of a complete head. It rejects a request if parsers could disagree about
// where the body ends (RFC 9112, 6.1 and 6.3).
func (h *head) settle() action {
	switch {
	case h.coded && (h.old || h.lenGot):
		return misframed
	case h.torn:
		return mend
	case h.odd, h.body:
		return last
	}
	return good
}

// mended returns the head at the start of b as an HTTP/1.0 request for path, which is the last
// request of its connection.
//
// The added line "Connection: close" comes first, because net/http looks only in the first
// Connection field for a request to keep the connection. If the header block begins with white
// space, its first line would become a continuation of the added line, so mended does not add the
// line. net/http rejects such a header block.
func (h *head) mended(b []byte, path string) []byte {
	m := make([]byte, 0, len(h.line.method)+len(path)+64+h.end-h.block)
	m = append(append(append(m, h.line.method...), ' '), path...)
	m = append(m, " HTTP/1.0\r\n"...)
	block := b[h.block:h.end]
	if len(block) == 0 || !isSpace(block[0]) {
		m = append(m, "Connection: close\r\n"...)
	}
	if h.line.simple() {
		return append(m, "\r\n"...)
	}
	return append(m, block...)
}

// trimLineEnd removes an LF and a CR before it from the end of a line, as net/http does. It also
// removes a CR that may be the first half of a line ending.
func trimLineEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
