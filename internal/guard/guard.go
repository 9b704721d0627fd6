// Package guard protects programs that connect to hosts on behalf of untrusted users. It rejects
// addresses that these users cannot reach themselves: those of the machine, those of private
// networks, and all others that do not belong to a single host of the public Internet.
//
// Programs must check the address after the DNS lookup, and connect to the address that was
// checked. Otherwise, a different answer to a second DNS query could bypass the check.
//
// Package guard rejects the blocks that the IANA special-purpose address registries (RFC 6890 and
// its updates) list as not globally reachable, and multicast (RFC 5771; RFC 4291, 2.7). If an IPv6
// address embeds an IPv4 address, it checks the IPv4 address too. It knows IPv4-mapped addresses
// (RFC 4291, 2.5.5.2), NAT64 (RFC 6052), 6to4 (RFC 3056) and ISATAP (RFC 5214). It rejects all
// other IPv6 addresses outside 2000::/3.
package guard

import (
	"fmt"
	"net/netip"
)

// An AddressError says why an address is not public.
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

// objection returns why an address is not public, or "" if it is public.
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

// embedded returns the IPv4 address that is embedded in an IPv6 address. The network sends packets
// for the IPv6 address to the IPv4 address.
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
