package server

import (
	"net/netip"
	"strings"

	"github.com/nomen-project/nomen/store"
)

// A hostOwner tells whose a host is. A host name that is not known here may have been
// made to point to this server by an attacker (DNS rebinding); an address cannot be.
type hostOwner uint8

const (
	hostOther   hostOwner = iota // a name that belongs neither to this server nor to an authority
	hostUnknown                  // no host, or an address that may be this server's, behind NAT or a load balancer
	hostOurs                     // this server's, an authority's, loopback, or the address at which the request arrived
)

// hostOwner returns the owner of the host of a Host field, an absolute target or an
// Origin, with or without a port. local is the address at which the request arrived.
func (s *Server) hostOwner(set *store.AuthoritySet, host string, local netip.Addr) hostOwner {
	h := store.CanonicalHost(host)
	ip, err := netip.ParseAddr(strings.Trim(h, "[]"))
	switch {
	case h == "":
		return hostUnknown
	case h == s.publicHost, s.hosts[h], isLoopback(h), set.Host(host) != nil, err == nil && ip.Unmap() == local:
		return hostOurs
	case err == nil:
		return hostUnknown
	}
	return hostOther
}

// isLoopback reports whether a canonical host is a loopback host.
func isLoopback(h string) bool {
	ip, err := netip.ParseAddr(strings.Trim(h, "[]"))
	return h == "localhost" || strings.HasSuffix(h, ".localhost") || err == nil && ip.IsLoopback()
}
