// Package pacer keeps background work from delaying requests. Background work runs in short time
// slices. While the server answers requests, the work pauses after every slice; otherwise it runs
// at full speed.
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
	apart   = slice + slice/2       // with one processor, how long after the beginning of a slice another one may begin

	leastIdle = slice / 10 // the processors must have been idle for this long between two slices
	again     = slice / 2  // if they have not, how long background work waits before it looks again

	leastShare = 1.0 / 16 // minimum share of the time for which a goroutine works
)

// A Pacer decides how long background work pauses between slices. Pauses become longer while the
// processors are busy, and shorter while they are idle. Background work thus uses the processor
// time that requests leave, and at least a minimum share. All background work of a process should
// use the same Pacer. A Pacer is safe for concurrent use. With a nil Pacer, background work never
// pauses.
type Pacer struct {
	processors int
	requests   atomic.Uint64
	rested     atomic.Int64 // nanoseconds

	mu    sync.Mutex
	load  load
	at    time.Time     // of the last adjustment; zero before the first
	seen  uint64        // requests at that time
	asked time.Time     // when there was last a request
	share float64       // part of its time for which a goroutine works
	next  time.Time     // when the next slice of any goroutine may begin, if all goroutines keep to their times
	after time.Time     // when the next slice of any goroutine may really begin
	ended time.Time     // when a slice of any goroutine ended last
	used  time.Duration // processor time of the process at that time
}

// A load measures the use of the processors.
type load interface {
	// busy reports whether the processors were busy since the last call. The parameter passed is
	// the time since then.
	busy(passed time.Duration) bool
	// used returns the processor time of the process until now, or 0 if it is unknown.
	used() time.Duration
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

// Rested returns the total duration of the pauses of all goroutines.
func (p *Pacer) Rested() time.Duration { return time.Duration(p.rested.Load()) }

// rest returns how long a goroutine must pause after a slice of work. The parameter worked is the
// duration of this slice.
//
// The pauses also leave gaps between the slices of different goroutines. Go's scheduler polls the
// network only when no goroutine can run, or after 10 ms, so requests are served in these gaps.
// With several processors the gaps are shorter, because an idle processor can poll the network.
// After the pause, a goroutine must call begin. It may have woken up late, so that its slice could
// follow another slice without a gap.
func (p *Pacer) rest(now time.Time, worked time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if passed := now.Sub(p.at); passed >= window {
		p.adjust(now, passed)
	}
	if now.Sub(p.asked) > calm {
		return 0
	}
	p.ended, p.used = now, p.load.used()
	if p.processors == 1 {
		p.after = later(p.after, now.Add(apart-slice))
	}
	rest := max(slice, time.Duration(float64(worked)*(1/p.share-1)))
	begin := now.Add(rest)
	if begin.Before(p.next) {
		begin = p.next
	}
	p.next = begin.Add(p.apart())
	return begin.Sub(now)
}

// begin returns how much longer a goroutine must pause before its next slice, or 0 if the slice can
// begin now. A slice can begin when the processors have been idle since the last slice, because all
// requests that had arrived are then answered. It can begin at the time latest even if the
// processors are busy.
func (p *Pacer) begin(now, latest time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := p.after.Sub(now); wait > 0 {
		return wait
	}
	idle := now.Sub(p.ended)*time.Duration(p.processors) - (p.load.used() - p.used)
	if idle < leastIdle && now.Before(latest) {
		return min(again, latest.Sub(now))
	}
	p.after = now.Add(p.apart())
	return 0
}

func later(t, u time.Time) time.Time {
	if t.Before(u) {
		return u
	}
	return t
}

// apart returns the minimum time between the beginnings of two slices. With several processors, one
// processor is left to requests.
func (p *Pacer) apart() time.Duration {
	if p.processors == 1 {
		return apart
	}
	return slice / time.Duration(p.processors-1)
}

// adjust adjusts the share of background work to the load during the time passed. After a long time
// without background work, the load is unknown, and adjust only begins a new measurement.
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

// A Turn is background work in one goroutine. A nil Turn never pauses.
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

// Step pauses if the time slice of the work is over, and returns the error of ctx. It should be
// called at least every tenth of a millisecond, for example after each record.
func (t *Turn) Step(ctx context.Context) error {
	t.Rest(ctx.Done())
	return ctx.Err()
}

// Rest is like [Turn.Step], but ends the pause early when done is closed.
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
		latest := now.Add(time.Duration(float64(min(worked, longest)) * (1/leastShare - 1)))
		for ; d > 0 && sleep(d, done); d = t.pacer.begin(time.Now(), latest) {
		}
	} else {
		runtime.Gosched()
	}
	t.since = time.Now()
	t.pacer.rested.Add(int64(t.since.Sub(now)))
}

// sleep sleeps for a time. It returns false if the channel is closed before.
func sleep(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}

type contextKey struct{}

// With returns a context that carries p, for background work.
func With(ctx context.Context, p *Pacer) context.Context {
	if p == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, p)
}

// Begin begins background work with the Pacer that [With] has added to ctx. It returns nil if ctx
// has no Pacer.
func Begin(ctx context.Context) *Turn {
	p, _ := ctx.Value(contextKey{}).(*Pacer)
	return p.Begin()
}
