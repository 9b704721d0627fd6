package links

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Limits of the interval between two requests to a host.
const (
	maxGap        = 5 * time.Minute
	maxRetryAfter = 24 * time.Hour
	maxGateWait   = 10 * time.Minute       // maximum time that a check waits for a host before it is postponed
	slowest       = 6                      // maximum number of times that the gap is doubled
	goodRow       = 100                    // number of answers after which the gap is halved again
	lookTime      = 200 * time.Millisecond // interval for checking whether another server still uses a host
	holdTime      = 2 * requestTime        // time that other servers wait if a server crashes during a request
)

var errLater = errors.New("links: the host must not be asked now")

// A pace determines the gap between two requests to a host.
type pace struct {
	delay time.Duration // delay in robots.txt
	slow  int           // number of times that the gap was doubled because the host was busy
	row   int           // number of answers since then
}

// gap returns the gap after a request. The parameter took is the time that the request took.
func (p *pace) gap(least, took time.Duration) time.Duration {
	return max(min(max(least, 10*took)<<p.slow, maxGap), p.delay, least)
}

// A gate permits only one request to a host at a time.
type gate struct {
	pace
	busy  bool
	last  time.Time     // end of the last request
	next  time.Time     // when the next request may be sent
	freed chan struct{} // closed when the request has ended
}

// gapOf returns the gap after a request to a host. The parameter took is the time that the request
// took.
func (g *gates) gapOf(host string, p *pace, took time.Duration) time.Duration {
	if own, ok := g.own[host]; ok {
		return min(own<<p.slow, maxGap)
	}
	return p.gap(g.least, took)
}

// gates is the set of gates of all hosts with recent requests.
type gates struct {
	now    func() time.Time // a clock that is never set, unlike that of [Options]
	least  time.Duration
	own    map[string]time.Duration // gaps for the hosts of the operator
	shared interface {              // the gates of all servers that share the states; nil if there is only one
		Enter(ctx context.Context, host string, hold time.Duration) (wait time.Duration, err error)
		Leave(ctx context.Context, host string, gap time.Duration) error
	}

	mu    sync.Mutex
	hosts map[string]*gate
}

// of returns the gate of a host. The caller must hold mu.
func (g *gates) of(host string) *gate {
	h := g.hosts[host]
	if h == nil {
		if len(g.hosts) >= maxGates {
			g.sweep()
		}
		h = &gate{freed: make(chan struct{})}
		g.hosts[host] = h
	}
	return h
}

// maxGates is the number of gates above which gates without recent requests are removed.
const maxGates = 10_000

func (g *gates) sweep() {
	now := g.now()
	for host, h := range g.hosts {
		if !h.busy && now.After(h.next) {
			delete(g.hosts, host)
		}
	}
}

func (g *gates) set(host string, p pace) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of(host).pace = p
}

func (g *gates) get(host string) (pace, time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.hosts[host]; h != nil {
		return h.pace, h.next
	}
	return pace{}, time.Time{}
}

// enter waits until a request to a host is permitted. The caller must call leave after the request.
// If the wait would be too long, enter returns errLater.
func (g *gates) enter(ctx context.Context, host string) error {
	end := g.now().Add(maxGateWait)
	if err := g.enterHere(ctx, host, end); err != nil || g.shared == nil {
		return err
	}
	for {
		until, err := g.shared.Enter(ctx, host, holdTime)
		if err == nil && until == 0 {
			return nil
		}
		if err == nil && g.now().Add(until).After(end) {
			err = errLater
		}
		if err == nil {
			wait(ctx, min(until, lookTime), nil)
			err = ctx.Err()
		}
		if err != nil {
			g.release(host)
			if ctx.Err() == nil {
				err = errors.Join(errLater, err) // not a failure of the host
			}
			return err
		}
	}
}

// release lets other requests of this server to the host proceed without a gap.
func (g *gates) release(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of(host).open()
}

// open ends the current request of the gate. The caller must hold mu.
func (h *gate) open() {
	h.busy = false
	close(h.freed)
	h.freed = make(chan struct{})
}

// enterHere is like enter, but considers only the requests of this server.
func (g *gates) enterHere(ctx context.Context, host string, end time.Time) error {
	for {
		g.mu.Lock()
		h, now := g.of(host), g.now()
		wait := h.next.Sub(now)
		if !h.busy && wait <= 0 {
			h.busy = true
			g.mu.Unlock()
			return nil
		}
		freed, busy := h.freed, h.busy
		g.mu.Unlock()
		if now.Add(wait).After(end) {
			return errLater
		}
		if busy {
			wait = end.Sub(now)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-freed:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if busy && !g.now().Before(end) {
			return errLater
		}
	}
}

// leave records the end of a request to a host. The parameter took is the time that the host took
// to answer. The parameter busy means that the host answered that it is busy, and retry is the wait
// in its Retry-After field.
func (g *gates) leave(ctx context.Context, host string, took time.Duration, busy bool, retry time.Duration) {
	gap := g.left(host, took, busy, retry)
	if g.shared != nil {
		_ = g.shared.Leave(ctx, host, gap) // after an error, other servers wait for holdTime
	}
}

// left is like leave, but considers only the requests of this server. It returns the gap before the
// next request.
func (g *gates) left(host string, took time.Duration, busy bool, retry time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.of(host)
	switch h.row++; {
	case busy:
		h.slow, h.row = min(h.slow+1, slowest), 0
	case h.row >= goodRow:
		h.slow, h.row = max(h.slow-1, 0), 0
	}
	h.last = g.now()
	gap := max(g.gapOf(host, &h.pace, took), min(retry, maxRetryAfter))
	h.next = h.last.Add(gap)
	h.open()
	return gap
}

func (g *gates) delay(host string, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.of(host)
	if h.delay = d; !h.busy && !h.last.IsZero() {
		h.next = maxTime(h.next, h.last.Add(d))
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
