package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/nomen-project/nomen/internal/guard"
)

// exchange sends m to the addresses of e in turn until one answers (Y95-24).
// What counts as no answer: a refusal to connect, silence, an answer cut off
// or garbled, and a status of 5xx.
func (c *Client) exchange(ctx context.Context, e endpoint, m message) (*reply, error) {
	request, err := m.bytes()
	if err != nil {
		return nil, err
	}
	failed := &UnreachableError{Host: hostPort(e.host, e.port)}
	for _, a := range c.inTurn(e.addrs) {
		ap := netip.AddrPortFrom(a, e.port)
		c.tracef("%s at %s, unencrypted: %s", e.host, ap, m.line())
		r, err := c.attempt(ctx, ap, e.guarded, request)
		if err == nil {
			c.tracef("%s: %s", ap, r)
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e := (*SizeError)(nil); errors.As(err, &e) {
			return nil, err
		}
		c.tracef("%s: %v", ap, err)
		failed.Tried = append(failed.Tried, Attempt{ap, err})
	}
	return nil, failed
}

// inTurn returns the addresses in the order in which to try them: the family
// that the system prefers first, in each by chance, so that the load is shared
// and none is pinned (1995, 6A: Y95-26).
func (c *Client) inTurn(addrs []netip.Addr) []netip.Addr {
	first, second := []netip.Addr(nil), []netip.Addr(nil)
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			first = append(first, a)
		} else {
			second = append(second, a)
		}
	}
	for _, family := range [][]netip.Addr{first, second} {
		c.shuffle(len(family), func(i, j int) { family[i], family[j] = family[j], family[i] })
	}
	return slices.Concat(first, second)
}

// attempt asks at one address.
func (c *Client) attempt(ctx context.Context, ap netip.AddrPort, guarded bool, request []byte) (*reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, fmt.Errorf("no answer within %v: %w", c.o.Timeout, context.DeadlineExceeded))
	defer cancel()
	r, err := c.talk(ctx, ap, guarded, request)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, err
}

func (c *Client) talk(ctx context.Context, ap netip.AddrPort, guarded bool, request []byte) (*reply, error) {
	conn, err := c.dial(ctx, ap, guarded)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	r, err := readReply(conn, c.o.MaxBody)
	if err != nil {
		return nil, err
	}
	if r.status >= http.StatusInternalServerError {
		return nil, &StatusError{Code: r.status, Reason: r.reason}
	}
	r.public = public(ap.Addr())
	return r, nil
}

// dial connects to an address after DNS, so that what was checked is what is
// connected to.
func (c *Client) dial(ctx context.Context, ap netip.AddrPort, guarded bool) (net.Conn, error) {
	if guarded {
		if err := guard.Check(ap.Addr()); err != nil {
			return nil, err
		}
	}
	return c.o.DialContext(ctx, "tcp", ap.String())
}
