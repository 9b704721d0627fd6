package gateway

import (
	"net/netip"
	"time"

	"github.com/nomen-project/nomen/internal/rates"
)

// Rates limits how often a client may do something, with a token bucket for each IPv4 address
// or IPv6 /64. It is safe for concurrent use.
type Rates struct{ table *rates.Table[netip.Addr] }

// NewRates returns rate limits with bursts. Only the given number of addresses get their own
// bucket. All other addresses share a bucket.
func NewRates(perSecond float64, burst, addresses int) *Rates {
	return &Rates{rates.New[netip.Addr](perSecond, burst, addresses)}
}

// Set changes the rate and the bursts. What clients have used before still counts.
func (d *Rates) Set(perSecond float64, burst int, now time.Time) { d.table.Set(perSecond, burst, now) }

// Spend takes a token from the bucket of an address. The error is a [*LimitError].
func (d *Rates) Spend(from netip.Addr, now time.Time) error {
	if wait := d.table.Spend(Guest(from), now); wait > 0 {
		return &LimitError{After: wait}
	}
	return nil
}
