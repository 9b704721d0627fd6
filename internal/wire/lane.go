package wire

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// workerRest is how long a worker without a connection waits for the next one.
	workerRest = 10 * time.Second
	// laneBuffer is the size of a worker's buffer for requests. net/http gets longer requests.
	laneBuffer = 4 << 10
)

// A lane answers plain requests from the first request of a connection on. At the first other
// request, or if a request is not complete, it passes the connection to net/http, with the bytes
// that it has read.
//
// It reuses its goroutines: the one that became idle last gets the next connection, because its
// stack has already grown, and its memory is in the caches of the processor.
type lane struct {
	mu       sync.Mutex
	closed   bool
	all      map[*worker]struct{}
	idle     []*worker      // in the order in which they became idle
	sweeping bool           // a timer runs that calls sweep
	busy     sync.WaitGroup // connections in the lane
}

// A worker is a goroutine of a lane. It serves one connection at a time.
type worker struct {
	lane  *lane
	next  chan *conn // the next connection; nil ends the worker
	since time.Time  // when the worker became idle
	in    [laneBuffer]byte

	mu   sync.Mutex
	conn *conn // the connection that it serves; nil if none
}

// serve makes a worker serve a connection.
func (l *lane) serve(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		w.next <- c
		return
	}
	w := &worker{lane: l, next: make(chan *conn, 1)}
	l.all[w] = struct{}{}
	go w.run(c)
}

// park makes a worker wait for its next connection. It returns false if the worker must end.
func (l *lane) park(w *worker) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		delete(l.all, w)
		return false
	}
	w.since = time.Now()
	l.idle = append(l.idle, w)
	if !l.sweeping {
		l.sweeping = true
		time.AfterFunc(workerRest, l.sweep)
	}
	return true
}

// sweep ends the workers that have been idle for workerRest.
func (l *lane) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(l.idle) && now.Sub(l.idle[n].since) >= workerRest {
		n++
	}
	l.end(n)
	if l.sweeping = len(l.idle) > 0; l.sweeping {
		time.AfterFunc(workerRest-now.Sub(l.idle[0].since), l.sweep)
	}
}

// end ends the n workers that have been idle longest. l.mu must be held.
func (l *lane) end(n int) {
	for _, w := range l.idle[:n] {
		delete(l.all, w)
		w.next <- nil
	}
	l.idle = append([]*worker(nil), l.idle[n:]...)
}

// close ends the idle workers, and wakes up the workers that wait for a request. Call it after
// the listener is closed.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.end(len(l.idle))
	for w := range l.all {
		w.withConn(func(c *conn) { c.deadline.set(c.Conn, time.Unix(1, 0)) })
	}
}

// abort closes the connections of the lane.
func (l *lane) abort() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.all {
		w.withConn(func(c *conn) { _ = c.Conn.Close() })
	}
}

// withConn calls f with the connection of a worker, if it has one.
func (w *worker) withConn(f func(*conn)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		f(w.conn)
	}
}

// hold sets the connection of a worker.
func (w *worker) hold(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = c
}

func (w *worker) run(c *conn) {
	for c != nil {
		w.serve(c)
		if !w.lane.park(w) {
			return
		}
		c = <-w.next
	}
}

// serve answers the plain requests of a connection. Then it closes the connection, or passes it
// to net/http.
func (w *worker) serve(c *conn) {
	defer w.lane.busy.Done()
	w.hold(c)
	rest, end := w.answer(c)
	w.hold(nil)
	switch end {
	case odd:
		c.handOver(rest)
	case excess:
		c.lingerAndClose()
	default:
		_ = c.Conn.Close()
	}
}

// An ending is why the lane has stopped answering the requests of a connection.
type ending uint8

const (
	done   ending = iota // nothing more arrives, or the response was the last one
	excess               // the response was the last one, but the client has sent more
	odd                  // net/http must continue
)

// answer answers the plain requests of a connection. If net/http must continue, answer also
// returns the bytes that were read but not answered.
func (w *worker) answer(c *conn) (rest []byte, end ending) {
	defer func() {
		if v := recover(); v != nil {
			c.logPanic(v)
			rest, end = nil, done
		}
	}()
	c.deadline.set(c.Conn, time.Now().Add(c.listener.config.HeadTimeout))
	for {
		if c.listener.isClosed() { // after the deadline was set, so that close wakes up the Read below
			return nil, c.whenClosed()
		}
		n, err := c.Conn.Read(w.in[:])
		if n == 0 && err != nil && c.listener.isClosed() {
			return nil, c.whenClosed()
		}
		if n == 0 && err != nil {
			return nil, done
		}
		k, err := c.answerPlain(w.in[:n])
		switch {
		case err != nil:
			return nil, done
		case c.final && (k < n || n == len(w.in)):
			return nil, excess
		case c.final:
			return nil, done
		case k < n:
			return w.in[k:n], odd
		}
	}
}

// whenClosed returns what to do with a connection without a complete request when the listener
// is closed. A connection that has not sent a request yet, or is sending one now, still gets a
// response.
func (c *conn) whenClosed() ending {
	if c.head.first || hasInput(c.Conn) {
		return odd
	}
	return done
}

// handOver passes a connection to net/http, which first reads the given bytes.
func (c *conn) handOver(rest []byte) {
	c.alone = false
	c.in = bytes.Clone(rest)
	c.closing.begun.Store(len(rest) > 0)
	c.deadline.set(c.Conn, time.Time{}) // net/http sets its own
	if !c.timed.IsZero() {
		c.SetWriteDeadline(time.Time{})
	}
	c.listener.deliver(arrival{conn: c})
}

// logPanic logs a panic of an [Answerer] that it has not logged itself.
func (c *conn) logPanic(v any) {
	if v != http.ErrAbortHandler {
		c.listener.config.Log.Error("panic", "value", v, "stack", string(debug.Stack()))
	}
}

// Drain waits until a closed listener has no connections that it serves itself, without the
// server. When ctx ends, it closes these connections. For other listeners than those of
// [NewListener] it does nothing.
func Drain(ctx context.Context, of net.Listener) {
	l, ok := of.(*listener)
	if !ok {
		return
	}
	ended := make(chan struct{})
	go func() {
		l.lane.busy.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		l.lane.abort()
	}
}
