package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// A client is who asks, as a trusted proxy tells, or as the connection does.
type client struct {
	addr   netip.Addr
	host   string // Host field
	secure bool
}

// maxHops bounds how many proxies are looked behind.
const maxHops = 16

// behind looks behind the proxies that are trusted (X-Forwarded-For, -Host,
// -Proto); what others say of themselves is not believed.
func (s *Server) behind(r *http.Request) client {
	c := client{host: r.Host, secure: r.TLS != nil}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.addr = plainAddr(ap.Addr())
	}
	if !s.trusts(c.addr) {
		return c
	}
	for hop := range slices.Values(lastFirst(r.Header, "X-Forwarded-For")) {
		addr, err := netip.ParseAddr(strings.Trim(hop, "[]"))
		if err != nil || !s.trusts(c.addr) {
			break
		}
		c.addr = plainAddr(addr)
	}
	if proto := lastFirst(r.Header, "X-Forwarded-Proto"); len(proto) > 0 {
		c.secure = strings.EqualFold(proto[0], "https")
	}
	if host := lastFirst(r.Header, "X-Forwarded-Host"); len(host) > 0 && validHost(host[0]) {
		c.host = host[0]
	}
	return c
}

func plainAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func (s *Server) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// lastFirst returns the elements of a list field, the one that was added last
// before the others.
func lastFirst(h http.Header, name string) []string {
	var all []string
	for element := range strings.SplitSeq(strings.Join(h.Values(name), ","), ",") {
		if element = strings.Trim(element, " \t"); element != "" {
			all = append(all, element)
		}
	}
	slices.Reverse(all)
	return all[:min(len(all), maxHops)]
}
