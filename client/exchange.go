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

// exchange sends m to the addresses of e until one of them answers. It tries the next address when
// the previous attempt has failed, or has not succeeded within [Options.Stagger] (Y95-24). A
// refused connection, a timeout, a truncated or malformed response, and a status such as 503 do not
// count as answers.
func (c *Client) exchange(ctx context.Context, e endpoint, m message) (*reply, error) {
	m.traced = traced(ctx)
	request, err := m.bytes()
	if err != nil {
		return nil, err
	}
	leave, err := c.hosts.enter(ctx, e.host)
	if err != nil {
		return nil, err
	}
	defer leave()
	aps := c.inTurn(e.addrs, e.port)
	runners := make([]race.Runner[*reply], len(aps))
	for i, ap := range aps {
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
	return nil, unreachable(hostPort(e.host, e.port), aps, errs)
}

func unreachable(host string, aps []netip.AddrPort, errs []error) error {
	failed := &UnreachableError{Host: host}
	for i, err := range errs {
		failed.Tried = append(failed.Tried, Attempt{aps[i], err})
	}
	return failed
}

// isTooLarge reports whether a response exceeded the limit. The other addresses are then not tried.
func isTooLarge(err error) bool { return errors.As(err, new(*SizeError)) }

// inTurn returns the addresses in the order in which to try them. IPv4 and IPv6 alternate,
// beginning with the family that the system prefers (RFC 8305, 4). Within a family the order is
// random, to spread the load (1995, 6A: Y95-26).
func (c *Client) inTurn(addrs []netip.Addr, port uint16) []netip.AddrPort {
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
	turns := make([]netip.AddrPort, 0, len(addrs))
	for i := range addrs {
		for _, f := range families {
			if i < len(f) {
				turns = append(turns, netip.AddrPortFrom(f[i], port))
			}
		}
	}
	return turns
}

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
	hop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer hop()
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
		return nil, fmt.Errorf("response truncated within a URL: %w", io.ErrUnexpectedEOF)
	}
	r.public = public(ap.Addr())
	return r, nil
}

// dial connects to an address that was checked before. It does not accept a host name, because a
// second lookup could return a different address.
func (c *Client) dial(ctx context.Context, ap netip.AddrPort, guarded bool) (net.Conn, error) {
	if guarded {
		if err := guard.Check(ap.Addr()); err != nil {
			return nil, err
		}
	}
	return c.o.DialContext(ctx, "tcp", ap.String())
}
