package server

import (
	"net/netip"
	"strings"

	"github.com/nomen-project/nomen/store"
)

// A hostOwner says whose a host is. A DNS name that is not ours may have been made to
// point here by a stranger (DNS rebinding); an address is nobody's to redirect.
type hostOwner uint8

const (
	hostOther   hostOwner = iota // a name of neither this server nor an authority here
	hostUnknown                  // none, or an address not known here: behind NAT or a load balancer it may be this server's
	hostOurs                     // this server's, an authority's, loopback, or the address at which the request arrived
)

// hostOwner returns whose a host is, as a Host field, an absolute target or an Origin
// has it: with or without a port. local is the address at which the request arrived.
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

// isLoopback reports whether a canonical host is this machine, seen from itself.
func isLoopback(h string) bool {
	ip, err := netip.ParseAddr(strings.Trim(h, "[]"))
	return h == "localhost" || strings.HasSuffix(h, ".localhost") || err == nil && ip.IsLoopback()
}
