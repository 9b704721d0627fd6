package server

import (
	"context"
	"io"
	"net/http"
	"time"
)

// A paced writer gives each piece of a stream its own time to be sent, in place of
// one time for the whole.
type paced struct {
	w       io.Writer
	control *http.ResponseController
	step    time.Duration
	n       int64 // bytes written
}

// newPaced returns a writer for a request whose body was read. From then on the
// server reads only to notice that the client has gone: that has no deadline.
func newPaced(w http.ResponseWriter, step time.Duration) *paced {
	p := &paced{w: w, control: http.NewResponseController(w), step: step}
	_ = p.control.SetReadDeadline(time.Time{}) // a connection without deadlines is one of a test
	return p
}

func (p *paced) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.step))
	n, err := p.w.Write(b)
	p.n += int64(n)
	return n, err
}

// Flush sends what net/http holds back.
func (p *paced) Flush() error {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.step))
	return p.control.Flush()
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
