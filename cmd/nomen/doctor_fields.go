package main

import (
	"context"
	"net"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/health"
)

// doctor sends these values in header fields that only trusted proxies may set. The address is
// reserved for documentation (RFC 5737), and the name is reserved for tests (RFC 6761).
const (
	claimedAddress = "203.0.113.77"
	claimedHost    = "doctor.invalid"
)

// A seenClient is the client address and the host that the server has determined for a request of
// doctor.
type seenClient struct {
	from netip.Addr // invalid if the server does not know it
	host string
	ours netip.Addr // the address from which doctor sent the request
}

// checkFields checks whether the server knows the addresses of its clients and the requested host.
// It sends a request without the header fields of proxies, and another request with forged fields.
func (d *doctor) checkFields(ctx context.Context, p publicURL) {
	const check = "client address"
	plain, ok := p.seen(ctx)
	if !ok {
		return // an older server, or no response: reported before
	}
	before := len(d.all)
	d.compareAddress(check, plain)
	d.compareHost(ctx, p, plain)
	if !d.isTrusted(plain.ours) { // a trusted proxy may set these fields
		claimed, ok := p.seen(ctx, "Forwarded", "for="+claimedAddress+";host="+claimedHost, "X-Forwarded-For", claimedAddress, "X-Forwarded-Host", claimedHost)
		if ok {
			d.compareClaims(check, plain, claimed)
		}
	}
	if len(d.all) == before {
		d.ok(check, "the server sees the address %s", plain.from)
	}
}

func (d *doctor) compareAddress(check string, c seenClient) {
	const next = "name the address of the proxy in trusted-proxy, and let the proxy send X-Forwarded-For"
	switch {
	case !c.from.IsValid():
		d.problem(check, "let the proxy set X-Forwarded-For or Forwarded, and remove the other", "all clients are anonymous: two fields give different addresses")
	case c.from == c.ours:
	case isOurs(c.from):
		d.problem(check, next, "the server takes a proxy for the client: requests from %s seem to come from %s, so that all clients share one limit", c.ours, c.from)
	default:
		d.warning(check, "if this is the address of a proxy, "+next, "requests from %s seem to come from %s", c.ours, c.from)
	}
}

// compareHost compares the host that the server sees with the host of the public URL. If no
// authority has a host, it is also correct if the server sees its own address as the host.
func (d *doctor) compareHost(ctx context.Context, p publicURL, c seenClient) {
	got := hostOnly(c.host)
	_, err := netip.ParseAddr(got)
	named := err != nil && got != "localhost"
	if strings.EqualFold(got, p.Hostname()) || !named && len(d.hosts(ctx)) == 0 {
		return
	}
	d.warning("proxy", "let the proxy pass on the Host field or send X-Forwarded-Host (nginx: proxy_set_header Host $host; Apache: ProxyPreserveHost On)", "requests for the host %s arrive for the host %s", p.Hostname(), c.host)
}

func (d *doctor) compareClaims(check string, plain, claimed seenClient) {
	const next = "let the proxy replace X-Forwarded-For and X-Forwarded-Host, and remove Forwarded"
	switch {
	case claimed.from == netip.MustParseAddr(claimedAddress):
		d.problem(check, next, "clients can choose the address that the server sees, by the fields Forwarded or X-Forwarded-For")
	case !claimed.from.IsValid() && plain.from.IsValid():
		d.problem(check, next, "clients that send the fields Forwarded or X-Forwarded-For are anonymous")
	}
	if claimed.host == claimedHost {
		d.problem(check, next, "clients can choose the host that the server sees, by the fields Forwarded or X-Forwarded-Host")
	}
}

func (d *doctor) isTrusted(a netip.Addr) bool {
	trusted, _ := d.flags.proxies() // reported with the configuration
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (p publicURL) seen(ctx context.Context, fields ...string) (c seenClient, ok bool) {
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		c.ours = addressOf(i.Conn.LocalAddr())
	}})
	resp, _, err := p.get(traced, readyPath, fields...)
	if err != nil {
		return c, false
	}
	c.from, c.host, ok = health.ParseClient(resp.Header.Get(health.ClientHeader))
	return c, ok
}

func isOurs(a netip.Addr) bool {
	all, _ := net.InterfaceAddrs()
	return a.IsLoopback() || slices.ContainsFunc(all, func(of net.Addr) bool { return addressOf(of) == a })
}

// addressOf returns the IP address of a connection or a network interface, without port and zone.
func addressOf(a net.Addr) netip.Addr {
	if ap, err := netip.ParseAddrPort(a.String()); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	p, _ := netip.ParsePrefix(a.String())
	return p.Addr().Unmap()
}

func hostOnly(field string) string {
	if host, _, err := net.SplitHostPort(field); err == nil {
		return host
	}
	return strings.Trim(field, "[]")
}
