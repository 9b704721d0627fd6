package wire

import (
	"bytes"
	"net/http"
)

// fate is what is to become of a head.
type fate uint8

const (
	unfinished fate = iota // its end has not been seen yet
	good                   // a GET or HEAD without a body: let it through, and look at the next
	last                   // let it through, and everything after it
	mend                   // give it a request line that net/http accepts
	longLine               // answer 414
	longHeader             // answer 431
	misframed              // answer 400
)

// head is what is known of the request head that a buffer begins with. Its zero
// value is ready for use. It looks at each byte once, however often it is asked.
type head struct {
	first  bool // the connection's first request
	lenGot bool // a Content-Length has been seen
	coded  bool // a Transfer-Encoding has been seen
	old    bool // the version is HTTP/1.0
	odd    bool // nothing after this request is looked at
	body   bool // a body is, or may be, declared
	torn   bool // the line has to be mended

	line   requestLine // of a head to be mended
	begun  int         // where the line that is being read begins
	sought int         // up to where its end has been sought
	block  int         // where the header block begins; 0 until the request line is complete
	end    int         // where the head ends, once that is known
}

// scan reads on in b, which begins with what it was given before, and says what
// is to become of the head. It must not be called again after any answer but
// unfinished.
func (h *head) scan(b []byte, limits *Config) fate {
	if len(b) > 0 && !isTokenByte(b[0]) {
		return last // TLS, a leading space, junk: net/http refuses it at the line
	}
	for {
		i := bytes.IndexByte(b[h.sought:], '\n')
		if i < 0 {
			h.sought = len(b)
			return h.measure(trimLineEnd(b[h.begun:]), len(b), limits)
		}
		h.sought += i + 1
		line := trimLineEnd(b[h.begun:h.sought])
		if f := h.measure(line, h.sought, limits); f != unfinished {
			return f
		}
		h.begun = h.sought
		if f := h.take(line); f != unfinished {
			return f
		}
	}
}

// measure says whether line, which reaches to end and may be lacking its own
// end, is too much.
func (h *head) measure(line []byte, end int, limits *Config) fate {
	switch {
	case h.block == 0 && len(line) > limits.MaxLine:
		return longLine
	case h.block > 0 && len(line) > 0 && end-h.block > limits.MaxHeader:
		return longHeader
	}
	return unfinished
}

// take reads a complete line, of which the end has been trimmed.
func (h *head) take(line []byte) fate {
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

func (h *head) takeRequestLine(line []byte) fate {
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

// takeField looks for what makes a request odd: a body, a change of protocol, a
// client that waits for a go-ahead, a line that not all readers read alike.
// A line with an invalid name or value needs no attention: net/http refuses the
// request and closes the connection.
func (h *head) takeField(line []byte) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 || isSpace(line[0]) {
		h.odd = true
		return
	}
	name, value := line[:colon], line[colon+1:]
	switch {
	case equalFold(name, "Content-Length"):
		zero := string(bytes.Trim(value, " \t")) == "0" && !h.lenGot
		h.lenGot = true
		h.body = h.body || !zero
	case equalFold(name, "Transfer-Encoding"):
		h.body, h.coded = true, true
	case equalFold(name, "Upgrade"), equalFold(name, "Expect"):
		h.odd = true
	}
}

// settle says what is to become of a complete head. Where readers do not agree on
// the end of the body (RFC 9112, 6.1 and 6.3) nothing is answered by it.
func (h *head) settle() fate {
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

// mended returns the head that b begins with, asking for path instead of its
// target, as a request of HTTP/1.0 and the last of its connection.
//
// The added line stands first, where net/http looks whether an HTTP/1.0 client
// wants to stay. Before a block that begins with white space it would swallow
// that line; net/http refuses such a block anyhow.
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

// trimLineEnd removes an LF and one CR before it, as net/http does, and also the
// CR of a line end that has not wholly arrived.
func trimLineEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
