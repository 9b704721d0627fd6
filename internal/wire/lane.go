package wire

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// workerRest is how long a worker without a connection waits for the next connection. A connection
	// on which nothing arrives loses its worker after this time, or after up to twice this time.
	workerRest = 10 * time.Second
	// laneBuffer is the size of the buffer of a worker for requests. sleepBuffer is the size of the
	// buffer of a connection without a worker. net/http gets longer requests.
	laneBuffer, sleepBuffer = 4 << 10, 2 << 10
)

// A lane answers the plain requests at the beginning of each connection; see conn.answerPlain. At the
// first request that is not plain, or not complete, it passes the connection to net/http, with the
// bytes that it has read.
//
// A lane reuses its goroutines. The goroutine that became idle last gets the next connection: its
// stack has already grown, and its memory is in the caches of the processor. If a connection is idle
// for long, it waits in another goroutine with a small stack and a small buffer.
type lane struct {
	mu       sync.Mutex
	closed   bool
	all      map[*worker]struct{}
	idle     []*worker      // in the order in which they became idle
	sweeping bool           // a timer is running; it will call sweep
	busy     sync.WaitGroup // connections in the lane
}

// A worker is a goroutine of a lane. It serves one connection at a time.
type worker struct {
	lane  *lane
	next  chan *conn // the next connection; nil ends the worker
	since time.Time  // when the worker became idle
	in    []byte

	sleeper bool          // the goroutine only waits for the next request of its connection
	reads   atomic.Uint64 // how often the worker has begun to read
	seen    uint64        // the value of reads when the lane was last swept

	mu   sync.Mutex
	conn *conn // the connection of the worker; nil if none
	lazy bool  // nothing has arrived on this connection for long
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
	w := &worker{lane: l, next: make(chan *conn, 1), in: make([]byte, laneBuffer)}
	l.all[w] = struct{}{}
	l.startSweeping()
	go w.run(c)
}

// startSweeping makes sure that sweep is called. l.mu must be held.
func (l *lane) startSweeping() {
	if !l.sweeping {
		l.sweeping = true
		time.AfterFunc(workerRest, l.sweep)
	}
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
	return true
}

// sweep ends workers that have been idle for workerRest. It wakes up workers whose connection has
// been silent for workerRest.
func (l *lane) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(l.idle) && now.Sub(l.idle[n].since) >= workerRest {
		n++
	}
	l.end(n)
	busy := false
	for w := range l.all {
		busy = busy || !w.sleeper
		if reads := w.reads.Load(); !w.sleeper && reads == w.seen {
			w.withConn(w.disturb)
		} else {
			w.seen = reads
		}
	}
	if l.sweeping = false; busy {
		l.startSweeping()
	}
}

// disturb ends the present or next wait of a worker for a request. w.mu must be held.
func (w *worker) disturb(c *conn) {
	w.lazy = true
	c.deadline.set(c.Conn, time.Unix(1, 0))
}

// sleep makes a connection wait for its next request without a worker.
func (l *lane) sleep(c *conn) {
	w := &worker{lane: l, sleeper: true, in: make([]byte, sleepBuffer)}
	l.mu.Lock()
	l.all[w] = struct{}{}
	l.mu.Unlock()
	go w.wait(c)
}

// wait waits for the next request of a connection, and then passes the connection to a worker.
func (w *worker) wait(c *conn) {
	w.hold(c)
	c.deadline.set(c.Conn, c.until())
	n, end := w.read(c)
	w.hold(nil)
	w.lane.mu.Lock()
	delete(w.lane.all, w)
	w.lane.mu.Unlock()
	if n == 0 {
		w.leave(c, nil, end)
		return
	}
	c.in = w.in[:n]
	w.lane.serve(c)
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
	w.conn, w.lazy = c, false
}

// isLazy reports whether nothing has arrived for long on the connection of a worker.
func (w *worker) isLazy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lazy
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
// on.
func (w *worker) serve(c *conn) {
	w.hold(c)
	rest, end := w.answer(c)
	w.hold(nil)
	w.leave(c, rest, end)
}

// leave closes or passes on a connection that the worker does not serve any more. The parameter rest
// has the bytes that were read but not answered.
func (w *worker) leave(c *conn, rest []byte, end ending) {
	if end == asleep {
		w.lane.sleep(c)
		return
	}
	defer w.lane.busy.Done()
	switch end {
	case odd:
		c.handOver(rest)
	case excess:
		c.lingerAndClose()
	default:
		_ = c.Conn.Close()
	}
}

// An ending is why a worker has stopped answering the requests of a connection.
type ending uint8

const (
	done   ending = iota // nothing more arrives, or the response was the last one
	excess               // the response was the last one, but the client has sent more
	odd                  // net/http must continue
	asleep               // nothing has arrived for long
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
	if c.begun.IsZero() {
		c.begun = time.Now()
		c.deadline.set(c.Conn, c.until())
	}
	for {
		n := copy(w.in, c.in)
		if c.in = nil; n == 0 {
			if n, end = w.read(c); n == 0 {
				return nil, end
			}
		}
		k, err := c.answerPlain(w.in[:n])
		switch {
		case err != nil:
			return nil, done
		case c.final && (k < n || n >= sleepBuffer): // after a full buffer, there may be more bytes
			return nil, excess
		case c.final:
			return nil, done
		case k < n:
			return w.in[k:n], odd
		}
	}
}

// read reads the next bytes of a connection. If it returns 0 bytes, the ending says why the worker
// must stop serving the connection.
func (w *worker) read(c *conn) (n int, end ending) {
	w.reads.Add(1)
	if c.listener.isClosed() { // after the deadline was set, so that close wakes up the Read below
		return 0, c.whenClosed()
	}
	n, err := c.Conn.Read(w.in)
	switch {
	case n > 0 || err == nil:
		return n, done
	case c.listener.isClosed():
		return 0, c.whenClosed()
	case errors.Is(err, os.ErrDeadlineExceeded) && w.isLazy():
		return 0, asleep
	}
	return 0, done
}

// until returns the time at which a connection of the lane ends if nothing more arrives.
func (c *conn) until() time.Time {
	if c.head.first {
		return c.begun.Add(c.listener.config.HeadTimeout)
	}
	return c.timed.Add(c.listener.config.IdleTimeout)
}

// whenClosed returns what to do with a connection when the listener is closed. The connection has no
// complete request. If its first request has not arrived yet, or a request is arriving now, the
// client still gets a response.
func (c *conn) whenClosed() ending {
	if c.head.first || hasInput(c.Conn) {
		return odd
	}
	return done
}

// handOver passes a connection to net/http. There net/http first reads the given bytes.
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

// logPanic logs a panic of an [Answerer], unless the Answerer has logged the panic itself.
func (c *conn) logPanic(v any) {
	if v != http.ErrAbortHandler {
		c.listener.config.Log.Error("panic", "value", v, "stack", string(debug.Stack()))
	}
}

// Drain waits until a closed listener has no more connections in its lane. When ctx ends, Drain closes
// these connections. If the listener does not come from [NewListener], Drain does nothing.
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
