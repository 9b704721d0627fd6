package race

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
)

// A Resolver looks up addresses. [net.Resolver] implements it.
type Resolver interface {
	// LookupNetIP returns the addresses of a host. The network is "ip", which means IPv4 and IPv6.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Lookup looks up a host, and returns a limited number of its addresses without duplicates. IPv6
// and IPv4 alternate, beginning with the family of the first address (RFC 8305, 4). If the host has
// no addresses, Lookup returns an error.
func Lookup(ctx context.Context, dns Resolver, host string, most int) ([]netip.Addr, error) {
	found, err := dns.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	seen := make(map[netip.Addr]bool, len(found))
	var first, second []netip.Addr // addresses of the family of the first address, and of the other family
	for _, a := range found {
		a = a.Unmap()
		switch {
		case !a.IsValid() || seen[a]:
			continue
		case len(first) == 0 || a.Is4() == first[0].Is4():
			first = append(first, a)
		default:
			second = append(second, a)
		}
		seen[a] = true
	}
	addrs := interleave(first, second, most)
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%s has no address", strings.TrimSuffix(host, "."))
	}
	return addrs, nil
}

// interleave returns at most n addresses, alternately from both lists. When one list ends, the rest
// comes from the other list.
func interleave(a, b []netip.Addr, n int) []netip.Addr {
	all := make([]netip.Addr, 0, min(len(a)+len(b), n))
	for i := 0; len(all) < cap(all); i++ {
		for _, family := range [][]netip.Addr{a, b} {
			if i < len(family) && len(all) < cap(all) {
				all = append(all, family[i])
			}
		}
	}
	return all
}
