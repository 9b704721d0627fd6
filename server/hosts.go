package server

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/store"
)

// A hostOwner says to whom a host belongs. An attacker can make an unknown host name point to this
// server (DNS rebinding), but not an address.
type hostOwner uint8

const (
	hostOther   hostOwner = iota // the host is a name that belongs neither to this server nor to an authority
	hostUnknown                  // there is no host, or the host is an address that may belong to this server behind NAT or a load balancer
	hostOurs                     // the host belongs to this server or to an authority, or is a loopback address or the address at which the request arrived
)

// hostOwner returns who owns a host. The host comes from a Host field, an absolute target or an
// Origin, with or without a port. The request arrived at the address local.
func (s *Server) hostOwner(set *store.AuthoritySet, host string, local netip.Addr) hostOwner {
	h := store.CanonicalHost(host)
	ip, err := netip.ParseAddr(strings.Trim(h, "[]"))
	switch {
	case h == "":
		return hostUnknown
	case h == s.publicHost, s.hosts[h], store.IsLoopbackHost(h), set.Host(host) != nil, err == nil && ip.Unmap() == local:
		return hostOurs
	case err == nil:
		return hostUnknown
	}
	return hostOther
}

// isOwnOrigin reports whether an origin is an origin of this server. The parameter host, which must
// be a host of this server, can have a port. The scheme and port of the connection and of the
// public URL are accepted. For a host other than the host of the public URL, the default port of a
// scheme is accepted too, because a proxy may map that port to the listener. For the host of an
// authority, defaultPort is accepted too (draft of 1995, 3.2: Y95-29).
func (p requestContext) isOwnOrigin(scheme, host string) bool {
	connection := "http"
	if p.secure {
		connection = "https"
	}
	public, publicHost, _ := strings.Cut(p.own.publicOrigin, "://")
	port := effectivePort(scheme, host)
	mapped := port == effectivePort(scheme, "") && store.CanonicalHost(host) != p.own.publicHost
	switch {
	case p.anyOrigin:
		return true
	case scheme == public && (mapped || port == effectivePort(public, publicHost)):
		return true
	case scheme != connection:
		return false
	}
	return mapped || port == strconv.Itoa(int(p.local.Port())) || port == strconv.Itoa(defaultPort) && p.set.Host(host) != nil
}

func effectivePort(scheme, host string) string {
	switch port := portOf(host); {
	case port != "":
		return port
	case scheme == "https":
		return "443"
	}
	return "80"
}

func portOf(host string) string {
	if !hasPort(host) {
		return ""
	}
	port := host[strings.LastIndexByte(host, ':')+1:]
	return cmp.Or(strings.TrimLeft(port, "0"), port[:min(len(port), 1)])
}
