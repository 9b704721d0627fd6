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
	workerRest = 10 * time.Second
	// poolBuffer is the size of a worker's buffer, and sleepBuffer the size of the buffer of a
	// connection without a worker. Longer requests are left to net/http.
	poolBuffer, sleepBuffer = 4 << 10, 2 << 10
)

// A pool answers the plain requests at the start of each connection; see conn.answerPlain. At the
// first request that is not plain, or is incomplete, it passes the connection to net/http, with the
// bytes that it has read.
//
// A pool reuses its goroutines. The goroutine that became idle last gets the next connection,
// because its stack has grown and its memory is in the caches of the processor. A connection that
// is idle for long waits in another goroutine, with a small stack and a small buffer.
type pool struct {
	mu       sync.Mutex
	closed   bool
	all      map[*worker]struct{}
	idle     []*worker      // in the order in which they became idle
	sweeping bool           // a timer will call sweep
	busy     sync.WaitGroup // connections in the pool
}

// A worker is a goroutine of a pool, which serves one connection at a time.
type worker struct {
	pool  *pool
	next  chan *conn // the next connection of the worker; nil ends the worker
	since time.Time  // when the worker became idle
	in    []byte

	sleeper bool          // the worker only waits for the next request of its connection
	reads   atomic.Uint64 // number of reads that the worker has begun
	seen    uint64        // reads at the time of the last sweep

	mu   sync.Mutex
	conn *conn // the connection of the worker, or nil
	lazy bool  // nothing has arrived on the connection for long
}

// serve lets a worker serve a connection.
func (l *pool) serve(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		w.next <- c
		return
	}
	w := &worker{pool: l, next: make(chan *conn, 1), in: make([]byte, poolBuffer)}
	l.all[w] = struct{}{}
	l.startSweeping()
	go w.run(c)
}

// startSweeping starts a timer for sweep, unless it is running. l.mu must be held.
func (l *pool) startSweeping() {
	if !l.sweeping {
		l.sweeping = true
		time.AfterFunc(workerRest, l.sweep)
	}
}

func (l *pool) park(w *worker) bool {
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

// sweep ends workers that have been idle for workerRest, and wakes up workers whose connection has
// been silent for workerRest.
func (l *pool) sweep() {
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

// disturb interrupts the current or next read of the worker. w.mu must be held.
func (w *worker) disturb(c *conn) {
	w.lazy = true
	c.deadline.set(c.Conn, time.Unix(1, 0))
}

// sleep lets a connection wait for its next request without a worker.
func (l *pool) sleep(c *conn) {
	w := &worker{pool: l, sleeper: true, in: make([]byte, sleepBuffer)}
	l.mu.Lock()
	l.all[w] = struct{}{}
	l.mu.Unlock()
	go w.wait(c)
}

// wait waits for the next request of a connection, and then gives the connection to a worker.
func (w *worker) wait(c *conn) {
	w.hold(c)
	c.deadline.set(c.Conn, c.until())
	n, end := w.read(c)
	w.hold(nil)
	w.pool.mu.Lock()
	delete(w.pool.all, w)
	w.pool.mu.Unlock()
	if n == 0 {
		w.leave(c, nil, end)
		return
	}
	c.in = w.in[:n]
	w.pool.serve(c)
}

func (l *pool) end(n int) {
	for _, w := range l.idle[:n] {
		delete(l.all, w)
		w.next <- nil
	}
	l.idle = append([]*worker(nil), l.idle[n:]...)
}

// close ends idle workers, and wakes up workers that wait for a request. The listener must be
// closed before.
func (l *pool) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.end(len(l.idle))
	for w := range l.all {
		w.withConn(func(c *conn) { c.deadline.set(c.Conn, time.Unix(1, 0)) })
	}
}

func (l *pool) abort() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.all {
		w.withConn(func(c *conn) { _ = c.Conn.Close() })
	}
}

func (w *worker) withConn(f func(*conn)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		f(w.conn)
	}
}

func (w *worker) hold(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn, w.lazy = c, false
}

func (w *worker) isLazy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lazy
}

func (w *worker) run(c *conn) {
	for c != nil {
		w.serve(c)
		if !w.pool.park(w) {
			return
		}
		c = <-w.next
	}
}

// serve answers the plain requests of a connection, and then closes it or passes it on.
func (w *worker) serve(c *conn) {
	w.hold(c)
	rest, end := w.answer(c)
	w.hold(nil)
	w.leave(c, rest, end)
}

// leave closes or passes on a connection that the worker no longer serves. The parameter rest has
// the bytes that were read but not answered.
func (w *worker) leave(c *conn, rest []byte, end ending) {
	if end == asleep {
		w.pool.sleep(c)
		return
	}
	defer w.pool.busy.Done()
	switch end {
	case odd:
		c.handOver(rest)
	case excess:
		c.lingerAndClose()
	default:
		_ = c.Conn.Close()
	}
}

// An ending is the reason why a worker stops answering the requests of a connection.
type ending uint8

const (
	done   ending = iota // nothing else arrives, or the response was the last
	excess               // the response was the last, but the client has sent more
	odd                  // net/http must continue
	asleep               // nothing has arrived for long
)

// answer answers the plain requests of a connection. If net/http must continue, the result rest has
// the bytes that were read but not answered.
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
		case c.final && (k < n || n >= sleepBuffer): // if the buffer was full, there may be more
			return nil, excess
		case c.final:
			return nil, done
		case k < n:
			return w.in[k:n], odd
		}
	}
}

// read reads the next bytes of a connection. If nothing was read, the ending says why the worker must
// stop.
func (w *worker) read(c *conn) (n int, end ending) {
	w.reads.Add(1)
	if c.listener.isClosed() { // the deadline was set before, so close wakes up the Read below
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

// until returns the time at which a connection in the pool is closed if no more data arrives.
func (c *conn) until() time.Time {
	if c.head.first {
		return c.begun.Add(c.listener.config.HeadTimeout)
	}
	return c.timed.Add(c.listener.config.IdleTimeout)
}

// whenClosed returns what to do with a connection without a complete request when the listener is
// closed. The client still gets a response if its first request has not arrived yet, or if a
// request is arriving now.
func (c *conn) whenClosed() ending {
	if c.head.first || hasInput(c.Conn) {
		return odd
	}
	return done
}

// handOver passes a connection to net/http, which reads the bytes of rest first.
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

// logPanic logs a panic in an [Answerer], except for [http.ErrAbortHandler], with which the
// Answerer has already logged its panic.
func (c *conn) logPanic(v any) {
	if v != http.ErrAbortHandler {
		c.listener.config.Log.Error("panic", "value", v, "stack", string(debug.Stack()))
	}
}

// Drain waits until a closed listener has completed the responses that it sends without net/http.
// The pool of the listener has then closed all its connections, or passed them on to net/http. When
// ctx ends, Drain closes the connections that are still in the pool. Drain does nothing for a
// listener that was not made by [NewListener].
func Drain(ctx context.Context, of net.Listener) {
	l, ok := of.(*listener)
	if !ok {
		return
	}
	ended := make(chan struct{})
	go func() {
		l.pool.busy.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		l.pool.abort()
	}
}
