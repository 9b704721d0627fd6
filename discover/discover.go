// Package discover finds out which server to ask about a name. It is the only
// door to the domain name system.
//
// A [Finder] yields the ways to a name one after the other: those of the user's
// own table, the host of a urn:dns name, those of rules in DNS, known public
// resolvers, a default. Which of them works is for the caller to find out.
//
// # Specifications
//
//   - draft-ietf-uri-yaurn-00, 2.2.1 and 3.2: the AuthorityID of a urn:dns name is
//     a fully qualified domain name, the resolver is reachable at every address to
//     which that name resolves, at one port, and nothing is inferred from the
//     structure of the domain (Y95-11, Y95-23, Y95-26, Y95-29).
//   - RFC 3401 to 3404, DDDS: rules in NAPTR records, for names of all namespaces
//     (NID.urn.arpa) and schemes (SCHEME.uri.arpa). Records as RFC 2168 and
//     RFC 2915 have them are read too.
//   - RFC 2782: which of several servers of one service is tried first.
//
// # Departures
//
// Expressions of rules that POSIX leaves undefined are refused rather than
// guessed at. Where several groups of one could match the same text, the earlier
// alternative is preferred among the longest matches, which POSIX decides
// otherwise in odd cases. What a server adds to its answers unasked is not used
// (RFC 3403, 4.2.2 allows both).
package discover

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
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

// Addresses returns the addresses of a fully qualified domain name, each once, at
// most [MaxAddresses]. The families alternate, beginning with that of the first
// address (RFC 8305, 4), within a family the order is that of dns: so a client
// that tries one after the other soon notices that a family does not work. It
// looks up exactly this name, never one in a local search
// list. An address, which a table may have in place of a name, stands for itself.
// The error is that of dns, or says that there is no address.
func Addresses(ctx context.Context, dns DNS, fqdn string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(fqdn); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
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
	seen := make(map[netip.Addr]bool, len(found))
	var first, second []netip.Addr // by family
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
	addrs := interleave(first, second, MaxAddresses)
	if len(addrs) == 0 {
		return nil, fmt.Errorf("discover: %s has no address", strings.TrimSuffix(host, "."))
	}
	return addrs, nil
}

// interleave returns at most n addresses, in turn from a and b while both have
// some.
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

func hostPort(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
