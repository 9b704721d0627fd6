package server

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
	busyRate  = 64 << 10 // while others wait for a turn, after busyGrace
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

// errTooSlow is returned by a stream whose client reads too slowly.
var errTooSlow = errors.New("server: the client reads too slowly")

// A paced is a writer that gives each write of a stream its own deadline, instead of one
// for the whole stream, and requires a minimum rate overall.
type paced struct {
	w       io.Writer
	control *http.ResponseController
	step    time.Duration
	n       int64 // bytes written

	mu          sync.Mutex
	least, busy credit
	since       time.Time // when the current write began; zero if there is none
	cut         bool      // the stream is aborted in favor of others
}

// newPaced returns a writer for a request whose body has been read. From then on net/http
// reads only to detect that the client is gone, which needs no deadline.
func newPaced(w http.ResponseWriter, step time.Duration) *paced {
	p := newPacedDuplex(w, step)
	_ = p.control.SetReadDeadline(time.Time{}) // only connections of tests do not support deadlines
	return p
}

// newPacedDuplex is newPaced for a request whose body is still read.
func newPacedDuplex(w http.ResponseWriter, step time.Duration) *paced {
	return &paced{
		w: w, control: http.NewResponseController(w), step: step,
		least: newCredit(leastRate, step), busy: newCredit(busyRate, busyGrace),
	}
}

func (p *paced) Write(b []byte) (int, error) {
	if err := p.begin(len(b)); err != nil {
		return 0, err
	}
	n, err := p.w.Write(b)
	p.n += int64(n)
	return n, p.ended(n, err)
}

// Flush sends what net/http has buffered.
func (p *paced) Flush() error {
	if err := p.begin(0); err != nil {
		return err
	}
	return p.ended(0, p.control.Flush())
}

// begin sets the deadline for sending n bytes.
func (p *paced) begin(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.least.with(n, 0)
	if p.cut || left <= 0 {
		return errTooSlow
	}
	p.since = time.Now()
	_ = p.control.SetWriteDeadline(p.since.Add(min(p.step, left)))
	return nil
}

// ended records that n bytes were sent, and returns the error of sending them.
func (p *paced) ended(n int, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := time.Since(p.since)
	p.since = time.Time{}
	p.least.spend(n, waited)
	p.busy.spend(n, waited)
	if p.cut || errors.Is(err, os.ErrDeadlineExceeded) {
		return errTooSlow
	}
	return err
}

// late returns by how much the client has exceeded its credit on a busy server; it is not
// positive if it has not.
func (p *paced) late() time.Duration {
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

// end aborts the stream, even during a write.
func (p *paced) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	_ = p.control.SetWriteDeadline(time.Unix(1, 0))
}

// A wholeBody is a body read within the deadline for the whole request, which is set by
// the server. If it does not arrive in time, the client still gets a response.
type wholeBody struct {
	io.Reader
	control *http.ResponseController
	step    time.Duration // for the response
}

func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	switch {
	case err == io.EOF:
		_ = b.control.SetReadDeadline(time.Time{}) // as in newPaced
	case err != nil:
		_ = b.control.SetReadDeadline(time.Now().Add(bodyGrace)) // net/http continues reading
		_ = b.control.SetWriteDeadline(time.Now().Add(b.step))
	}
	return n, err
}

// A pacedReader gives each read of a body its own deadline.
type pacedReader struct {
	r       io.Reader
	control *http.ResponseController
	step    time.Duration
	ctx     context.Context // if not nil, reading stops when it ends
}

func (p *pacedReader) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(p.step))
	if p.ctx != nil && p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	n, err := p.r.Read(b)
	switch {
	case err == io.EOF:
		_ = p.control.SetReadDeadline(time.Time{}) // as in newPaced
	case err != nil:
		_ = p.control.SetReadDeadline(time.Now().Add(bodyGrace)) // net/http continues reading
	}
	return n, err
}
