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
// addresses have their own bucket; all other addresses share one.
func NewRates(perSecond float64, burst, addresses int) *Rates {
	return &Rates{rates.New[netip.Addr](perSecond, burst, addresses)}
}

// Set changes the rate and the size of bursts. What clients have used before still counts.
func (d *Rates) Set(perSecond float64, burst int, now time.Time) { d.table.Set(perSecond, burst, now) }

// Spend takes a token from the bucket of an address. If the bucket is empty, the error is a
// [*LimitError].
func (d *Rates) Spend(from netip.Addr, now time.Time) error {
	if wait := d.table.Spend(Guest(from), now); wait > 0 {
		return &LimitError{After: wait}
	}
	return nil
}
