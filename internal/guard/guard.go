// Package guard protects programs that connect to hosts on behalf of strangers. It rejects
// addresses that such a stranger could not reach directly, such as the addresses of the local
// machine and of private networks. Only addresses of single hosts in the public Internet are
// accepted.
//
// A program must check the address after the DNS lookup, and connect to the address that was
// checked. Otherwise a second DNS query could return a different address.
//
// The package rejects the blocks that the IANA special-purpose address registries (RFC 6890 and its
// updates) list as not globally reachable, multicast (RFC 5771; RFC 4291, 2.7), and IPv6 addresses
// outside 2000::/3. If an IPv6 address embeds an IPv4 address, the IPv4 address is checked too.
// This applies to IPv4-mapped addresses (RFC 4291, 2.5.5.2), NAT64 (RFC 6052), 6to4 (RFC 3056) and
// ISATAP (RFC 5214).
package guard

import (
	"fmt"
	"net/netip"
)

// An AddressError means that an address is not public.
type AddressError struct {
	Addr netip.Addr
	Why  string // such as "loopback" or "private network"
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("guard: %s is not a public address: %s", e.Addr, e.Why)
}

// Check returns an [*AddressError] unless the address is a public unicast address.
func Check(a netip.Addr) error {
	if why := objection(a); why != "" {
		return &AddressError{Addr: a, Why: why}
	}
	return nil
}

func objection(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "no address"
	case a.Zone() != "":
		return "of one link"
	}
	if a = a.Unmap(); a.Is4() {
		return find(blocks4[:], a)
	}
	if why := find(blocks6[:], a); why != "" {
		return why
	}
	if inner, ok := embedded(a); ok {
		if why := find(blocks4[:], inner); why != "" {
			return "it carries " + inner.String() + ": " + why
		}
		return ""
	}
	if !global.Contains(a) {
		return "no global unicast address"
	}
	return ""
}

// embedded returns the IPv4 address that an IPv6 address embeds. The network may forward packets
// for such an IPv6 address to the IPv4 address.
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe && global.Contains(a): // ISATAP
		return netip.AddrFrom4([4]byte(b[12:])), true
	}
	return netip.Addr{}, false
}
