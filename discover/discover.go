// Package discover finds out which server to ask about a name. It is the only
// door to the domain name system.
//
// What stands here is the rule of draft-ietf-uri-yaurn-00, 2.2.1 and 3.2: the
// AuthorityID of a urn:dns name is a fully qualified domain name, the resolver
// is reachable at every address to which that name resolves, at one port, and
// nothing is inferred from the structure of the domain (Y95-11, Y95-23,
// Y95-26, Y95-29).
package discover

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
)

// Port is the TCP port of resolvers (1995, 3.2), until another is assigned.
const Port = 4500

// MaxAddresses bounds how many addresses of one host are considered.
const MaxAddresses = 16

// DNS is what is asked of the domain name system; [net.Resolver] has it.
type DNS interface {
	// LookupNetIP returns the addresses of host; network is "ip" for both
	// families.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Addresses returns the addresses of a fully qualified domain name, each once,
// of both families, in the order in which dns gave them: at most
// [MaxAddresses]. It looks up exactly this name, never one in a local search
// list. The error is that of dns, or says that there is no address.
func Addresses(ctx context.Context, dns DNS, fqdn string) ([]netip.Addr, error) {
	return lookup(ctx, dns, strings.TrimSuffix(fqdn, ".")+".")
}

// HostAddresses is like [Addresses] for a host as people write it: the name may
// be relative to the local search list, and an address stands for itself.
func HostAddresses(ctx context.Context, dns DNS, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	return lookup(ctx, dns, host)
}

func lookup(ctx context.Context, dns DNS, host string) ([]netip.Addr, error) {
	found, err := dns.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	addrs := make([]netip.Addr, 0, min(len(found), MaxAddresses))
	seen := make(map[netip.Addr]bool, len(found))
	for _, a := range found {
		a = a.Unmap()
		if a.IsValid() && !seen[a] && len(addrs) < MaxAddresses {
			seen[a] = true
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("discover: %s has no address", strings.TrimSuffix(host, "."))
	}
	return addrs, nil
}
