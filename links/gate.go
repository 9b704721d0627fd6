package links

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Limits of the gaps between requests to one host.
const (
	maxGap        = 5 * time.Minute
	maxRetryAfter = 24 * time.Hour
	maxGateWait   = 10 * time.Minute       // a check does not wait longer for a host; it is tried later
	slowest       = 6                      // how often the gap can be doubled
	goodRow       = 100                    // answers after which the gap is halved again
	lookTime      = 200 * time.Millisecond // between two looks at a host that another server uses
	holdTime      = 2 * requestTime        // if a server dies during a request, the others wait for this time
)

var errLater = errors.New("links: the host must not be asked now")

// A pace says how often a host may be asked.
type pace struct {
	delay time.Duration // of robots.txt
	slow  int           // how often the gap is doubled, because the host was busy
	row   int           // answers since then
}

// gap returns the gap after a request that took some time.
func (p *pace) gap(least, took time.Duration) time.Duration {
	return max(min(max(least, 10*took)<<p.slow, maxGap), p.delay, least)
}

// A gate lets one request to a host pass at a time.
type gate struct {
	pace
	busy  bool
	last  time.Time     // end of the last request
	next  time.Time     // when the next request may be sent
	freed chan struct{} // closed when the request has ended
}

// gapOf returns the gap after a request to a host that took some time.
func (g *gates) gapOf(host string, p *pace, took time.Duration) time.Duration {
	if own, ok := g.own[host]; ok {
		return min(own<<p.slow, maxGap)
	}
	return p.gap(g.least, took)
}

// gates has a gate for each host with recent requests.
type gates struct {
	now    func() time.Time // a clock that is never set, unlike that of [Options]
	least  time.Duration
	own    map[string]time.Duration // gaps of hosts of the operator
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

// maxGates is the number of hosts from which on hosts without recent requests are forgotten.
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

// enter waits until a request may be sent to a host. The caller must call leave. If the wait would
// be too long, enter returns errLater.
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
				err = errors.Join(errLater, err) // says nothing about the host
			}
			return err
		}
	}
}

// release lets other requests of this server pass, without a gap.
func (g *gates) release(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of(host).open()
}

// open lets the next request pass. The caller must hold mu.
func (h *gate) open() {
	h.busy = false
	close(h.freed)
	h.freed = make(chan struct{})
}

// enterHere is like enter, for the requests of this server.
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

// leave records that a request to a host has ended. The parameter took is how long the host took to
// answer. The flag busy says that the host answered that it is busy, and retry is the time in its
// Retry-After.
func (g *gates) leave(ctx context.Context, host string, took time.Duration, busy bool, retry time.Duration) {
	gap := g.left(host, took, busy, retry)
	if g.shared != nil {
		_ = g.shared.Leave(ctx, host, gap) // after an error, the others wait for holdTime
	}
}

// left does what leave does for the requests of this server. It returns the gap to the next request.
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
