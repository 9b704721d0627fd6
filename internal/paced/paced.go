// Package paced sets a deadline for each read or write of a long HTTP request or response. It
// aborts a response whose client reads too slowly.
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

// Minimum rates at which a client must read a response, in bytes per second. Only the time during
// which the server waits for the client is counted.
const (
	leastRate = 4 << 10  // always, after a grace period of one step
	busyRate  = 64 << 10 // while other clients wait for their turn, after busyGrace
	busyGrace = time.Second
)

// A credit is the time for which a client may still keep the server waiting. At first it is a grace
// period. Each byte that the client reads increases the credit, up to the length of the grace
// period.
type credit struct {
	rate        float64 // rate at which the client must read, in bytes per second
	grace, left time.Duration
}

func newCredit(rate float64, grace time.Duration) credit { return credit{rate, grace, grace} }

// with returns the credit that remains after the server has waited for the client and the client
// has read n bytes.
func (c *credit) with(n int, waited time.Duration) time.Duration {
	return c.left - waited + time.Duration(float64(n)/c.rate*float64(time.Second))
}

func (c *credit) spend(n int, waited time.Duration) { c.left = min(c.with(n, waited), c.grace) }

// ErrTooSlow means that the client reads too slowly; see [Writer].
var ErrTooSlow = errors.New("paced: the client reads too slowly")

// A Writer writes a response and sets a deadline for each write. It aborts the response if the
// client reads too slowly.
type Writer struct {
	w       io.Writer
	control *http.ResponseController
	step    time.Duration
	n       int64 // bytes written; only for the goroutine that writes

	mu          sync.Mutex
	least, busy credit
	since       time.Time // when the present write began, or zero
	cut         bool      // the stream was aborted so that another client gets a turn
}

// NewWriter returns a Writer for the response to a request whose body has been read. It removes the
// read deadline, because net/http then reads only to detect that the client has disconnected.
func NewWriter(w http.ResponseWriter, step time.Duration) *Writer {
	p := NewDuplexWriter(w, step)
	_ = p.control.SetReadDeadline(time.Time{}) // fails only for connections in tests, which have no deadlines
	return p
}

// NewDuplexWriter returns a Writer for the response to a request whose body is still being read. It
// does not change the read deadline.
func NewDuplexWriter(w http.ResponseWriter, step time.Duration) *Writer {
	return &Writer{
		w: w, control: http.NewResponseController(w), step: step,
		least: newCredit(leastRate, step), busy: newCredit(busyRate, busyGrace),
	}
}

// Write implements [io.Writer]. If the client reads too slowly, the error is [ErrTooSlow].
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

// ended records that n bytes were sent. The parameter err is the error of the write. If the client
// was too slow, ended returns [ErrTooSlow], and otherwise err.
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

// Late returns by how much the client has exceeded its credit on a busy server. It is not positive
// if the client has credit left.
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

// End aborts the response, even during a write.
func (p *Writer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	_ = p.control.SetWriteDeadline(time.Unix(1, 0))
}

// Grace is how long the server reads and discards an unread request body. Some clients do not read
// the response before they have sent the whole body.
const Grace = time.Second

// A Body is a request body for which the server has set one read deadline. If the body is
// incomplete at the deadline, the client still gets a response.
type Body struct {
	r       io.Reader
	control *http.ResponseController
	step    time.Duration
}

// NewBody returns a Body that reads from body. After the deadline, the response must be written
// within the time step.
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
	ctx     context.Context // reading stops when it ends; may be nil
}

// NewReader returns a Reader for the body of a request.
func NewReader(body io.Reader, w http.ResponseWriter, step time.Duration) *Reader {
	return &Reader{r: body, control: http.NewResponseController(w), step: step}
}

// Until makes reads fail when ctx ends. It must be called before Read.
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
