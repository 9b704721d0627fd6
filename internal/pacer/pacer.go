// Package pacer keeps background work from delaying requests. Background work runs in short slices.
// As long as requests are answered, it rests after each slice; otherwise it runs at full speed.
package pacer

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	slice   = time.Millisecond      // how long a goroutine works without a rest
	longest = 20 * time.Millisecond // a slice counts as at most this long: a longer slice has waited for something else
	window  = 20 * time.Millisecond // how often the share is adjusted
	calm    = time.Second           // if there was no request for this long, background work does not rest
	apart   = slice + slice/2       // how long after the beginning of a slice another one may begin

	leastShare = 1.0 / 16 // minimum share of the time for which a goroutine works
)

// A Pacer decides how long background work rests. The rests become longer while the processors are
// busy, and shorter while they are not. So background work gets what requests leave, and never less
// than leastShare. All background work of a process should use the same Pacer. A Pacer is safe for
// concurrent use, and a nil Pacer does not make anything rest.
type Pacer struct {
	processors int
	requests   atomic.Uint64
	rested     atomic.Int64 // nanoseconds

	mu    sync.Mutex
	load  load
	at    time.Time // of the last adjustment; zero before the first
	seen  uint64    // requests at that time
	asked time.Time // when there was last a request
	share float64   // part of its time for which a goroutine works
	next  time.Time // when the next slice of any goroutine may begin
}

// A load tells whether the processors are busy.
type load interface {
	// busy reports whether the processors were busy since the last call. The parameter passed is
	// the time since then.
	busy(passed time.Duration) bool
}

// New returns a Pacer.
func New() *Pacer {
	return &Pacer{processors: runtime.GOMAXPROCS(0), load: newMeter(), share: 0.5}
}

// Request records that a request was answered.
func (p *Pacer) Request() {
	if p != nil {
		p.requests.Add(1)
	}
}

// Rested returns how long background work has rested, summed over all goroutines.
func (p *Pacer) Rested() time.Duration { return time.Duration(p.rested.Load()) }

// rest returns how long a goroutine must rest now, after a slice of work that took the time worked.
//
// The rest also makes sure that slices of different goroutines do not begin at once, but with gaps
// between them. Requests are served in these gaps: Go's scheduler looks for requests that have
// arrived only when no goroutine can run, or after 10 ms. With several processors the gaps are
// shorter, because a processor without work can look in the meantime.
func (p *Pacer) rest(now time.Time, worked time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if passed := now.Sub(p.at); passed >= window {
		p.adjust(now, passed)
	}
	if now.Sub(p.asked) > calm {
		return 0
	}
	rest := max(slice, time.Duration(float64(worked)*(1/p.share-1)))
	begin := now.Add(rest)
	if begin.Before(p.next) {
		begin = p.next
	}
	p.next = begin.Add(apart / time.Duration(p.processors))
	return begin.Sub(now)
}

// adjust adjusts the share to what happened in the time passed. After a long time without
// background work, it only starts to measure again.
func (p *Pacer) adjust(now time.Time, passed time.Duration) {
	requests, isBusy := p.requests.Load(), p.load.busy(passed)
	if requests != p.seen {
		p.asked = now
	}
	switch {
	case passed > 10*window:
	case isBusy:
		p.share = max(p.share*3/4, leastShare)
	default:
		p.share = min(p.share*9/8, 1)
	}
	p.at, p.seen = now, requests
}

// A Turn is background work in one goroutine. A nil Turn never rests.
type Turn struct {
	pacer *Pacer
	since time.Time // when the slice began
}

// Begin begins background work.
func (p *Pacer) Begin() *Turn {
	if p == nil {
		return nil
	}
	return &Turn{p, time.Now()}
}

// Step ends a step of the work, and rests if the slice is over. Call it for each record or so, at
// least every tenth of a millisecond. It returns the error of ctx.
func (t *Turn) Step(ctx context.Context) error {
	t.Rest(ctx.Done())
	return ctx.Err()
}

// Rest is like Step, but the rest ends early when the channel is closed.
func (t *Turn) Rest(done <-chan struct{}) {
	if t == nil {
		return
	}
	now := time.Now()
	worked := now.Sub(t.since)
	if worked < slice {
		return
	}
	if d := t.pacer.rest(now, min(worked, longest)); d > 0 {
		sleep(d, done)
	} else {
		runtime.Gosched()
	}
	t.since = time.Now()
	t.pacer.rested.Add(int64(t.since.Sub(now)))
}

func sleep(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}

type contextKey struct{}

// With returns a context for background work.
func With(ctx context.Context, p *Pacer) context.Context {
	if p == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, p)
}

// Begin begins work with a context. It returns nil unless the context comes from [With].
func Begin(ctx context.Context) *Turn {
	p, _ := ctx.Value(contextKey{}).(*Pacer)
	return p.Begin()
}
