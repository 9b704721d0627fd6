// Package discover finds the server that resolves a name. Other packages look up
// only addresses in DNS.
//
// A [Finder] yields the ways to resolve a name. The caller tries them in order until one works.
// The ways come from these sources:
//
//  1. the user's own table;
//  2. the host of a urn:dns name;
//  3. rules in DNS;
//  4. known public resolvers;
//  5. a default resolver.
//
// # Specifications
//
//   - draft-ietf-uri-yaurn-00, 2.2.1 and 3.2: the AuthorityID of a urn:dns name is a fully
//     qualified domain name. The resolver is reachable at one port of every address to which
//     that name resolves. Nothing is inferred from the structure of the domain (Y95-11,
//     Y95-23, Y95-26, Y95-29).
//   - RFC 3401 to 3404, DDDS: rules in NAPTR records, for names of all namespaces
//     (NID.urn.arpa) and schemes (SCHEME.uri.arpa). Records in the form of RFC
//     2168 and RFC 2915 are supported too.
//   - RFC 2782: which of several servers of one service to try first.
//
// # Departures
//
// A rule contains a regular expression. An expression that POSIX leaves undefined is an error.
// If an expression has several longest matches, the first match in the order of the alternatives
// is used; in rare cases POSIX chooses another match. Additional records in a response are not
// used, as RFC 3403, 4.2.2 permits.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
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

// HostAddresses is like [Addresses] for a host that a user has entered: the name
// may be relative to the local search list.
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
