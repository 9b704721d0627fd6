package gateway

import (
	"net/netip"
	"time"

	"github.com/nomen-project/nomen/internal/rates"
)

// Rates limits how often clients may do something. Each IPv4 address and each IPv6 /64 has a token
// bucket. Rates is safe for concurrent use.
type Rates struct{ table *rates.Table[netip.Addr] }

// NewRates returns Rates with the given rate and size of bursts. At most the given number of
// addresses have their own bucket; all other addresses share one bucket.
func NewRates(perSecond float64, burst, addresses int) *Rates {
	return &Rates{rates.New[netip.Addr](perSecond, burst, addresses)}
}

// Set changes the rate and the size of bursts. Tokens that clients have already spent remain spent.
func (d *Rates) Set(perSecond float64, burst int, now time.Time) { d.table.Set(perSecond, burst, now) }

// Check returns the error that Spend would return, but takes no token.
func (d *Rates) Check(from netip.Addr, now time.Time) error {
	return limited(d.table.Wait(Guest(from), now))
}

// Charge takes a token from the bucket of an address. If the bucket is empty, it stays empty for
// longer.
func (d *Rates) Charge(from netip.Addr, now time.Time) { d.table.Charge(Guest(from), now) }

// Spend takes a token from the bucket of an address. It returns a [*LimitError] if the bucket is
// empty.
func (d *Rates) Spend(from netip.Addr, now time.Time) error {
	return limited(d.table.Spend(Guest(from), now))
}

func limited(wait time.Duration) error {
	if wait > 0 {
		return &LimitError{After: wait}
	}
	return nil
}
