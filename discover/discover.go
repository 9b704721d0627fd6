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

// Port is the default TCP port of resolvers with the protocol of draft-ietf-uri-yaurn-00 (section
// 3.2). IANA has not assigned a port to this protocol.
const Port = 4500

const maxAddresses = 16

// DNS looks up addresses. [net.Resolver] implements it.
type DNS interface {
	// LookupNetIP returns the addresses of host. The network is "ip", which means IPv4 and IPv6.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Addresses looks up the addresses of a fully qualified domain name. It returns at most 16
// addresses, without duplicates. If fqdn is an IP address, Addresses returns this address. The
// error is the error of dns, or means that the name has no address.
//
// IPv4 and IPv6 addresses alternate, so that a client which tries the addresses in order soon tries
// both families (RFC 8305, section 4). The family of the first address from dns comes first. Within
// a family, the addresses have the order of dns. The search list of the local machine is not used.
func Addresses(ctx context.Context, dns DNS, fqdn string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(fqdn); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	return lookup(ctx, dns, strings.TrimSuffix(fqdn, ".")+".")
}

// HostAddresses is like [Addresses], for a host that a user has typed. The host is looked up with
// the search list of the local machine, if dns uses that list.
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
