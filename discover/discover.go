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

// Port is the TCP port of resolvers (1995, 3.2), until one is assigned.
const Port = 4500

// maxAddresses is the maximum number of addresses of one host that are
// considered.
const maxAddresses = 16

// DNS looks up addresses; [net.Resolver] implements it.
type DNS interface {
	// LookupNetIP returns the addresses of host; network is "ip" for both
	// families.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Addresses returns the addresses of a fully qualified domain name, without duplicates, at
// most [maxAddresses]. The address families alternate, beginning with the family of the first
// address (RFC 8305, 4), so a client that tries them in order soon reaches a family that works.
// Within a family the addresses have the order that dns returned. The name is looked up exactly,
// never with a local search list. If fqdn is itself an address, Addresses returns this address.
// The error is the error of dns, or says that the name has no address.
func Addresses(ctx context.Context, dns DNS, fqdn string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(fqdn); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	return lookup(ctx, dns, strings.TrimSuffix(fqdn, ".")+".")
}

// HostAddresses is like [Addresses] for a host that a user has entered: the search list of this
// machine may complete the name.
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
