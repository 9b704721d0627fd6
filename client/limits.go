package client

import (
	"context"
	"strings"
	"sync"

	"golang.org/x/time/rate"
)

// limits limit the concurrent requests to each host, and their rate.
type limits struct {
	perHost int
	rate    rate.Limit // 0 means no limit

	mu    sync.Mutex
	hosts map[string]*hostLimit
}

type hostLimit struct {
	slots  chan struct{} // an element for each request in progress; nil means no limit
	bucket *rate.Limiter // nil means no limit
	users  int           // callers that have a slot or wait for a slot
}

func newLimits(perHost int, perSecond float64) *limits {
	return &limits{perHost: perHost, rate: rate.Limit(max(perSecond, 0)), hosts: map[string]*hostLimit{}}
}

const maxIdleHosts = 1024

// enter waits until another request to host is allowed. If enter returns no error, the caller must
// call leave at the end of the request.
func (l *limits) enter(ctx context.Context, host string) (leave func(), err error) {
	if l.perHost < 0 && l.rate == 0 {
		return func() {}, nil
	}
	host = strings.ToLower(host)
	h := l.join(host)
	if err := h.wait(ctx); err != nil {
		l.part(h)
		return nil, err
	}
	return func() {
		if h.slots != nil {
			<-h.slots
		}
		l.part(h)
	}, nil
}

func (l *limits) join(host string) *hostLimit {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		l.forget()
		h = &hostLimit{}
		if l.perHost > 0 {
			h.slots = make(chan struct{}, l.perHost)
		}
		if l.rate > 0 {
			h.bucket = rate.NewLimiter(l.rate, max(int(l.rate), 1))
		}
		l.hosts[host] = h
	}
	h.users++
	return h
}

func (l *limits) part(h *hostLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.users--
}

// forget removes idle hosts to make room for another. It does not remove a host with recent
// requests, so that the rate limit of that host stays in force.
func (l *limits) forget() {
	if len(l.hosts) < maxIdleHosts {
		return
	}
	for host, h := range l.hosts {
		if h.users == 0 && (h.bucket == nil || h.bucket.Tokens() >= float64(h.bucket.Burst())) {
			delete(l.hosts, host)
		}
	}
}

func (h *hostLimit) wait(ctx context.Context) error {
	if h.slots != nil {
		select {
		case h.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if h.bucket == nil {
		return nil
	}
	err := h.bucket.Wait(ctx)
	if err != nil {
		if h.slots != nil {
			<-h.slots
		}
		if ctx.Err() == nil { // the deadline is too early for the rate limit
			return context.DeadlineExceeded
		}
	}
	return err
}
