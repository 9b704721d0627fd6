// Package paced sets a deadline for each step of reading or writing a stream over HTTP, and aborts
// the streams of clients that read too slowly.
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

// Minimum rates at which a client must read a stream, in bytes per second. Only the time in which
// the server waits for the client counts.
const (
	leastRate = 4 << 10  // at all times, after a grace period of one step
	busyRate  = 64 << 10 // while other clients wait for their turn, after busyGrace
	busyGrace = time.Second
)

// A credit is the time for which a client may keep the server waiting. It begins as a grace period.
// Each byte that the client reads adds to it, but never above the grace period.
type credit struct {
	rate        float64 // rate at which the client must read, in bytes per second
	grace, left time.Duration
}

func newCredit(rate float64, grace time.Duration) credit { return credit{rate, grace, grace} }

// with returns the credit that is left after the server has waited and the client has read n more
// bytes.
func (c *credit) with(n int, waited time.Duration) time.Duration {
	return c.left - waited + time.Duration(float64(n)/c.rate*float64(time.Second))
}

func (c *credit) spend(n int, waited time.Duration) { c.left = min(c.with(n, waited), c.grace) }

// ErrTooSlow is returned by the methods of a [Writer] if the client reads too slowly.
var ErrTooSlow = errors.New("paced: the client reads too slowly")

// A Writer sets a deadline for each write of a stream, not for the whole stream. It aborts the
// stream if the client reads too slowly.
type Writer struct {
	w       io.Writer
	control *http.ResponseController
	step    time.Duration
	n       int64 // bytes written; used only by the goroutine that writes

	mu          sync.Mutex
	least, busy credit
	since       time.Time // when the current write began; zero if there is none
	cut         bool      // the stream was aborted so that another client gets a turn
}

// NewWriter returns a writer for a request whose body has been read completely. From then on
// net/http reads only to detect that the client has disconnected, so NewWriter removes the read
// deadline.
func NewWriter(w http.ResponseWriter, step time.Duration) *Writer {
	p := NewDuplexWriter(w, step)
	_ = p.control.SetReadDeadline(time.Time{}) // fails only for connections of tests, which do not support deadlines
	return p
}

// NewDuplexWriter is like [NewWriter], but for a request whose body is still being read. It leaves
// the read deadline as it is.
func NewDuplexWriter(w http.ResponseWriter, step time.Duration) *Writer {
	return &Writer{
		w: w, control: http.NewResponseController(w), step: step,
		least: newCredit(leastRate, step), busy: newCredit(busyRate, busyGrace),
	}
}

// Write writes b. It fails if the client does not read b within its credit.
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

// begin sets the deadline for sending n bytes, and starts counting the wait.
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

// ended records that n bytes were sent. The parameter err is the error of the attempt to send them;
// ended returns it, or [ErrTooSlow] if the client was too slow.
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

// Late returns by how much the client has exceeded the credit that it has on a busy server. If the
// client has credit left, the result is zero or negative.
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

// Grace is how long an unread body is read and discarded. Without it, some clients do not see the
// response.
const Grace = time.Second

// A Body is a request body that must be read before a deadline. The server sets this deadline for
// the whole request. If the body is not complete by then, the client still gets a response.
type Body struct {
	r       io.Reader
	control *http.ResponseController
	step    time.Duration
}

// NewBody returns the body of a request. Writing the response may then take one step.
func NewBody(body io.Reader, w http.ResponseWriter, step time.Duration) *Body {
	return &Body{body, http.NewResponseController(w), step}
}

// Read implements [io.Reader].
func (b *Body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	switch {
	case err == io.EOF:
		_ = b.control.SetReadDeadline(time.Time{}) // see NewWriter
	case err != nil:
		_ = b.control.SetReadDeadline(time.Now().Add(Grace)) // net/http reads the rest of the body
		_ = b.control.SetWriteDeadline(time.Now().Add(b.step))
	}
	return n, err
}

// A Reader sets a deadline for each read of a request body.
type Reader struct {
	r       io.Reader
	control *http.ResponseController
	step    time.Duration
	ctx     context.Context // if not nil, reading stops when ctx ends
}

// NewReader returns a reader of the body of a request.
func NewReader(body io.Reader, w http.ResponseWriter, step time.Duration) *Reader {
	return &Reader{r: body, control: http.NewResponseController(w), step: step}
}

// Until makes the reader stop when ctx ends. It must be called before the first call of Read.
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
		_ = p.control.SetReadDeadline(time.Time{}) // see NewWriter
	case err != nil:
		_ = p.control.SetReadDeadline(time.Now().Add(Grace)) // net/http reads the rest of the body
	}
	return n, err
}
