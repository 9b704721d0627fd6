package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// A Policy says for which clients this server asks other servers.
type Policy string

// The policies for asking other servers.
const (
	Off Policy = "off" // no client
	Own Policy = "own" // own users, which are recognised by their addresses
	All Policy = "all" // all clients, with limits
)

func parsePolicy(s string) (Policy, error) {
	switch p := Policy(s); p {
	case "":
		return Off, nil
	case Off, Own, All:
		return p, nil
	}
	return Off, fmt.Errorf("gateway: invalid policy %q: must be off, own or all", s)
}

// Access configures an [AccessControl]. A number of zero means the default.
type Access struct {
	Policy Policy         // "" means Off
	Own    []netip.Prefix // addresses of own users; own users have no rate limit

	Rate      float64 // requests per second of a client that is not an own user; default 5
	Burst     int     // requests in a burst of a client that is not an own user; default 20
	Total     int     // concurrent requests of all clients; default 64. One own user may have three quarters of them, any other client one quarter
	Addresses int     // maximum number of clients with a rate limit of their own; all other clients share one; default 10,000

	Now func() time.Time // the clock; nil for [time.Now]
}

var errDenied = errors.New("gateway: permitted only for own users")

// A LimitError reports that one client, or all clients together, exceed a limit.
type LimitError struct {
	After time.Duration // how long the client should wait before trying again
	Full  bool          // all clients together exceed a limit: the server is busy
}

// Status returns the status of the response: 429 if the client exceeds its own limits, and 503 if
// the server is busy with requests of other clients.
func (e *LimitError) Status() int {
	if e.Full {
		return http.StatusServiceUnavailable
	}
	return http.StatusTooManyRequests
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("gateway: too many requests: retry in %s", e.After.Round(time.Millisecond))
}

// An AccessControl decides which clients are permitted, and limits their requests. It is
// safe for concurrent use. A nil AccessControl permits no client.
type AccessControl struct {
	a     Access
	under *Turns // concurrent requests of permitted clients

	rates *Rates
}

// NewAccessControl returns an access control, or an error if the options are invalid.
func NewAccessControl(a Access) (*AccessControl, error) {
	p, err := parsePolicy(string(a.Policy))
	if err != nil {
		return nil, err
	}
	a.Policy = p
	if p == Own && len(a.Own) == 0 {
		return nil, errors.New("gateway: the policy own needs the addresses of own users")
	}
	own := make([]netip.Prefix, len(a.Own))
	for i, prefix := range a.Own {
		if own[i], err = plainPrefix(prefix); err != nil {
			return nil, err
		}
	}
	a.Own = own
	if a.Rate < 0 || a.Burst < 0 || a.Total < 0 || a.Addresses < 0 {
		return nil, errors.New("gateway: limits must not be negative")
	}
	a.Rate, a.Burst = cmp.Or(a.Rate, 5), cmp.Or(a.Burst, 20)
	a.Total, a.Addresses = cmp.Or(a.Total, 64), cmp.Or(a.Addresses, 10_000)
	if a.Now == nil {
		a.Now = time.Now
	}
	return &AccessControl{
		a: a, under: NewTurns(a.Total, max(a.Total/4, 1)), rates: NewRates(a.Rate, a.Burst, a.Addresses),
	}, nil
}

// ipv4Bits is how many bits precede the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291,
// 2.5.5.2).
const ipv4Bits = 96

// plainPrefix converts a prefix of IPv4-mapped addresses to an IPv4 prefix. It returns other
// prefixes unchanged.
func plainPrefix(p netip.Prefix) (netip.Prefix, error) {
	switch {
	case !p.IsValid():
		return p, errors.New("gateway: invalid prefix of addresses")
	case !p.Addr().Is4In6():
		return p.Masked(), nil
	case p.Bits() < ipv4Bits:
		return p, fmt.Errorf("gateway: invalid prefix %s: it has addresses other than IPv4-mapped ones", p)
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-ipv4Bits).Masked(), nil
}

// Policy returns the policy.
func (d *AccessControl) Policy() Policy {
	if d == nil {
		return Off
	}
	return d.a.Policy
}

// Admits reports whether a client is permitted, without checking limits. A nil client counts as a
// client from outside.
func (d *AccessControl) Admits(a *Client) bool {
	switch d.Policy() {
	case All:
		return true
	case Own:
		return d.isOwn(a)
	}
	return false
}

// isOwn reports whether a client is an own user. This requires an address in Access.Own, and that
// no other site has made the user's browser send the request.
func (d *AccessControl) isOwn(a *Client) bool {
	if a == nil || a.Misled != "" {
		return false
	}
	from := a.Addr.Unmap().WithZone("")
	return slices.ContainsFunc(d.a.Own, func(p netip.Prefix) bool { return p.Contains(from) })
}

// enter counts a request until the caller calls leave. The error is errDenied or a [*LimitError].
func (d *AccessControl) enter(a *Client) (leave func(), err error) {
	if !d.Admits(a) {
		return nil, errDenied
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

// Guest returns the address under which the requests of a client are counted. For IPv6, this is the
// address of the /64 network, because a client can choose any address in its network.
func Guest(from netip.Addr) netip.Addr {
	const link = 64
	from = from.Unmap().WithZone("")
	if from.Is6() {
		p, _ := from.Prefix(link) // no error for an IPv6 address
		return p.Addr()
	}
	return from
}

// A Client describes the client of one request on whose behalf other servers are asked.
type Client struct {
	Addr netip.Addr // address from which the request came; zero if unknown

	// Misled is "" if the user intended the request. Otherwise Misled says why another site may
	// have made the user's browser send the request, in order to learn something from the response.
	// Such a client does not count as an own user, whatever its address.
	Misled string

	Many  bool            // many clients share the address, for example the address of a trusted proxy; see Turns.TakeFor
	Until time.Time       // until when other servers may be asked; if zero, for AskTimeout from the beginning of asking
	Gone  context.Context // ends when the client disconnects; nil if unknown
	Grace time.Duration   // how long other servers are still asked after the client has disconnected

	entered atomic.Bool // the client was permitted as an own user
}

// Entered reports whether the client was permitted as an own user. If so, caches must not give the
// response to other clients.
func (a *Client) Entered() bool { return a != nil && a.entered.Load() }

func (a *Client) addr() netip.Addr {
	if a == nil {
		return netip.Addr{}
	}
	return a.Addr
}

func (a *Client) misled() string {
	if a == nil {
		return ""
	}
	return a.Misled
}

type clientKey struct{}

// WithClient returns a context that carries the client of a request.
func WithClient(ctx context.Context, a *Client) context.Context {
	return context.WithValue(ctx, clientKey{}, a)
}

// ClientOf returns the client in ctx, or nil (see [WithClient]).
func ClientOf(ctx context.Context) *Client {
	a, _ := ctx.Value(clientKey{}).(*Client)
	return a
}
