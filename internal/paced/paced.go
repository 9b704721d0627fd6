// Package paced gives each step of reading or writing a stream of HTTP its own deadline, and
// ends streams whose client reads too slowly.
package paced

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Minimum rates at which a client must read a stream, in bytes per second. Only the time
// during which the server waits for the client counts.
const (
	leastRate = 4 << 10  // always, after a grace period of one step
	busyRate  = 64 << 10 // while other clients wait for a turn, after busyGrace
	busyGrace = time.Second
)

// A credit is the time for which a client may still keep the server waiting. Each byte
// read adds to it, up to the grace period that it starts with.
type credit struct {
	rate        float64 // bytes per second
	grace, left time.Duration
}

func newCredit(rate float64, grace time.Duration) credit { return credit{rate, grace, grace} }

// with returns the credit left after reading n more bytes and waiting.
func (c *credit) with(n int, waited time.Duration) time.Duration {
	return c.left - waited + time.Duration(float64(n)/c.rate*float64(time.Second))
}

func (c *credit) spend(n int, waited time.Duration) { c.left = min(c.with(n, waited), c.grace) }

// ErrTooSlow is returned by a stream whose client reads too slowly.
var ErrTooSlow = errors.New("paced: the client reads too slowly")

// A Writer gives each write of a stream its own deadline, instead of one
// for the whole stream, and requires a minimum rate overall.
type Writer struct {
	w       io.Writer
	control *http.ResponseController
	step    time.Duration
	n       int64 // bytes written by the only goroutine that writes

	mu          sync.Mutex
	least, busy credit
	since       time.Time // when the current write began; zero if none
	cut         bool      // the stream is aborted in favor of others
}

// NewWriter returns a writer for a request whose body has been read. After that net/http reads
// only to detect that the client is gone, so NewWriter removes the read deadline.
func NewWriter(w http.ResponseWriter, step time.Duration) *Writer {
	p := NewDuplexWriter(w, step)
	_ = p.control.SetReadDeadline(time.Time{}) // only connections of tests do not support deadlines
	return p
}

// NewDuplexWriter is [NewWriter] for a request whose body is still read.
func NewDuplexWriter(w http.ResponseWriter, step time.Duration) *Writer {
	return &Writer{
		w: w, control: http.NewResponseController(w), step: step,
		least: newCredit(leastRate, step), busy: newCredit(busyRate, busyGrace),
	}
}

// Write writes b within the time that the client has left.
func (p *Writer) Write(b []byte) (int, error) {
	if err := p.begin(len(b)); err != nil {
		return 0, err
	}
	n, err := p.w.Write(b)
	p.n += int64(n)
	return n, p.ended(n, err)
}

// Written returns the number of bytes written.
func (p *Writer) Written() int64 { return p.n }

// Flush sends what net/http has buffered.
func (p *Writer) Flush() error {
	if err := p.begin(0); err != nil {
		return err
	}
	return p.ended(0, p.control.Flush())
}

// begin sets the deadline for sending n bytes.
func (p *Writer) begin(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.least.with(n, 0)
	if p.cut || left <= 0 {
		return ErrTooSlow
	}
	p.since = time.Now()
	_ = p.control.SetWriteDeadline(p.since.Add(min(p.step, left)))
	return nil
}

// ended records that n bytes were sent, and returns the error of sending them.
func (p *Writer) ended(n int, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := time.Since(p.since)
	p.since = time.Time{}
	p.least.spend(n, waited)
	p.busy.spend(n, waited)
	if p.cut || errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrTooSlow
	}
	return err
}

// Late returns by how much the client has exceeded its credit on a busy server. The result is
// zero or negative if the client has credit left.
func (p *Writer) Late() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := time.Duration(0)
	if !p.since.IsZero() {
		waited = time.Since(p.since)
	}
	if p.cut {
		return 0
	}
	return -p.busy.with(0, waited)
}

// End aborts the stream, even during a write.
func (p *Writer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	_ = p.control.SetWriteDeadline(time.Unix(1, 0))
}

// Grace is how long an unused body is read and discarded, so that the client gets to see
// the response.
const Grace = time.Second

// A Body is a body read within the deadline for the whole request, which is set by
// the server. If it does not arrive in time, the client still gets a response.
type Body struct {
	r       io.Reader
	control *http.ResponseController
	step    time.Duration
}

// NewBody returns the body of a request, whose response may take a step.
func NewBody(body io.Reader, w http.ResponseWriter, step time.Duration) *Body {
	return &Body{body, http.NewResponseController(w), step}
}

// Read implements [io.Reader].
func (b *Body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	switch {
	case err == io.EOF:
		_ = b.control.SetReadDeadline(time.Time{}) // as in NewWriter
	case err != nil:
		_ = b.control.SetReadDeadline(time.Now().Add(Grace)) // net/http continues reading
		_ = b.control.SetWriteDeadline(time.Now().Add(b.step))
	}
	return n, err
}

// A Reader gives each read of a body its own deadline.
type Reader struct {
	r       io.Reader
	control *http.ResponseController
	step    time.Duration
	ctx     context.Context // if not nil, reading stops when it ends
}

// NewReader returns a reader of the body of a request.
func NewReader(body io.Reader, w http.ResponseWriter, step time.Duration) *Reader {
	return &Reader{r: body, control: http.NewResponseController(w), step: step}
}

// Until makes the reader stop when ctx ends. It must be called before the first Read.
func (p *Reader) Until(ctx context.Context) { p.ctx = ctx }

// Read implements [io.Reader].
func (p *Reader) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(p.step))
	if p.ctx != nil && p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	n, err := p.r.Read(b)
	switch {
	case err == io.EOF:
		_ = p.control.SetReadDeadline(time.Time{}) // as in NewWriter
	case err != nil:
		_ = p.control.SetReadDeadline(time.Now().Add(Grace)) // net/http continues reading
	}
	return n, err
}
