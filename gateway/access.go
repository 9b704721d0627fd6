package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// A Policy says for whom a door is open.
type Policy string

// The policies.
const (
	Off Policy = "off" // nobody
	Own Policy = "own" // own users, by their addresses
	All Policy = "all" // everybody, with limits
)

// ParsePolicy reads a policy; "" is Off.
func ParsePolicy(s string) (Policy, error) {
	switch p := Policy(s); p {
	case "":
		return Off, nil
	case Off, Own, All:
		return p, nil
	}
	return Off, fmt.Errorf("gateway: %q is no policy: want off, own or all", s)
}

// Access configures a [Door]. A zero number is the default.
type Access struct {
	Policy Policy         // "" is Off
	Own    []netip.Prefix // addresses of own users, who have no limit a second

	Rate      float64 // requests of one stranger a second; 5
	Burst     int     // how many of them may come at once; 20
	Total     int     // requests under way at once, of all; 64, a quarter of them of one stranger, three quarters of one own user
	Addresses int     // strangers that are told apart; the rest share one limit; 10,000

	Now func() time.Time // the clock; nil for [time.Now]
}

// ErrDenied is returned for somebody for whom a door is not open.
var ErrDenied = errors.New("gateway: this is for own users only")

// A LimitError is returned to a client that asks too much, or when too many ask.
type LimitError struct {
	After time.Duration // when to come again
	Full  bool          // the server is busy with the requests of others
}

// Status returns the status with which a server answers: 503 if it is busy with requests
// of others, 429 if this client asks too much.
func (e *LimitError) Status() int {
	if e.Full {
		return http.StatusServiceUnavailable
	}
	return http.StatusTooManyRequests
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("gateway: too many requests: the next one in %s", e.After.Round(time.Millisecond))
}

// A Door lets some in, and bounds how many. It is safe for concurrent use. The nil
// Door is shut.
type Door struct {
	a     Access
	under *Turns // of requests under way

	rates *Rates
}

// NewDoor returns a door. The error says what is wrong with the access.
func NewDoor(a Access) (*Door, error) {
	p, err := ParsePolicy(string(a.Policy))
	if err != nil {
		return nil, err
	}
	a.Policy = p
	if p == Own && len(a.Own) == 0 {
		return nil, errors.New("gateway: it is for own users only, and nobody says which addresses they have")
	}
	own := make([]netip.Prefix, len(a.Own))
	for i, prefix := range a.Own {
		if own[i], err = plainPrefix(prefix); err != nil {
			return nil, err
		}
	}
	a.Own = own
	if a.Rate < 0 || a.Burst < 0 || a.Total < 0 || a.Addresses < 0 {
		return nil, errors.New("gateway: a limit below zero")
	}
	a.Rate, a.Burst = cmp.Or(a.Rate, 5), cmp.Or(a.Burst, 20)
	a.Total, a.Addresses = cmp.Or(a.Total, 64), cmp.Or(a.Addresses, 10_000)
	if a.Now == nil {
		a.Now = time.Now
	}
	return &Door{
		a: a, under: NewTurns(a.Total, max(a.Total/4, 1)), rates: NewRates(a.Rate, a.Burst, a.Addresses),
	}, nil
}

// ipv4Bits is where the IPv4 address begins in an IPv4-mapped one (RFC 4291,
// 2.5.5.2).
const ipv4Bits = 96

// plainPrefix returns a prefix as plain addresses are compared with it.
func plainPrefix(p netip.Prefix) (netip.Prefix, error) {
	switch {
	case !p.IsValid():
		return p, errors.New("gateway: a prefix of addresses that is none")
	case !p.Addr().Is4In6():
		return p.Masked(), nil
	case p.Bits() < ipv4Bits:
		return p, fmt.Errorf("gateway: the prefix %s has more than the IPv4 addresses in it", p)
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-ipv4Bits).Masked(), nil
}

// Policy returns for whom the door is open.
func (d *Door) Policy() Policy {
	if d == nil {
		return Off
	}
	return d.a.Policy
}

// Admits reports whether the door is open for an asker, who may still ask too much.
// The nil asker is a stranger.
func (d *Door) Admits(a *Asker) bool {
	switch d.Policy() {
	case All:
		return true
	case Own:
		return d.isOwn(a)
	}
	return false
}

// isOwn reports whether a is an own user, who asks in person.
func (d *Door) isOwn(a *Asker) bool {
	if a == nil || a.Misled != "" {
		return false
	}
	from := a.Addr.Unmap().WithZone("")
	for _, p := range d.a.Own {
		if p.Contains(from) {
			return true
		}
	}
	return false
}

// Enter lets somebody in, who has to leave. The error is [ErrDenied] or a
// [*LimitError].
func (d *Door) Enter(a *Asker) (leave func(), err error) {
	if !d.Admits(a) {
		return nil, ErrDenied
	}
	if d.a.Policy == Own {
		a.entered.Store(true)
	}
	each := most(d.a.Total)
	if !d.isOwn(a) {
		if err := d.rates.Spend(a.addr(), d.a.Now()); err != nil {
			return nil, err
		}
		each = d.under.each
	}
	return d.under.take(Guest(a.addr()), each, 1)
}

// Guest returns the address for which a stranger is counted: of IPv6 the network
// of one link, in which he may choose.
func Guest(from netip.Addr) netip.Addr {
	const link = 64
	from = from.Unmap().WithZone("")
	if from.Is6() {
		p, _ := from.Prefix(link) // of an IPv6 address there is one
		return p.Addr()
	}
	return from
}

// An Asker is on whose behalf a request asks others. It belongs to one request.
type Asker struct {
	Addr netip.Addr // from which the request came; the zero address if nobody told

	// Misled says why the request does not count as that of an own user, wherever it
	// came from: another site made the user's browser send it, and that site could read
	// the answer or learn from it. Empty for a request that its sender meant.
	Misled string

	Many  bool            // many clients share the address, as that of a trusted proxy: it has no share of its own
	Until time.Time       // when other servers are asked no more; zero for AskTimeout from the asking on
	Gone  context.Context // ends when the client has gone; nil if that is not known
	Grace time.Duration   // for which other servers are still asked then

	entered atomic.Bool // a door for own users let it in
}

// Entered reports whether the asker went through a door that is for own users alone, so
// that the answer is for nobody else.
func (a *Asker) Entered() bool { return a != nil && a.entered.Load() }

func (a *Asker) addr() netip.Addr {
	if a == nil {
		return netip.Addr{}
	}
	return a.Addr
}

func (a *Asker) misled() string {
	if a == nil {
		return ""
	}
	return a.Misled
}

type askerKey struct{}

// WithAsker returns a context of a request on somebody's behalf.
func WithAsker(ctx context.Context, a *Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// AskerOf returns on whose behalf the request of ctx is; nil if nobody told.
func AskerOf(ctx context.Context) *Asker {
	a, _ := ctx.Value(askerKey{}).(*Asker)
	return a
}
