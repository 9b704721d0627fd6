package gateway

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rates limits how often a client may do something, with a token bucket for each IPv4 address
// or IPv6 /64. It is safe for concurrent use.
type Rates struct {
	rate      float64
	burst     int
	addresses int
	refresh   time.Duration // time until an unused bucket is full

	mu     sync.Mutex
	guests map[netip.Addr]*rate.Limiter
	crowd  *rate.Limiter // shared by addresses without a bucket of their own
	swept  time.Time
}

// NewRates returns rate limits with bursts. Only the given number of addresses get their own
// bucket. All other addresses share a bucket.
func NewRates(perSecond float64, burst, addresses int) *Rates {
	return &Rates{
		rate: perSecond, burst: burst, addresses: addresses,
		refresh: refreshTime(perSecond, burst),
		guests:  map[netip.Addr]*rate.Limiter{}, crowd: rate.NewLimiter(rate.Limit(perSecond), burst),
	}
}

// Set changes the rate and the bursts. What clients have used before still counts.
func (d *Rates) Set(perSecond float64, burst int, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rate, d.burst, d.refresh = perSecond, burst, refreshTime(perSecond, burst)
	for _, l := range d.guests {
		l.SetLimitAt(now, rate.Limit(perSecond))
		l.SetBurstAt(now, burst)
	}
	d.crowd.SetLimitAt(now, rate.Limit(perSecond))
	d.crowd.SetBurstAt(now, burst)
}

// refreshTime returns the time until an unused bucket is full.
func refreshTime(perSecond float64, burst int) time.Duration {
	return time.Duration(float64(burst) / perSecond * float64(time.Second))
}

// Spend takes a token from the bucket of an address. The error is a [*LimitError].
func (d *Rates) Spend(from netip.Addr, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.limiter(Guest(from), now).ReserveN(now, 1)
	if after := r.DelayFrom(now); after > 0 {
		r.CancelAt(now)
		return &LimitError{After: after}
	}
	return nil
}

// limiter returns the bucket of an address, or the shared bucket if there are too many addresses.
func (d *Rates) limiter(g netip.Addr, now time.Time) *rate.Limiter {
	if l := d.guests[g]; l != nil {
		return l
	}
	if len(d.guests) >= d.addresses && now.Sub(d.swept) >= min(d.refresh, time.Second) {
		d.sweep(now)
	}
	if len(d.guests) >= d.addresses {
		return d.crowd
	}
	l := rate.NewLimiter(rate.Limit(d.rate), d.burst)
	d.guests[g] = l
	return l
}

// sweep removes full buckets.
func (d *Rates) sweep(now time.Time) {
	d.swept = now
	for g, l := range d.guests {
		if l.TokensAt(now) >= float64(d.burst) {
			delete(d.guests, g)
		}
	}
}
