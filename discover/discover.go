package discover

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/race"
)

// Port is the TCP port of resolvers in the protocol of 1995 (3.2). No port has been assigned.
const Port = 4500

const maxAddresses = 16

// DNS looks up addresses; [net.Resolver] implements it.
type DNS interface {
	// LookupNetIP returns the addresses of host. The network is "ip", which means IPv4 and IPv6.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Addresses looks up the addresses of a fully qualified domain name. It returns at most
// [maxAddresses], without duplicates. If fqdn is itself an address, Addresses returns it. Addresses
// returns the error of dns, or an error that says that the name has no address.
//
// IPv4 and IPv6 addresses alternate, beginning with the family of the first address (RFC 8305,
// section 4). So a client that tries the addresses in order soon finds a family that works. Within
// a family they keep the order of dns. A search list of the local machine is never used.
func Addresses(ctx context.Context, dns DNS, fqdn string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(fqdn); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	return lookup(ctx, dns, strings.TrimSuffix(fqdn, ".")+".")
}

// HostAddresses is like [Addresses], for a host that a user has typed. The search list of the local
// machine may complete it.
func HostAddresses(ctx context.Context, dns DNS, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	return lookup(ctx, dns, host)
}

func lookup(ctx context.Context, dns DNS, host string) ([]netip.Addr, error) {
	addrs, err := race.Lookup(ctx, dns, host, maxAddresses)
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	return addrs, nil
}

func hostPort(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
