package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/internal/race"
	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
)

// A policy restricts the addresses to which the client may connect.
type policy struct {
	guarded bool           // only public addresses
	own     netip.AddrPort // an address that is always allowed
	use     func(netip.AddrPort)
}

func (p policy) check(ap netip.AddrPort) error {
	if !p.guarded || ap == p.own {
		return nil
	}
	return guard.Check(ap.Addr())
}

func (j *retrieval) policy() policy {
	if j.fetcher.o.AllowPrivate {
		return policy{}
	}
	if j.hop.trusted {
		return policy{use: func(ap netip.AddrPort) {
			if !j.own.IsValid() {
				j.own = ap
			}
		}}
	}
	return policy{guarded: true, own: j.own}
}

// dial connects to a host. It tries the addresses in order, and starts the next attempt if an
// address is slow to answer. The first connection that succeeds is used. Addresses are checked
// against the policy after the DNS lookup.
func (f *Fetcher) dial(ctx context.Context, host, port string, p policy) (net.Conn, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("invalid port %q: must be 1 to 65535", port)
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	addrs, err := f.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var allowed []netip.AddrPort
	var refused error
	for _, a := range addrs {
		ap := netip.AddrPortFrom(a, uint16(n))
		if err := p.check(ap); err != nil {
			refused = firstOf(refused, err)
			continue
		}
		allowed = append(allowed, ap)
	}
	if allowed == nil {
		return nil, &RefusedError{URL: net.JoinHostPort(host, port), Why: refused.Error(), Err: refused}
	}
	conn, errs := race.Dial(ctx, race.Stagger, allowed, func(ctx context.Context, ap netip.AddrPort) (net.Conn, error) {
		f.tracef("connecting to %s at %s", host, ap)
		return f.dialAddress(ctx, ap)
	})
	if conn == nil {
		return nil, errors.Join(errs...)
	}
	if p.use != nil {
		p.use(conn.(*peerConn).address)
	}
	return conn, nil
}

func (f *Fetcher) dialAddress(ctx context.Context, ap netip.AddrPort) (net.Conn, error) {
	conn, err := f.o.Dial(ctx, "tcp", ap.String())
	if err != nil {
		return nil, err
	}
	return &peerConn{conn, ap}, nil
}

// lookup returns the addresses of a host. As in browsers, a host that is a number is an IPv4
// address, in any notation.
func (f *Fetcher) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	ascii, err := toASCII(host)
	if err != nil {
		return nil, err
	}
	if a, ok := uri.ParseNumericHost(strings.TrimSuffix(ascii, ".")); ok {
		return []netip.Addr{a}, nil
	}
	return discover.HostAddresses(ctx, f.o.DNS, ascii)
}

// toASCII returns a host name in the form that DNS uses (RFC 5891, UTS 46).
func toASCII(host string) (string, error) {
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host, nil
	}
	ascii, err := iri.ASCIIDomain(host)
	if err != nil {
		return "", fmt.Errorf("host %q: %w", host, err)
	}
	return ascii, nil
}

type peerConn struct {
	net.Conn
	address netip.AddrPort
}

func (c *peerConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.address) }

// connect connects to a host. When ctx ends, reads and writes on the connection fail.
func (j *retrieval) connect(ctx context.Context, host, port string) (net.Conn, error) {
	conn, err := j.fetcher.dial(ctx, host, port, j.policy())
	if err != nil {
		return nil, j.failed(err)
	}
	return bindTo(ctx, conn), nil
}

func bindTo(ctx context.Context, conn net.Conn) net.Conn {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return &boundConn{conn, stop}
}

type boundConn struct {
	net.Conn
	stop func() bool
}

func (c *boundConn) Close() error {
	c.stop()
	return c.Conn.Close()
}
