// Package rates implements rate limits with a token bucket for each client.
package rates

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Table contains a token bucket for each key. A key is, for example, an address or the ID of an
// access token. It is safe for concurrent use.
type Table[K comparable] struct {
	keys int

	mu        sync.Mutex
	perSecond rate.Limit
	burst     int
	buckets   map[K]*rate.Limiter
	shared    *rate.Limiter // for keys without a bucket of their own
	swept     time.Time
}

// New returns a Table whose buckets hold at most burst tokens and get perSecond tokens a second.
// The parameter keys is the maximum number of keys with a bucket of their own. All other keys share
// one bucket.
func New[K comparable](perSecond float64, burst, keys int) *Table[K] {
	return &Table[K]{
		keys: keys, perSecond: rate.Limit(perSecond), burst: burst,
		buckets: map[K]*rate.Limiter{}, shared: rate.NewLimiter(rate.Limit(perSecond), burst),
	}
}

// Set changes the rate and the burst. Tokens that have already been spent remain spent.
func (t *Table[K]) Set(perSecond float64, burst int, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.perSecond, t.burst = rate.Limit(perSecond), burst
	for _, b := range t.buckets {
		t.adjust(b, now)
	}
	t.adjust(t.shared, now)
}

func (t *Table[K]) adjust(b *rate.Limiter, now time.Time) {
	b.SetLimitAt(now, t.perSecond)
	b.SetBurstAt(now, t.burst)
}

// Spend takes a token from the bucket of a key and returns 0. If the bucket is empty, it returns
// how long to wait instead.
func (t *Table[K]) Spend(key K, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.bucket(key, now).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// Wait returns what Spend would return, without taking a token.
func (t *Table[K]) Wait(key K, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buckets[key]
	switch {
	case b == nil && len(t.buckets) < t.keys:
		return 0
	case b == nil:
		b = t.shared
	}
	r := b.ReserveN(now, 1)
	defer r.CancelAt(now)
	return r.DelayFrom(now)
}

// Charge takes a token from the bucket of a key. If the bucket is empty, it stays empty for longer.
func (t *Table[K]) Charge(key K, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bucket(key, now).ReserveN(now, 1)
}

// bucket returns the bucket of a key. If there are too many keys, it is the shared bucket.
func (t *Table[K]) bucket(key K, now time.Time) *rate.Limiter {
	if b := t.buckets[key]; b != nil {
		return b
	}
	if len(t.buckets) >= t.keys && now.Sub(t.swept) >= t.sweepInterval() {
		t.sweep(now)
	}
	if len(t.buckets) >= t.keys {
		return t.shared
	}
	b := rate.NewLimiter(t.perSecond, t.burst)
	t.buckets[key] = b
	return b
}

// sweepInterval is the least time between two sweeps, so that a flood of new keys does not cause a
// sweep for each. The interval is the time in which an empty bucket becomes full, but at most a
// second.
func (t *Table[K]) sweepInterval() time.Duration {
	return time.Duration(min(float64(t.burst)/float64(t.perSecond), 1) * float64(time.Second))
}

// sweep removes full buckets, which are equivalent to new buckets.
func (t *Table[K]) sweep(now time.Time) {
	t.swept = now
	for key, b := range t.buckets {
		if b.TokensAt(now) >= float64(t.burst) {
			delete(t.buckets, key)
		}
	}
}
