package server

import (
	"container/list"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/wire"
)

// A limitedListener limits the number of open connections, in total and for each address (IPv6:
// each /64). At the limit of an address, a new connection replaces the connection of this address
// that has been idle longest. At the total limit, it replaces an idle connection of the address
// with the most connections, so a client that opens many connections loses its own connections
// first.
type limitedListener struct {
	net.Listener
	max, each int
	many      func(netip.Addr) bool // whether the limit of an address does not apply
	refused   func(reason string)

	closed chan struct{}
	once   sync.Once

	open atomic.Int64 // connections of net/http, without hijacked ones

	pauses  wire.Pauses
	waiting atomic.Bool   // a connection is waiting for a free slot
	freed   chan struct{} // contains an element when a slot may be free

	mu     sync.Mutex
	n      int
	secure map[*tls.Conn]*limitedConn // connections of a TLS listener, which net/http knows only as *tls.Conn
	shares map[netip.Addr]*share
	sizes  []*list.List // *share values; sizes[n] contains the addresses with n connections, for n > 0
	idle   list.List    // of *limitedConn, ordered by since
}

// A share contains the connections from one address.
type share struct {
	n    int
	in   *list.Element // element of the share in limitedListener.sizes[n]
	idle list.List     // of *limitedConn, ordered by since
}

func newLimitedListener(l net.Listener, most, each int, many func(netip.Addr) bool, refused func(string)) *limitedListener {
	return &limitedListener{
		Listener: l, max: most, each: each, many: many, refused: refused,
		closed: make(chan struct{}), freed: make(chan struct{}, 1),
		secure: map[*tls.Conn]*limitedConn{}, shares: map[netip.Addr]*share{}, sizes: make([]*list.List, 1),
	}
}

// The reasons for closing a connection, which are labels of a metric.
const (
	refusedConnection = "connections" // a limit is reached, and no idle connection may be closed
	refusedIdle       = "idle"        // an idle connection was replaced
)

// Accept waits for a connection and for a free slot.
func (t *limitedListener) Accept() (net.Conn, error) {
	for {
		raw, err := t.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addrOf(raw.RemoteAddr()).Addr()
		c := &limitedConn{Conn: t.pauses.Quick(raw), table: t, from: gateway.Guest(from), many: t.many(from)}
		c.heard.Store(time.Now().UnixNano())
		c.silent.Store(true)
		c.reading.Store(true) // the first request comes soon; until then closeIdle may close the connection
		switch err := t.wait(c); {
		case err == nil:
			return c, nil
		case errors.Is(err, errShare):
			t.refused(refusedConnection)
			raw.Close()
		default:
			raw.Close()
			return nil, err
		}
	}
}

// errShare means that an address already has as many connections as it may have.
var errShare = errors.New("server: too many connections from one address")

// wait waits for a free slot and adds the connection c. It returns errShare if the address of c has
// too many connections.
func (t *limitedListener) wait(c *limitedConn) error {
	defer t.waiting.Store(false)
	for {
		wait, ok := t.admit(c)
		switch {
		case ok:
			return nil
		case !wait:
			return errShare
		case !t.waiting.Swap(true):
			continue // a connection that became idle before waiting was set has sent no signal
		}
		select {
		case <-t.freed:
		case <-t.closed: // accept this last connection; the server is shutting down and will close it
			t.mu.Lock()
			defer t.mu.Unlock()
			t.add(c)
			return nil
		}
	}
}

// admit adds a connection if a slot is free, or if it can close an idle connection. Otherwise ok is
// false, and mayWait says what the caller must do: wait for a slot, or reject the connection. A
// connection must be rejected if its address has reached the limit, or if the listener is full and
// all connections of this address are busy.
func (t *limitedListener) admit(c *limitedConn) (mayWait, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.shares[c.from]
	if s == nil {
		s = &share{}
	}
	switch {
	case !c.many && s.n >= t.each && !t.closeIdle(&s.idle):
		return false, false
	case t.n >= t.max && !t.replace(s, c.many):
		return t.idle.Len() == 0 || c.many || s.n == 0, false
	}
	t.add(c)
	return false, true
}

// add adds a connection. The caller must hold t.mu.
func (t *limitedListener) add(c *limitedConn) {
	s := t.shares[c.from]
	if s == nil {
		s = &share{}
		t.shares[c.from] = s
	}
	t.resize(s, +1)
	if secure, ok := c.Conn.(*tls.Conn); ok {
		t.secure[secure] = c
	}
	c.isOpen = true
	t.setIdle(c)
}

// limit changes the limits on connections. If too many connections are open, it closes idle
// connections. Busy connections may stay until they end.
func (t *limitedListener) limit(most, each int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.max, t.each = most, each
	for t.n > t.max && t.closeIdle(&t.idle) {
	}
	t.signal()
}

func (t *limitedListener) closeSilent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := t.idle.Front(); e != nil; {
		c := e.Value.(*limitedConn)
		e = e.Next()
		if _, bare := c.Conn.(*tls.Conn); !bare && c.silent.Load() && c.reading.Load() {
			t.remove(c)
			_ = c.abort()
		}
	}
}

// replace makes room for a connection of the share s. It closes an idle connection of the address
// with the most connections; if several addresses have the same number, it chooses the address that
// has had this number longest. If shared is true, many clients share the address of s, and replace
// may close a connection of any address. Otherwise, the address must be the address of s or have
// more connections than s. The caller must hold t.mu.
func (t *limitedListener) replace(s *share, shared bool) (ok bool) {
	own := s.n
	if shared {
		own = 0
	}
	for n := len(t.sizes) - 1; n > max(own, 1); n-- {
		for e := t.sizes[n].Front(); e != nil; e = e.Next() {
			if t.closeIdle(&e.Value.(*share).idle) {
				return true
			}
		}
	}
	if own > 0 {
		return t.closeIdle(&s.idle)
	}
	return t.closeIdle(&t.idle)
}

// resize changes the number of connections of a share by delta. The caller must hold t.mu.
func (t *limitedListener) resize(s *share, delta int) {
	if s.n > 0 {
		t.sizes[s.n].Remove(s.in)
	}
	t.n += delta
	s.n += delta
	if s.n == len(t.sizes) {
		t.sizes = append(t.sizes, list.New())
	}
	if s.n > 0 {
		s.in = t.sizes[s.n].PushBack(s)
	}
	for n := len(t.sizes); n > 1 && t.sizes[n-1].Len() == 0; n-- {
		t.sizes = t.sizes[:n-1]
	}
}

// closeIdle closes the connection in a list that has been idle longest. It returns false if no
// connection in the list is idle. The caller must hold t.mu.
func (t *limitedListener) closeIdle(idle *list.List) (ok bool) {
	moves := 2 * idle.Len()
	for e := idle.Front(); e != nil; {
		c := e.Value.(*limitedConn)
		switch {
		case c.heard.Load() > c.since && moves > 0: // a request was answered without net/http, so state has not moved c in the list
			moves--
			before := e.Prev()
			t.setBusy(c)
			t.setIdle(c)
			if e = idle.Front(); before != nil {
				e = before.Next()
			}
		case c.reading.Load(): // otherwise the server is answering a request on this connection
			t.remove(c)
			t.refused(refusedIdle)
			_ = c.abort() // the read in progress fails, so net/http or wire drops the connection
			return true
		default:
			e = e.Next()
		}
	}
	return false
}

// setIdle adds a connection to the lists of idle connections. The caller must hold t.mu.
func (t *limitedListener) setIdle(c *limitedConn) {
	if c.isOpen && c.inAll == nil {
		c.since = c.heard.Load()
		c.inAll, c.inShare = insert(&t.idle, c), insert(&t.shares[c.from].idle, c)
	}
}

// insert adds a connection to a list that is sorted by the field since.
func insert(idle *list.List, c *limitedConn) *list.Element {
	for e := idle.Back(); e != nil; e = e.Prev() {
		if e.Value.(*limitedConn).since <= c.since {
			return idle.InsertAfter(c, e)
		}
	}
	return idle.PushFront(c)
}

// setBusy removes a connection from the lists of idle connections. The caller must hold t.mu.
func (t *limitedListener) setBusy(c *limitedConn) {
	if c.inAll != nil {
		t.idle.Remove(c.inAll)
		t.shares[c.from].idle.Remove(c.inShare)
		c.inAll, c.inShare = nil, nil
	}
}

// remove removes a connection. The caller must hold t.mu.
func (t *limitedListener) remove(c *limitedConn) {
	if !c.isOpen {
		return
	}
	t.setBusy(c)
	c.isOpen = false
	if secure, ok := c.Conn.(*tls.Conn); ok {
		delete(t.secure, secure)
	}
	s := t.shares[c.from]
	if t.resize(s, -1); s.n == 0 {
		delete(t.shares, c.from)
	}
	t.signal()
}

// signal tells Accept that a slot may be free.
func (t *limitedListener) signal() {
	select {
	case t.freed <- struct{}{}:
	default:
	}
}

// state is the ConnState hook of [http.Server]. It records which connections are idle, and removes
// a TLS connection that net/http closes without calling limitedConn.Close.
func (t *limitedListener) state(conn net.Conn, state http.ConnState) {
	wire.SetState(conn, state)
	switch state {
	case http.StateNew:
		t.open.Add(1)
	case http.StateHijacked, http.StateClosed:
		t.open.Add(-1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.connOf(conn)
	if c == nil {
		return
	}
	bare := conn == c.Conn
	switch {
	case state == http.StateIdle:
		if bare {
			c.heard.Store(time.Now().UnixNano())
		}
		t.setIdle(c)
	case state == http.StateActive, state == http.StateHijacked:
		t.setBusy(c)
	case state == http.StateClosed && bare:
		t.remove(c)
	}
}

// connOf returns the limitedConn for a connection of net/http, or nil. The connection can be the
// limitedConn, the TLS connection inside it, or a wrapper around either. The caller must hold t.mu.
func (t *limitedListener) connOf(conn net.Conn) *limitedConn {
	for {
		switch c := conn.(type) {
		case *limitedConn:
			return c
		case *tls.Conn:
			if of := t.secure[c]; of != nil {
				return of
			}
			conn = c.NetConn()
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// bareListener returns TLS connections as *tls.Conn, without a limitedConn around them, because
// net/http serves HTTP/2 only on such connections.
type bareListener struct{ *limitedListener }

func (l bareListener) Accept() (net.Conn, error) {
	c, err := l.limitedListener.Accept()
	if err != nil {
		return nil, err
	}
	if secure, ok := c.(*limitedConn).Conn.(*tls.Conn); ok {
		return secure, nil
	}
	return c, nil
}

func (t *limitedListener) Close() error {
	t.once.Do(func() { close(t.closed) })
	return t.Listener.Close()
}

type limitedConn struct {
	net.Conn
	table *limitedListener
	from  netip.Addr
	many  bool
	heard atomic.Int64 // time of the last data received, in Unix nanoseconds

	reading atomic.Bool // the server is waiting for the client
	silent  atomic.Bool // nothing has arrived yet

	isOpen         bool          // guarded by the mutex of the listener, as are the fields below
	since          int64         // the value of heard that determines the position of the connection in the lists
	inAll, inShare *list.Element // elements of the connection in the lists of idle connections; nil while it is busy
}

// Read records when data arrived.
func (c *limitedConn) Read(b []byte) (int, error) {
	c.reading.Store(true)
	if c.table.waiting.Load() {
		c.table.signal()
	}
	n, err := c.Conn.Read(b)
	c.reading.Store(false)
	if n > 0 {
		c.heard.Store(time.Now().UnixNano())
		c.silent.Store(false)
	}
	return n, err
}

// Close closes the connection and frees its slot.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.table.remove(c)
	return err
}

// abort closes the connection at once. A TLS connection would otherwise first send a message, and
// could wait for the client.
func (c *limitedConn) abort() error {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		return secure.NetConn().Close()
	}
	return c.Conn.Close()
}

func (c *limitedConn) NetConn() net.Conn { return c.Conn }

func (c *limitedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}
