package wire

import (
	"net"
	"sync/atomic"
	"time"
)

// lastCall bounds how long a request that was arriving when net/http closed its connection may
// keep the connection open.
const lastCall = 10 * time.Second

// A closing says how far the closing of a connection has come.
type closing struct {
	active atomic.Bool // net/http is processing a request
	begun  atomic.Bool // bytes of a request have arrived of which net/http may not know yet
	kept   atomic.Bool // net/http has closed the connection, but a request was arriving
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

// Close closes the connection. When the server shuts down, net/http closes the connections that
// it considers idle (see [http.Server.SetKeepAlivesEnabled]). If a request is arriving on such a
// connection, Close does nothing: the request is answered, and net/http closes the connection
// again after it.
func (c *conn) Close() error {
	if c.listener.isClosed() && c.isArriving() && c.closing.kept.CompareAndSwap(false, true) {
		time.AfterFunc(lastCall, func() { _ = c.closeNow() })
		return nil
	}
	return c.closeNow()
}

// isArriving reports whether bytes of a request have arrived of which net/http does not know.
func (c *conn) isArriving() bool {
	if c.closing.active.Load() || c.refused.Load() || c.hijacked.Load() {
		return false
	}
	return c.closing.begun.Load() || hasInput(c.Conn)
}

// waitForRequest is called before the first byte of a request is awaited. It returns false if
// the connection is to be closed, and no request is arriving.
func (c *conn) waitForRequest() bool {
	c.closing.begun.Store(false)
	return !c.closing.kept.Load() || hasInput(c.Conn)
}

// closeNow closes the connection. After a mended request, which may be followed by ignored
// bytes, it lingers in the background.
func (c *conn) closeNow() error {
	if c.request.Load() == nil || c.hijacked.Load() || !c.lingering.CompareAndSwap(false, true) {
		return c.Conn.Close()
	}
	go c.lingerAndClose()
	return nil
}
