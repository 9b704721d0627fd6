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

// isShared reports whether an address stands for many clients: a trusted proxy that does not
// name the client, or this machine, on which a proxy may run.
func (s *Server) isShared(a netip.Addr) bool {
	return a == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || a == netip.IPv6Loopback() || s.trusts(a)
}

// Reasons why requests are rejected, as they appear in the metrics.
const (
	refusedBusy  = "busy"  // the server is busy: 503
	refusedLimit = "limit" // the client sends too many requests: 429
	refusedSlow  = "slow"  // the client reads too slowly: the response is aborted
)

// Refusals returns the reasons that a server passes to [Metrics].
func Refusals() []string {
	return []string{refusedLimit, refusedBusy, refusedSlow, refusedConnection, refusedIdle}
}

// tooMany answers a client that exceeds its limit, or any client while the server is
// busy.
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

// costly answers a costly request, which takes more than one lookup. Each address has two
// limits: of costly requests per second, and of costly requests in progress (429). The server has
// a limit of costly requests in progress (503).
func (s *Server) costly(ctx context.Context, answer func() *reply) *reply {
	if p := s.checkRate(ctx); p != nil {
		return p
	}
	return s.withTurn(ctx, answer)
}

// checkRate returns the response to a client that exceeds its rate of costly requests, or
// nil.
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

// withTurn answers a request while it holds a turn, which is permission to be one of the
// limited number of costly requests at once. The turn ends when the response is sent.
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

// A pool limits the number of streams of one kind. If all turns are taken, a new request may
// take the turn of the stream with the slowest client, but only if that client reads too slowly
// for a busy server.
type pool struct {
	*gateway.Turns

	mu      sync.Mutex
	streams map[*paced.Writer]struct{}
}

func newPool(turns *gateway.Turns) *pool {
	return &pool{Turns: turns, streams: map[*paced.Writer]struct{}{}}
}

// shedTime is how long a request waits for the turn of an aborted stream.
const shedTime = time.Second

// take takes a turn for the client of ctx. The error may be a [*gateway.LimitError].
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
		return nil, err // the client is gone
	}
	return back, again
}

// abortSlowest aborts the stream with the slowest client. It returns false if none is too slow.
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

// add registers a stream that holds a turn, until remove is called.
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

// onRelease adds back to the functions called when the reply has been sent.
func (p *reply) onRelease(back func()) {
	before := p.release
	p.release = func() {
		if before != nil {
			before()
		}
		back()
	}
}

// maxBodies is how many bytes of request bodies are held in memory at once, a quarter of
// them from one address.
const maxBodies = 64 << 20

// minBody is the initial size of the buffer for a body, in bytes.
const minBody = 4 << 10

// readBody reads a body. It stops after limit+1 bytes, so a result of more than limit bytes
// means that the body is too long. The caller must call the function back to release the memory. The error
// may be a [*gateway.LimitError].
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

// requestTimeout answers a client whose body does not arrive in time (RFC 9110, 15.5.9).
func requestTimeout() *reply {
	return uncached(newReply(http.StatusRequestTimeout).withText("The request body did not arrive in time."))
}
