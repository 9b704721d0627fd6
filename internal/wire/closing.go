package wire

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// lastCall is how long Close keeps a connection open for a request that is arriving.
const lastCall = 10 * time.Second

// A closing records how far a connection has been closed.
type closing struct {
	active atomic.Bool // net/http is processing a request
	begun  atomic.Bool // bytes of a request have arrived, which net/http may not know yet
	kept   atomic.Bool // net/http has called Close, but the connection stayed open because a request was arriving
	final  atomic.Bool // the connection has been closed
}

// SetState records the state of a connection. It must be called from the ConnState hook of the
// [http.Server].
//
// If a request is arriving when net/http closes a connection, the connection stays open, because
// net/http usually still answers this request. But if keep-alive was disabled while net/http was
// writing a response, net/http does not read the next request. In this case SetState closes the
// connection.
func SetState(c net.Conn, state http.ConnState) {
	w, ok := c.(interface{ wire() *conn })
	if !ok {
		return
	}
	k := &w.wire().closing
	k.active.Store(state == http.StateActive || state == http.StateHijacked)
	if state == http.StateClosed && k.kept.Load() && !k.final.Load() {
		go w.wire().lingerAndClose() // the client can read the response while the connection lingers
	}
}

func (l *listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// Close closes the connection, unless a request is arriving on it. During a shutdown, net/http
// closes all connections that it considers idle (see [http.Server.SetKeepAlivesEnabled]). If Close
// leaves a connection open, net/http answers the request and then calls Close again.
func (c *conn) Close() error {
	if c.listener.isClosed() && c.isArriving() && c.closing.kept.CompareAndSwap(false, true) {
		time.AfterFunc(lastCall, func() { _ = c.closeNow() })
		return nil
	}
	return c.closeNow()
}

// isArriving reports whether bytes of a request have arrived that net/http has not seen.
func (c *conn) isArriving() bool {
	if c.closing.active.Load() || c.refused.Load() || c.hijacked.Load() {
		return false
	}
	return c.closing.begun.Load() || hasInput(c.Conn)
}

// waitForRequest must be called before waiting for the first byte of a request. It returns false if
// the connection is to be closed and no request is arriving.
func (c *conn) waitForRequest() bool {
	c.closing.begun.Store(false)
	return !c.closing.kept.Load() || hasInput(c.Conn)
}

// closeNow closes the connection. If the last request was mended, the client may still send bytes
// that are to be ignored, so the connection lingers in the background.
func (c *conn) closeNow() error {
	c.closing.final.Store(true)
	if c.request.Load() == nil || c.hijacked.Load() || !c.lingering.CompareAndSwap(false, true) {
		return c.Conn.Close()
	}
	go c.lingerAndClose()
	return nil
}
