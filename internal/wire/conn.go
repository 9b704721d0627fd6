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
	// maxBlankLines is how many empty lines are skipped before a request line.
	maxBlankLines = 8
	// minRead is the least room a buffer has when it is read into.
	minRead = 512
)

// stage is what a conn does with the bytes it reads.
type stage uint8

const (
	looking  stage = iota // reads whole heads before it hands them on
	through               // hands on whatever comes
	emptying              // throws away what follows the last request
	ended                 // says that nothing follows
)

// conn is a connection as net/http sees it. As everywhere in net/http, only one
// goroutine reads at a time and only one writes.
type conn struct {
	net.Conn
	listener *listener
	known    bool // ConnContext has tied requests to this connection
	deadline deadline

	// The reader's affairs.
	stage   stage
	head    head
	in      []byte  // read, but not handed on
	cleared int     // so many bytes of in are ready to be handed on
	ahead   bool    // the first byte of in has been handed on already
	blank   int     // empty lines skipped before this head
	emptied int     // bytes thrown away
	arming  *filter // takes effect when the cleared bytes are handed on

	// What is answered here, without net/http.
	answer    Answerer      // nil for nothing
	timed     time.Time     // when deadlines were set for them
	answering chan struct{} // holds one while answers are made and written

	// What handlers and writers need to know.
	request  atomic.Pointer[mendedRequest]
	filter   atomic.Pointer[filter]
	refused  atomic.Bool // the wire has answered, net/http must not
	hijacked atomic.Bool
	closing  atomic.Bool
}

// Read hands the next bytes to net/http. Where heads are looked at, it hands on
// only what belongs to heads that are complete.
//
// Good heads in one piece, the ordinary case, are looked at where they land and
// copied nowhere.
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
// When the last byte of a mended head goes out, every earlier response has been
// written: while a handler runs, net/http reads one byte at most. So a filter
// that is put in place here meets the response to this request, and no other.
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

// clear allows the first n bytes of in to be handed on, but for one that net/http
// already has.
func (c *conn) clear(n int) {
	if c.ahead {
		c.in = c.in[1:]
		n--
		c.ahead = false
	}
	c.cleared = n
}

// letThrough ends all looking.
func (c *conn) letThrough() {
	c.stage = through
	c.deadline.lift(c.Conn)
	c.clear(len(c.in))
}

// readAhead gives net/http the one byte by which it notices, while a handler
// runs, that the client is still there. The rest of that head waits until the
// response is written: an answer of the wire's own must not get into it. The
// byte is the first of a method, which mending does not change.
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

// readInPlace reads into p and returns how many bytes of it are good heads. The
// rest is put aside for readHead.
func (c *conn) readInPlace(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.answer != nil && !c.head.first && n > 0 {
		k, err := c.answerPlain(p[:n])
		if err != nil {
			return 0, err
		}
		if n = copy(p, p[k:n]); n == 0 {
			return 0, nil // an error of the reading comes again
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
	return k, nil // an error comes again with the next read
}

// readHead reads on until something is known of the head in c.in, and settles
// its fate. An error is what Read has to return.
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

// mendHead replaces the head in c.in. What follows it is the request's body, if
// one is declared; otherwise nothing that anybody will read.
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

// readMore waits for more of a head. The time for it began with its first byte.
func (c *conn) readMore() error {
	c.deadline.limit(c.Conn, c.listener.config.HeadTimeout)
	c.in = slices.Grow(c.in, minRead)
	n, err := c.Conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	switch {
	case n > 0 || err == nil:
		return nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		c.letThrough() // net/http gets the broken head, and the error after it
		return nil
	case c.deadline.spent():
		return c.refuse(requestTimeout)
	}
	return err // a deadline of net/http's
}

// skipBlankLines drops empty lines from the beginning of c.in.
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

// headBegun reports whether c.in holds the beginning of a request line. A CR may
// still become an empty line.
func (c *conn) headBegun() bool { return len(c.in) > 0 && string(c.in) != "\r" }

// empty reads and forgets, so that net/http notices when the client goes, until
// it does or has sent more than is bearable.
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

// Write sends what net/http writes, by way of the filter if there is one.
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

// Close closes the connection. After a mended request, which may be followed by
// bytes that nobody reads, it lingers in the background.
func (c *conn) Close() error {
	c.finishAnswer()
	if c.request.Load() == nil || c.hijacked.Load() || !c.closing.CompareAndSwap(false, true) {
		return c.Conn.Close()
	}
	go c.lingerAndClose()
	return nil
}

// CloseWrite tells the client that nothing more will come; net/http uses it.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// NetConn returns the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// SetReadDeadline sets net/http's deadline; the one for a head holds beside it.
func (c *conn) SetReadDeadline(t time.Time) error { return c.deadline.set(c.Conn, t) }

// SetWriteDeadline sets net/http's deadline, in the place of the one of short
// answers.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.timed = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline is called by net/http when it gives the connection to a hijacker.
// From then on all bytes pass as they are.
func (c *conn) SetDeadline(t time.Time) error {
	c.hijacked.Store(true)
	c.filter.Store(nil)
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
