package wire

import (
	"net"
	"sync/atomic"
	"time"
)

// lastCall is how long a connection stays open after net/http has closed it, if a request was
// arriving at that time.
const lastCall = 10 * time.Second

// A closing records how far the closing of a connection has come.
type closing struct {
	active atomic.Bool // net/http is processing a request
	begun  atomic.Bool // bytes of a request have arrived; net/http may not know this yet
	kept   atomic.Bool // net/http has closed the connection, but the connection stays open: a request was arriving
}

// SetActive records whether net/http is processing a request of a connection. Call it from the
// ConnState hook of the [http.Server].
func SetActive(c net.Conn, active bool) {
	if w, ok := c.(interface{ wire() *conn }); ok {
		w.wire().closing.active.Store(active)
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
	if c.request.Load() == nil || c.hijacked.Load() || !c.lingering.CompareAndSwap(false, true) {
		return c.Conn.Close()
	}
	go c.lingerAndClose()
	return nil
}
