package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Defaults of [Config].
const (
	DefaultMaxLine     = 8192
	DefaultMaxHeader   = 64 << 10
	DefaultHeadTimeout = 10 * time.Second
)

// A Config has limits on requests, and options for short answers. The zero Config is ready to use.
type Config struct {
	// MaxLine is the maximum length in bytes of a request line without its line ending. 0 means
	// [DefaultMaxLine].
	MaxLine int
	// MaxHeader is the maximum length in bytes of a header block with its line endings, without the
	// empty line. 0 means [DefaultMaxHeader].
	MaxHeader int
	// HeadTimeout is how long a client may take from the first to the last byte of a head, or for a
	// TLS handshake. 0 means [DefaultHeadTimeout].
	HeadTimeout time.Duration
	// Now returns the time for the Date field in responses of this package. nil means [time.Now].
	Now func() time.Time
	// Short returns the Answerer for the plain requests of a connection, which are those that fit
	// into a [Plain]. If Short is nil or returns nil, net/http answers these requests. Short is not
	// called for connections with TLS.
	Short func(local, remote net.Addr) Answerer
	// IdleTimeout and WriteTimeout must equal the fields of the http.Server. They are only used
	// with Short.
	IdleTimeout, WriteTimeout time.Duration
	// Log gets a line for each request that this package answers with an error. nil means no log.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	c.MaxLine = cmp.Or(c.MaxLine, DefaultMaxLine)
	c.MaxHeader = cmp.Or(c.MaxHeader, DefaultMaxHeader)
	c.HeadTimeout = cmp.Or(c.HeadTimeout, DefaultHeadTimeout)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// NewListener returns a listener for an [http.Server] whose connections mend requests that net/http
// would reject. It accepts connections from l, and closes l when it is closed. The server must use
// the returned listener without a wrapper. A connection of l that has TLS must be a [*tls.Conn], or
// have a method NetConn that returns one.
func NewListener(l net.Listener, c Config) net.Listener {
	return &listener{
		Listener:     l,
		config:       c.withDefaults(),
		reasonHeader: "!reason-" + rand.Text(),
		arrivals:     make(chan arrival),
		closed:       make(chan struct{}),
		left:         make(chan struct{}),
		drained:      make(chan struct{}),
		rooms:        sync.Pool{New: func() any { return new(room) }},
		pool:         pool{all: map[*worker]struct{}{}},
	}
}

// A listener accepts connections in the background, so that slow TLS handshakes and requests in the
// pool do not delay other connections.
type listener struct {
	net.Listener
	config       Config
	reasonHeader string // name of the field that carries the reason phrase from the handler to the filter

	start    sync.Once
	arrivals chan arrival
	stop     sync.Once
	closed   chan struct{}
	left     chan struct{}  // closed some time after closed, when drain stops waiting
	drained  chan struct{}  // closed when the last connection has been passed to Accept
	shaking  sync.WaitGroup // TLS handshakes in progress
	rooms    sync.Pool
	pool     pool
}

// An arrival is a result of Accept.
type arrival struct {
	conn net.Conn
	err  error
}

// Accept waits for the next connection that is ready to be served. When the listener is closed, it
// returns the connections that were already accepted, and then an error.
func (l *listener) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.acceptAll() })
	select {
	case a := <-l.arrivals:
		return a.conn, a.err
	case <-l.drained:
		return nil, net.ErrClosed
	}
}

// Close makes Accept return an error. Accepted connections stay open.
func (l *listener) Close() error {
	l.stop.Do(func() {
		close(l.closed)
		l.pool.close()
		l.start.Do(func() { close(l.drained) }) // if Accept was never called
		time.AfterFunc(lingerTime, func() { close(l.left) })
	})
	return l.Listener.Close()
}

// Dial makes a connection in memory to a listener of NewListener, and returns the client's end. A
// program can use the connection to send a request to itself; see [Own]. The connection does not
// count towards any limit, and has no TLS.
func Dial(ctx context.Context, to net.Listener) (net.Conn, error) {
	l, ok := to.(*listener)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	here, there := net.Pipe()
	select {
	case l.arrivals <- arrival{conn: l.wrap(there)}:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (l *listener) acceptAll() {
	defer l.drain()
	for ok := true; ok; {
		c, err := l.Listener.Accept()
		if t := tlsOf(c); t != nil {
			l.shaking.Go(func() { l.shakeHands(c, t) })
			continue
		}
		if err != nil && l.isClosed() {
			return
		}
		if err != nil {
			ok = l.deliver(arrival{err: err})
			continue
		}
		ok = l.admit(l.wrap(c))
	}
}

// admit passes a connection without TLS to the pool, or to Accept if there is no Answerer. It
// returns false if the listener is closed.
func (l *listener) admit(c *conn) bool {
	if l.config.Short != nil {
		c.answer = l.config.Short(c.LocalAddr(), c.RemoteAddr())
	}
	if c.answer == nil {
		return l.deliver(arrival{conn: c})
	}
	c.alone = true
	l.pool.busy.Add(1)
	l.pool.serve(c)
	return true
}

// drain closes the channel drained when all handshakes have ended, and the pool has passed on or
// closed its connections. It stops waiting when the channel left is closed.
func (l *listener) drain() {
	ended := make(chan struct{})
	go func() {
		l.shaking.Wait()
		l.pool.busy.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-l.left:
	}
	close(l.drained)
}

func (l *listener) deliver(a arrival) bool {
	select {
	case l.arrivals <- a:
		return true
	case <-l.left:
		if a.conn != nil {
			a.conn.Close()
		}
		return false
	}
}

func tlsOf(c net.Conn) *tls.Conn {
	t, ok := c.(*tls.Conn)
	if w, wraps := c.(interface{ NetConn() net.Conn }); !ok && wraps {
		t, _ = w.NetConn().(*tls.Conn)
	}
	return t
}

// shakeHands completes the TLS handshake of t, which is c or is wrapped by c, and then delivers c.
// If the handshake fails or HTTP/2 was negotiated, it delivers t, because net/http needs a bare
// *tls.Conn.
func (l *listener) shakeHands(c net.Conn, t *tls.Conn) {
	t.SetDeadline(time.Now().Add(l.config.HeadTimeout))
	err := t.Handshake()
	t.SetDeadline(time.Time{})
	if err != nil || !isHTTP1(t.ConnectionState().NegotiatedProtocol) {
		l.deliver(arrival{conn: t})
		return
	}
	l.deliver(arrival{conn: &tlsConn{conn: l.wrap(c), tls: t}})
}

func isHTTP1(proto string) bool {
	return proto == "" || proto == "http/1.1" || proto == "http/1.0"
}

func (l *listener) wrap(c net.Conn) *conn {
	return &conn{Conn: c, listener: l, head: head{first: true}}
}

// A tlsConn is a conn that net/http recognizes as encrypted.
type tlsConn struct {
	*conn
	tls *tls.Conn
}

func (c *tlsConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }
