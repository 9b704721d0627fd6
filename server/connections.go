package server

import (
	"container/list"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/gateway"
)

// A table is a listener that bounds the connections that are open at once, and how many
// of them are of one address (IPv6: of one /64). When an address has its share, its
// connection that was idle for longest makes room for a new one. When the table is full,
// that of the address with most connections does, so that whoever opens them fast closes
// its own.
type table struct {
	net.Listener
	max, each int
	many      func(netip.Addr) bool // whether an address has no share of its own
	refused   func(reason string)

	closed chan struct{}
	once   sync.Once

	waiting atomic.Bool   // a connection waits for room
	freed   chan struct{} // holds one when there may be some

	mu     sync.Mutex
	n      int
	shares map[netip.Addr]*share
	sizes  []*list.List // of *share: sizes[n] are the addresses with n connections, n > 0
	idle   list.List    // of *tabled, in the order of since
}

// A share is what one address has.
type share struct {
	n    int
	in   *list.Element // of table.sizes[n]
	idle list.List     // of *tabled, in the order of since
}

func newTable(l net.Listener, most, each int, many func(netip.Addr) bool, refused func(string)) *table {
	return &table{
		Listener: l, max: most, each: each, many: many, refused: refused,
		closed: make(chan struct{}), freed: make(chan struct{}, 1),
		shares: map[netip.Addr]*share{}, sizes: make([]*list.List, 1),
	}
}

// The reasons for which connections are closed, as the metrics have them.
const (
	refusedConnection = "connections" // the address has its share or most of all, and none of them is idle
	refusedIdle       = "idle"        // an idle connection made room for another one
)

// Accept waits for a connection and for room for it.
func (t *table) Accept() (net.Conn, error) {
	for {
		raw, err := t.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addrOf(raw.RemoteAddr()).Addr()
		c := &tabled{Conn: raw, table: t, from: gateway.Guest(from), many: t.many(from)}
		c.heard.Store(time.Now().UnixNano())
		c.reading.Store(true) // or soon will: many connections may come at once
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

// errShare is the error of a connection of an address that has its share.
var errShare = errors.New("server: too many connections of one address")

// wait waits for room for a connection. The error is errShare, or [net.ErrClosed].
func (t *table) wait(c *tabled) error {
	defer t.waiting.Store(false)
	for {
		full, ok := t.admit(c)
		switch {
		case ok:
			return nil
		case !full:
			return errShare
		case !t.waiting.Swap(true):
			continue // what became idle meanwhile was not told
		}
		select {
		case <-t.freed:
		case <-t.closed:
			return net.ErrClosed
		}
	}
}

// admit takes a connection in, and closes an idle one if it must. It is not ok if there is
// no room: for the address, or at all, which is full.
func (t *table) admit(c *tabled) (full, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.shares[c.from]
	if s == nil {
		s = &share{}
	}
	switch {
	case !c.many && s.n >= t.each && !t.shed(&s.idle):
		return false, false
	case t.n >= t.max && !t.makeRoom(s, c.many):
		return t.idle.Len() == 0 || c.many || s.n == 0, false
	}
	t.shares[c.from] = s
	t.resize(s, +1)
	c.isOpen = true
	t.setIdle(c)
	return false, true
}

// makeRoom closes an idle connection for a new one of a share: of the address that has
// most; of two that have as many, the one that came to them first. An address may take the
// place of its own connections and of those of an address that has more, unless many share
// it. t.mu is held.
func (t *table) makeRoom(s *share, many bool) (ok bool) {
	own := s.n
	if many {
		own = 0
	}
	for n := len(t.sizes) - 1; n > max(own, 1); n-- {
		for e := t.sizes[n].Front(); e != nil; e = e.Next() {
			if t.shed(&e.Value.(*share).idle) {
				return true
			}
		}
	}
	if own > 0 {
		return t.shed(&s.idle)
	}
	return t.shed(&t.idle)
}

// resize counts one connection more or one less for a share. t.mu is held.
func (t *table) resize(s *share, by int) {
	if s.n > 0 {
		t.sizes[s.n].Remove(s.in)
	}
	t.n += by
	s.n += by
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

// shed closes the connection of a list that was idle for longest. It is not ok if there
// is none. t.mu is held.
func (t *table) shed(idle *list.List) (ok bool) {
	for range 2 * idle.Len() { // what was answered without net/http is put where it belongs
		c := idle.Front().Value.(*tabled)
		if c.heard.Load() <= c.since {
			break
		}
		t.setBusy(c)
		t.setIdle(c)
	}
	for e := idle.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*tabled); c.reading.Load() { // else it is being answered
			t.remove(c)
			t.refused(refusedIdle)
			_ = c.Conn.Close() // reading ends, and the server forgets it
			return true
		}
	}
	return false
}

// setIdle puts a connection among those that are idle. t.mu is held.
func (t *table) setIdle(c *tabled) {
	if c.isOpen && c.inAll == nil {
		c.since = c.heard.Load()
		c.inAll, c.inShare = insert(&t.idle, c), insert(&t.shares[c.from].idle, c)
	}
}

// insert inserts a connection into a list, near whose end it belongs.
func insert(idle *list.List, c *tabled) *list.Element {
	for e := idle.Back(); e != nil; e = e.Prev() {
		if e.Value.(*tabled).since <= c.since {
			return idle.InsertAfter(c, e)
		}
	}
	return idle.PushFront(c)
}

// setBusy takes a connection out of those that are idle. t.mu is held.
func (t *table) setBusy(c *tabled) {
	if c.inAll != nil {
		t.idle.Remove(c.inAll)
		t.shares[c.from].idle.Remove(c.inShare)
		c.inAll, c.inShare = nil, nil
	}
}

// remove forgets a connection. t.mu is held.
func (t *table) remove(c *tabled) {
	if !c.isOpen {
		return
	}
	t.setBusy(c)
	c.isOpen = false
	s := t.shares[c.from]
	if t.resize(s, -1); s.n == 0 {
		delete(t.shares, c.from)
	}
	t.tell()
}

// tell tells Accept that there may be room.
func (t *table) tell() {
	select {
	case t.freed <- struct{}{}:
	default:
	}
}

// state is for [http.Server]'s ConnState: it tells which connections are idle.
func (t *table) state(conn net.Conn, state http.ConnState) {
	c := tabledOf(conn)
	if c == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch state {
	case http.StateIdle:
		t.setIdle(c)
	case http.StateActive, http.StateHijacked:
		t.setBusy(c)
	}
}

// tabledOf returns the connection of a table below others, or nil.
func tabledOf(conn net.Conn) *tabled {
	for {
		switch c := conn.(type) {
		case *tabled:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// Close ends the waiting for room, too.
func (t *table) Close() error {
	t.once.Do(func() { close(t.closed) })
	return t.Listener.Close()
}

// A tabled connection is one of a table.
type tabled struct {
	net.Conn
	table *table
	from  netip.Addr
	many  bool
	heard atomic.Int64 // when something came last, in ns

	reading atomic.Bool // the server waits for the client

	isOpen         bool          // these belong to table.mu
	since          int64         // when it was known to have been heard last
	inAll, inShare *list.Element // while it is idle
}

// Read notes when something came.
func (c *tabled) Read(b []byte) (int, error) {
	c.reading.Store(true)
	if c.table.waiting.Load() {
		c.table.tell()
	}
	n, err := c.Conn.Read(b)
	c.reading.Store(false)
	if n > 0 {
		c.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// Close closes the connection and makes room.
func (c *tabled) Close() error {
	err := c.Conn.Close()
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	c.table.remove(c)
	return err
}

// CloseWrite tells the client that nothing more will come.
func (c *tabled) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}
