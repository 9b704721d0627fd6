package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/internal/race"
)

// exchange sends m to the addresses of e until one answers, each a while after
// the one before (Y95-24). What counts as no answer: a refusal to connect, silence,
// an answer cut off or garbled, and the statuses that say "not now".
func (c *Client) exchange(ctx context.Context, e endpoint, m message) (*reply, error) {
	request, err := m.bytes()
	if err != nil {
		return nil, err
	}
	leave, err := c.hosts.enter(ctx, e.host)
	if err != nil {
		return nil, err
	}
	defer leave()
	addrs := c.inTurn(e.addrs)
	runners := make([]race.Runner[*reply], len(addrs))
	for i, a := range addrs {
		ap := netip.AddrPortFrom(a, e.port)
		runners[i] = func(ctx context.Context) (*reply, error) {
			c.tracef("%s at %s, unencrypted: %s", e.host, ap, m.line())
			r, err := c.attempt(ctx, ap, e.guarded, request)
			switch {
			case err == nil:
				c.tracef("%s: %s", ap, r)
			case ctx.Err() == nil:
				c.tracef("%s: %v", ap, err)
			}
			return r, err
		}
	}
	r, errs := race.Run(ctx, c.o.Stagger, runners, isTooLarge, func(*reply) {})
	switch {
	case r != nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isTooLarge(errs[0]):
		return nil, errs[0]
	}
	failed := &UnreachableError{Host: hostPort(e.host, e.port)}
	for i, err := range errs {
		failed.Tried = append(failed.Tried, Attempt{netip.AddrPortFrom(addrs[i], e.port), err})
	}
	return nil, failed
}

// isTooLarge reports whether an answer was larger than allowed: no other address
// is asked for the same.
func isTooLarge(err error) bool {
	var e *SizeError
	return errors.As(err, &e)
}

// inTurn returns the addresses in the order in which to try them: by turns of the
// two families, the one that the system prefers first (RFC 8305, 4), in each by
// chance, so that the load is shared and none is pinned (1995, 6A: Y95-26).
func (c *Client) inTurn(addrs []netip.Addr) []netip.Addr {
	var families [2][]netip.Addr
	for _, a := range addrs {
		i := 0
		if a.Is4() != addrs[0].Is4() {
			i = 1
		}
		families[i] = append(families[i], a)
	}
	for _, f := range families {
		c.shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
	}
	turns := make([]netip.Addr, 0, len(addrs))
	for i := range addrs {
		for _, f := range families {
			if i < len(f) {
				turns = append(turns, f[i])
			}
		}
	}
	return turns
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
	if err := r.notNow(c.o.Now()); err != nil {
		return nil, err
	}
	if r.endsInURL() {
		return nil, fmt.Errorf("answer cut off within a URL: %w", io.ErrUnexpectedEOF)
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
