package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// maxBlankLines is how many empty lines may precede a request line.
	maxBlankLines = 8
	// minRead is the least free space in the buffer before a read.
	minRead = 512
)

// A stage says what a conn does with the bytes that it reads.
type stage uint8

const (
	looking  stage = iota // buffer each head until it is complete
	through               // pass on all bytes
	emptying              // discard bytes after the last request
	ended                 // report the end of the input
)

// A conn is a connection for net/http. At most one goroutine at a time reads, and at most one
// goroutine at a time writes.
type conn struct {
	net.Conn
	listener *listener
	known    bool // ConnContext has put the connection into the context of its requests
	deadline deadline

	// State of the reader.
	stage   stage
	head    head
	in      []byte  // bytes that were read but not passed on
	cleared int     // how many bytes of in may be passed on
	ahead   bool    // the first byte of in has been passed on
	blank   int     // number of empty lines before the head
	emptied int     // number of bytes that were discarded in the stage emptying
	arming  *filter // becomes the filter when the cleared bytes have been passed on

	// Requests that are answered without net/http.
	answer Answerer  // answers plain requests; nil if net/http answers all
	alone  bool      // the connection is in the pool, so net/http does not know it yet
	final  bool      // the connection ends after the last response of the Answerer
	timed  time.Time // when deadlines for plain requests were last set
	begun  time.Time // when the connection entered the pool

	// State that handlers and writers use.
	request  atomic.Pointer[mendedRequest]
	filter   atomic.Pointer[filter]
	refused  atomic.Bool // this package has answered the request, and net/http must not
	hijacked atomic.Bool

	closing   closing
	lingering atomic.Bool
}

// Read passes the next bytes to net/http. As long as heads are inspected, it passes on only
// complete heads. A head that needs no change usually arrives in one piece, and Read then inspects
// it in p without copying it.
func (c *conn) Read(p []byte) (int, error) {
	for {
		switch {
		case len(p) == 0:
			return 0, nil
		case c.cleared > 0:
			return c.handOn(p), nil
		case c.stage == through:
			return c.Conn.Read(p)
		case c.stage == ended:
			return 0, io.EOF
		case c.hijacked.Load():
			c.letThrough()
		case c.stage == emptying:
			return 0, c.empty()
		case len(p) == 1 && !c.ahead:
			return c.readAhead(p)
		case len(c.in) == 0 && c.blank == 0:
			if n, err := c.readInPlace(p); n > 0 || err != nil {
				return n, err
			}
		default:
			if err := c.readHead(); err != nil {
				return 0, err
			}
		}
	}
}

// handOn copies cleared bytes to p.
//
// With the last byte of a mended head, it also installs the filter. At this time net/http has
// written all earlier responses, because it reads at most one byte while a handler runs. So the
// filter sees only the response to the mended request.
func (c *conn) handOn(p []byte) int {
	n := copy(p, c.in[:c.cleared])
	c.in = c.in[n:]
	c.cleared -= n
	if c.cleared > 0 {
		return n
	}
	if c.arming != nil {
		c.filter.Store(c.arming)
		c.arming = nil
	}
	if c.stage == through {
		c.cleared = len(c.in)
	}
	if len(c.in) == 0 {
		c.in = nil
	}
	return n
}

// clear permits the first n bytes of in to be passed on. If the first byte has already been passed
// on to net/http (see readAhead), it is removed from in.
func (c *conn) clear(n int) {
	if c.ahead {
		c.in = c.in[1:]
		n--
		c.ahead = false
	}
	c.cleared = n
}

func (c *conn) letThrough() {
	c.stage = through
	c.closing.begun.Store(false)
	c.deadline.lift(c.Conn)
	c.clear(len(c.in))
}

// readAhead passes on a single byte while a handler runs. The byte shows net/http that the client
// is still connected. It is the first byte of a method, which mending does not change. The rest of
// the head is processed after the response of the handler, so that an error response of this
// package cannot appear in the middle of that response.
func (c *conn) readAhead(p []byte) (int, error) {
	for {
		c.skipBlankLines()
		if c.headBegun() {
			p[0] = c.in[0]
			c.ahead = true
			return 1, nil
		}
		n, err := c.Conn.Read(p)
		if n == 0 {
			return 0, err
		}
		c.in = append(c.in, p[:n]...)
	}
}

// readInPlace reads into p. It returns the length of the heads at the start of p that can be passed
// on unchanged, and copies the bytes after them to c.in for readHead.
func (c *conn) readInPlace(p []byte) (int, error) {
	if !c.waitForRequest() {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(p)
	c.closing.begun.Store(n > 0)
	if c.answer != nil && !c.head.first && n > 0 {
		k, err := c.answerPlain(p[:n])
		if err != nil {
			return 0, err
		}
		if n = copy(p, p[k:n]); n == 0 {
			return 0, nil // the next read returns the error again
		}
	}
	k := 0
	for k < n && c.head.scan(p[k:n], &c.listener.config) == good {
		k += c.head.end
		c.head = head{}
	}
	if k == n {
		return n, err
	}
	c.head = head{first: c.head.first}
	c.in = bytes.Clone(p[k:n])
	return k, nil // the next read returns the error again
}

// readHead reads until it can decide what to do with the head in c.in. Then it passes on the head,
// mends the head, or rejects the request. Read must return the error of readHead.
func (c *conn) readHead() error {
	if !c.ahead {
		c.skipBlankLines()
	}
	f := unfinished
	if c.headBegun() {
		f = c.head.scan(c.in, &c.listener.config)
	}
	switch {
	case f == unfinished:
		return c.readMore()
	case f == longLine:
		return c.refuse(uriTooLong)
	case f == longHeader:
		return c.refuse(headerTooLarge)
	case f == misframed:
		return c.refuse(badFraming)
	case f == good:
		c.letHeadThrough()
	case f == mend && c.known:
		c.mendHead()
	default:
		c.letThrough()
	}
	return nil
}

func (c *conn) letHeadThrough() {
	c.deadline.lift(c.Conn)
	c.clear(c.head.end)
	c.head = head{}
	c.blank = 0
}

// mendHead replaces the head in c.in. Bytes after the head are kept if the head declares a body,
// and are otherwise discarded.
func (c *conn) mendHead() {
	r := newMendedRequest(c.head.line)
	m := c.head.mended(c.in, r.path)
	size := len(m)
	c.stage = emptying
	if c.head.body {
		c.stage = through
		m = append(m, c.in[c.head.end:]...)
	}
	c.in = m
	c.deadline.lift(c.Conn)
	c.clear(size)
	c.request.Store(r)
	c.arming = &filter{reasonHeader: c.listener.reasonHeader, closes: true, bare: r.simple()}
}

// readMore waits for more of a head. The timeout begins with the first byte of the head.
func (c *conn) readMore() error {
	c.deadline.limit(c.Conn, c.listener.config.HeadTimeout)
	c.in = slices.Grow(c.in, minRead)
	n, err := c.Conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	c.closing.begun.Store(len(c.in) > 0)
	switch {
	case n > 0 || err == nil:
		return nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		c.letThrough() // net/http gets the incomplete head and then the error
		return nil
	case c.deadline.spent():
		return c.refuse(requestTimeout)
	}
	return err // a deadline that net/http has set
}

func (c *conn) skipBlankLines() {
	for c.blank < maxBlankLines {
		rest, ok := bytes.CutPrefix(c.in, []byte("\n"))
		if !ok {
			rest, ok = bytes.CutPrefix(c.in, []byte("\r\n"))
		}
		if !ok {
			return
		}
		c.in = rest
		c.blank++
	}
}

// headBegun reports whether a part of a request line has arrived. A single CR does not count,
// because it may begin an empty line.
func (c *conn) headBegun() bool { return len(c.in) > 0 && string(c.in) != "\r" }

// empty reads and discards input until the client disconnects or exceeds a limit. The read lets
// net/http notice that the client has disconnected.
func (c *conn) empty() error {
	buf := make([]byte, minRead)
	for c.emptied < maxLinger {
		n, err := c.Conn.Read(buf)
		c.emptied += n
		if err != nil {
			return err
		}
	}
	return io.EOF
}

// Write writes a part of a response of net/http, which the filter may change.
func (c *conn) Write(p []byte) (int, error) {
	if c.refused.Load() {
		return 0, net.ErrClosed
	}
	f := c.filter.Load()
	if f == nil {
		return c.Conn.Write(p)
	}
	out, done, err := f.take(p)
	if err != nil {
		return 0, err
	}
	if done {
		c.filter.Store(nil)
	}
	if len(out) > 0 {
		if _, err := c.Conn.Write(out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (c *conn) NetConn() net.Conn { return c.Conn }

func (c *conn) SetReadDeadline(t time.Time) error { return c.deadline.set(c.Conn, t) }

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.timed = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline stops the inspection of requests. net/http calls SetDeadline only to pass the
// connection to a hijacker.
func (c *conn) SetDeadline(t time.Time) error {
	c.hijacked.Store(true)
	c.filter.Store(nil)
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
