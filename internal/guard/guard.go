// Package guard protects programs that connect to hosts on behalf of untrusted users. It
// rejects addresses that these users cannot reach themselves: addresses of the machine, of
// private networks, and all others that do not belong to a single host of the public Internet.
//
// The check must be made after the DNS lookup, for the address to which the program then
// connects, so that a second DNS answer cannot bypass it.
//
// It rejects the blocks that the IANA special-purpose address registries (RFC 6890 and its
// updates) list as not globally reachable, and multicast (RFC 5771; RFC 4291, 2.7). If an IPv6
// address embeds an IPv4 address, the IPv4 address is checked as well. The supported forms are
// IPv4-mapped (RFC 4291, 2.5.5.2), NAT64 (RFC 6052), 6to4 (RFC 3056) and ISATAP (RFC 5214).
// Everything else outside 2000::/3 is rejected.
package guard

import (
	"fmt"
	"net/netip"
)

// An AddressError reports an address that is not public.
type AddressError struct {
	Addr netip.Addr
	Why  string // "loopback", "private network", ...
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("guard: %s is not a public address: %s", e.Addr, e.Why)
}

// Check returns an [*AddressError] unless a is a public unicast address.
func Check(a netip.Addr) error {
	if why := objection(a); why != "" {
		return &AddressError{Addr: a, Why: why}
	}
	return nil
}

// objection returns why a is not public, or "".
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

// embedded returns the IPv4 address embedded in an IPv6 address, to which the network sends the
// packets for that IPv6 address.
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
