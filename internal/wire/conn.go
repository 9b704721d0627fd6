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
	// maxBlankLines is the number of empty lines that are skipped before a request line.
	maxBlankLines = 8
	// minRead is the minimum free space in the buffer for a read.
	minRead = 512
)

// stage is what a conn does with the bytes it reads.
type stage uint8

const (
	looking  stage = iota // buffer heads until they are complete
	through               // pass on everything
	emptying              // discard what follows the last request
	ended                 // report the end of input
)

// conn is a connection for net/http. As usual in net/http, only one goroutine reads at a time,
// and only one writes.
type conn struct {
	net.Conn
	listener *listener
	known    bool // ConnContext has attached this connection to the context of its requests
	deadline deadline

	// State of the reader.
	stage   stage
	head    head
	in      []byte  // bytes that were read but not passed on
	cleared int     // bytes of in that can be passed on
	ahead   bool    // the first byte of in was already passed on
	blank   int     // number of empty lines skipped before the head
	emptied int     // number of bytes that stage emptying has discarded
	arming  *filter // becomes the filter when the cleared bytes have been passed on

	// Requests that are answered without net/http.
	answer Answerer  // answers plain requests; nil if net/http answers all requests
	alone  bool      // the connection is in the lane: net/http does not know it yet
	final  bool      // the connection ends after the last response of the Answerer
	timed  time.Time // when the deadlines of plain requests were last set
	begun  time.Time // when the connection came into the lane

	// State for handlers and writers.
	request  atomic.Pointer[mendedRequest]
	filter   atomic.Pointer[filter]
	refused  atomic.Bool // this package has answered the request, so net/http must not
	hijacked atomic.Bool

	closing   closing
	lingering atomic.Bool
}

// Read passes the next bytes to net/http. While heads are inspected, it passes on only complete
// heads.
//
// Usually a good head arrives in one piece. Read then inspects the head in p without copying it.
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
// While a handler runs, net/http reads at most one byte. So when the last byte of a mended head is
// passed on, every earlier response has been written. handOn installs the filter at this moment.
// Therefore the filter sees only the response to the mended request.
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

// clear allows the first n bytes of in to be passed on. If net/http already has the first byte, this
// byte is not passed on again.
func (c *conn) clear(n int) {
	if c.ahead {
		c.in = c.in[1:]
		n--
		c.ahead = false
	}
	c.cleared = n
}

// letThrough stops inspecting; all later bytes pass unchanged.
func (c *conn) letThrough() {
	c.stage = through
	c.closing.begun.Store(false)
	c.deadline.lift(c.Conn)
	c.clear(len(c.in))
}

// readAhead passes on a single byte while a handler runs. By this byte net/http notices that the
// client is still connected. The rest of the head waits until the response is written. So an answer
// of the wire cannot be written in the middle of this response. The byte is the first byte of a
// method, and mending does not change methods.
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

// readInPlace reads into p. It returns how many bytes at the beginning of p are good heads. It copies
// the bytes after the good heads to c.in for readHead.
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

// readHead reads until it can decide about the head in c.in. Then it passes the head on, mends the
// head, or rejects the request. If readHead returns an error, Read must return this error.
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

// mendHead replaces the head in c.in. If the head declares a body, the bytes after it are the body;
// otherwise they are ignored.
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

// readMore waits for more of a head. The timeout of a head begins with its first byte.
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
		c.letThrough() // net/http gets the incomplete head, and then the error
		return nil
	case c.deadline.spent():
		return c.refuse(requestTimeout)
	}
	return err // a deadline of net/http has passed
}

// skipBlankLines drops empty lines at the beginning of c.in.
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

// headBegun reports whether c.in begins with a part of a request line. A single CR does not count: it
// may be the beginning of an empty line.
func (c *conn) headBegun() bool { return len(c.in) > 0 && string(c.in) != "\r" }

// empty reads and discards input until the client disconnects or exceeds a limit. Reading lets
// net/http notice the disconnection.
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

// Write sends the output of net/http, through the filter if there is one.
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

// CloseWrite tells the client that no more data will come. net/http calls it.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// NetConn returns the underlying connection.
func (c *conn) NetConn() net.Conn { return c.Conn }

// SetReadDeadline sets the deadline of net/http. The deadline for a head does not change.
func (c *conn) SetReadDeadline(t time.Time) error { return c.deadline.set(c.Conn, t) }

// SetWriteDeadline sets the deadline of net/http. This replaces the deadline for short answers.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.timed = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline is called by net/http when it passes the connection to a hijacker. From then on
// all bytes pass unchanged.
func (c *conn) SetDeadline(t time.Time) error {
	c.hijacked.Store(true)
	c.filter.Store(nil)
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
