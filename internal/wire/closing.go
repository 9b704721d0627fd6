package wire

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// lastCall limits how long Close keeps a connection open for a request that is arriving.
const lastCall = 10 * time.Second

// A closing records how far the closing of a connection has come.
type closing struct {
	active atomic.Bool // net/http is processing a request
	begun  atomic.Bool // bytes of a request have arrived; net/http may not know this yet
	kept   atomic.Bool // net/http has called Close, which kept the connection open for a request that was arriving
	final  atomic.Bool // the connection is really closed
}

// SetState records the state of a connection. Call it from the ConnState hook of the [http.Server].
//
// Close keeps a connection open if a request is arriving, because net/http normally still answers
// the request. It does not if keep-alive was switched off while it was writing a response: then it
// reads no more requests. In this case SetState closes the connection.
func SetState(c net.Conn, state http.ConnState) {
	w, ok := c.(interface{ wire() *conn })
	if !ok {
		return
	}
	k := &w.wire().closing
	k.active.Store(state == http.StateActive || state == http.StateHijacked)
	if state == http.StateClosed && k.kept.Load() && !k.final.Load() {
		go w.wire().lingerAndClose() // lingers, so that the client can read the response
	}
}

// isClosed reports whether the listener is closed, which is the first step of a shutdown.
func (l *listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// Close closes the connection. When the server shuts down, net/http closes the connections that it
// considers idle (see [http.Server.SetKeepAlivesEnabled]). If a request is arriving on such a
// connection, Close does nothing. net/http then answers the request, and closes the connection again
// after the response.
func (c *conn) Close() error {
	if c.listener.isClosed() && c.isArriving() && c.closing.kept.CompareAndSwap(false, true) {
		time.AfterFunc(lastCall, func() { _ = c.closeNow() })
		return nil
	}
	return c.closeNow()
}

// isArriving reports whether bytes of a request have arrived, but net/http does not know this yet.
func (c *conn) isArriving() bool {
	if c.closing.active.Load() || c.refused.Load() || c.hijacked.Load() {
		return false
	}
	return c.closing.begun.Load() || hasInput(c.Conn)
}

// waitForRequest must be called before the connection waits for the first byte of a request. If the
// connection must be closed and no request is arriving, waitForRequest returns false.
func (c *conn) waitForRequest() bool {
	c.closing.begun.Store(false)
	return !c.closing.kept.Load() || hasInput(c.Conn)
}

// closeNow closes the connection. If the last request was mended, more bytes may follow the request.
// They are ignored, so closeNow lingers in the background.
func (c *conn) closeNow() error {
	c.closing.final.Store(true)
	if c.request.Load() == nil || c.hijacked.Load() || !c.lingering.CompareAndSwap(false, true) {
		return c.Conn.Close()
	}
	go c.lingerAndClose()
	return nil
}
