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

// The least rates at which a client must read a stream, in bytes a second. Only the time
// for which the server waits for the client counts.
const (
	leastRate = 4 << 10  // always, after a grace period of the time for one step
	busyRate  = 64 << 10 // while others wait for a turn, after busyGrace
	busyGrace = time.Second
)

// A credit is the time for which a client may still keep the server waiting. Each byte
// that it reads adds to it, up to the grace period with which it begins.
type credit struct {
	rate        float64 // bytes a second
	grace, left time.Duration
}

func newCredit(rate float64, grace time.Duration) credit { return credit{rate, grace, grace} }

// with returns what is left when n bytes more have been read after a time.
func (c *credit) with(n int, waited time.Duration) time.Duration {
	return c.left - waited + time.Duration(float64(n)/c.rate*float64(time.Second))
}

func (c *credit) spend(n int, waited time.Duration) { c.left = min(c.with(n, waited), c.grace) }

// errTooSlow is the error of a stream whose client reads too slowly.
var errTooSlow = errors.New("server: the client reads too slowly")

// A paced writer gives each piece of a stream its own time to be sent, in place of one
// time for the whole, and demands a least rate of the whole.
type paced struct {
	w       io.Writer
	control *http.ResponseController
	step    time.Duration
	n       int64 // bytes written

	mu          sync.Mutex
	least, busy credit
	since       time.Time // when the write under way began; zero if there is none
	cut         bool      // it ends, for others
}

// newPaced returns a writer for a request whose body was read. From then on the
// server reads only to notice that the client has gone: that has no deadline.
func newPaced(w http.ResponseWriter, step time.Duration) *paced {
	p := newPacedDuplex(w, step)
	_ = p.control.SetReadDeadline(time.Time{}) // a connection without deadlines is one of a test
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

// Flush sends what net/http holds back.
func (p *paced) Flush() error {
	if err := p.begin(0); err != nil {
		return err
	}
	return p.ended(0, p.control.Flush())
}

// begin gives n bytes the time in which they must be sent.
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

// ended notes that n bytes were sent, and returns the error of that.
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

// late returns how long the client has kept the server waiting beyond what a busy server
// allows; nothing if it has not.
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

// end ends the stream, even while it is being sent.
func (p *paced) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	_ = p.control.SetWriteDeadline(time.Unix(1, 0))
}

// A wholeBody is read within the time for a whole request, which the server has set. One
// that does not arrive gets an answer all the same.
type wholeBody struct {
	io.Reader
	control *http.ResponseController
	step    time.Duration // for the answer
}

func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	switch {
	case err == io.EOF:
		_ = b.control.SetReadDeadline(time.Time{}) // as in newPaced
	case err != nil:
		_ = b.control.SetReadDeadline(time.Now().Add(bodyGrace)) // net/http reads on
		_ = b.control.SetWriteDeadline(time.Now().Add(b.step))
	}
	return n, err
}

// A pacedReader gives each piece of a body its own time to arrive.
type pacedReader struct {
	r       io.Reader
	control *http.ResponseController
	step    time.Duration
	ctx     context.Context // if not nil, it ends the reading
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
		_ = p.control.SetReadDeadline(time.Now().Add(bodyGrace)) // net/http reads on
	}
	return n, err
}
