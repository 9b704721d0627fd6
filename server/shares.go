package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/paced"
)

// isShared reports whether many clients may have the same address. Many clients may share a trusted
// proxy that does not report the client. They may also share the loopback address, because a proxy
// may run on this machine.
func (s *Server) isShared(a netip.Addr) bool {
	return a == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || a == netip.IPv6Loopback() || s.trusts(a)
}

// The reasons for rejecting requests, which are labels of a metric.
const (
	refusedBusy  = "busy"  // the server is busy: 503
	refusedLimit = "limit" // the client sends too many requests: 429
	refusedSlow  = "slow"  // the client reads too slowly: the response is aborted
)

// Refusals returns the reasons with which a server calls [Metrics].Refused.
func Refusals() []string {
	return []string{refusedLimit, refusedBusy, refusedSlow, refusedConnection, refusedIdle}
}

func (s *Server) tooMany(e *gateway.LimitError) *reply {
	reason, text := refusedLimit, "Too many requests. Please try again later."
	if e.Full {
		reason, text = refusedBusy, "The server is busy. Please try again later."
	}
	s.metrics.Refused(reason)
	p := newReply(e.Status())
	p.add("Cache-Control", "no-store")
	p.add("Retry-After", gateway.RetryAfter(e))
	return p.withText(text)
}

// costly answers a request that takes more than one lookup. The status is 429 if the client sends
// too many such requests, and 503 if the server has too many in progress.
func (s *Server) costly(ctx context.Context, answer func() *reply) *reply {
	if p := s.checkRate(ctx); p != nil {
		return p
	}
	return s.withTurn(ctx, answer)
}

// checkRate counts a costly request. If the client sends too many, checkRate returns the response
// with this error, and otherwise nil.
func (s *Server) checkRate(ctx context.Context) *reply {
	a := gateway.ClientOf(ctx)
	if a == nil || a.Many {
		return nil
	}
	var limit *gateway.LimitError
	if errors.As(s.rates.Spend(a.Addr, s.now()), &limit) {
		return s.tooMany(limit)
	}
	return nil
}

// withTurn answers a request during a turn, which is the permission to be one of a limited number
// of costly requests in progress. The turn ends with the response.
func (s *Server) withTurn(ctx context.Context, answer func() *reply) *reply {
	back, err := s.turns.take(ctx)
	var limit *gateway.LimitError
	if errors.As(err, &limit) {
		return s.tooMany(limit)
	}
	var p *reply
	defer func() {
		if p == nil || p.stream == nil {
			back()
		}
	}()
	if p = answer(); p.stream != nil {
		p.onRelease(back)
		p.pool = s.turns
	}
	return p
}

// A pool limits the number of streams of one kind. If all turns are taken, a new request may take
// the turn of the stream with the slowest client, provided that this client is too slow for a busy
// server.
type pool struct {
	*gateway.Turns

	mu      sync.Mutex
	streams map[*paced.Writer]struct{}
}

func newPool(turns *gateway.Turns) *pool {
	return &pool{Turns: turns, streams: map[*paced.Writer]struct{}{}}
}

// shedTime is how long a new request waits for the turn of a stream that was aborted to make room.
const shedTime = time.Second

// take takes a turn for the client in ctx. The caller must call back to return the turn. The error
// may be a [*gateway.LimitError].
func (l *pool) take(ctx context.Context) (back func(), err error) {
	asker := gateway.ClientOf(ctx)
	back, err = l.TakeFor(asker, 1)
	var limit *gateway.LimitError
	if !errors.As(err, &limit) || !limit.Full || !l.abortSlowest() {
		return back, err
	}
	waiting, cancel := context.WithTimeout(ctx, shedTime)
	defer cancel()
	back, again := l.Wait(waiting, asker, "")
	if again != nil && !errors.As(again, new(*gateway.LimitError)) {
		return nil, err // the client of this request has disconnected
	}
	return back, again
}

// abortSlowest aborts the stream with the slowest client. It returns false if no client is too
// slow.
func (l *pool) abortSlowest() (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var slowest *paced.Writer
	most := time.Duration(0)
	for p := range l.streams {
		if late := p.Late(); late > most {
			slowest, most = p, late
		}
	}
	if slowest == nil {
		return false
	}
	slowest.End()
	return true
}

func (l *pool) add(p *paced.Writer) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams[p] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.streams, p)
	}
}

// onRelease makes the reply call f when it is released.
func (p *reply) onRelease(f func()) {
	before := p.release
	p.release = func() {
		if before != nil {
			before()
		}
		f()
	}
}

// maxBodies limits the memory for request bodies, in bytes. One address may use a quarter of this
// memory.
const maxBodies = 64 << 20

// minBody is the initial size of the buffer for a body, in bytes.
const minBody = 4 << 10

// readBody reads at most limit+1 bytes of a body. If the result is longer than limit, the body is
// too long. The caller must call back to release the memory. The error may be a
// [*gateway.LimitError].
func (s *Server) readBody(ctx context.Context, r io.Reader, limit int) (body []byte, back func(), err error) {
	var taken []func()
	back = func() {
		for _, f := range taken {
			f()
		}
	}
	asker := gateway.ClientOf(ctx)
	for len(body) <= limit {
		if len(body) == cap(body) {
			more := max(cap(body), minBody)
			room, err := s.bodies.TakeFor(asker, more)
			if err != nil {
				return nil, back, err
			}
			taken = append(taken, room)
			body = slices.Grow(body, more)
		}
		n, err := r.Read(body[len(body):min(cap(body), limit+1)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, back, nil
		}
		if err != nil {
			return nil, back, err
		}
	}
	return body, back, nil
}

func requestTimeout() *reply {
	return uncached(newReply(http.StatusRequestTimeout).withText("The request body did not arrive in time."))
}
