package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// A client is who asks, as a trusted proxy tells, or as the connection does.
type client struct {
	addr    netip.Addr
	host    string // Host field
	secure  bool
	country string // ISO 3166-1 alpha-2, nowhere if not known, "" if that is nobody's business
}

// maxHops bounds how many proxies are looked behind.
const maxHops = 16

// A hop is what one proxy says of the request that it was sent.
type hop struct {
	from  string // address, perhaps with a port
	host  string
	proto string
}

// behind returns who asks.
func (s *Server) behind(r *http.Request) client {
	c, proxied := s.behindProxies(r)
	if proxied && s.countryHeader != "" {
		c.country = country(r.Header.Get(s.countryHeader))
	}
	if c.country == "" && s.country != nil && c.addr.IsValid() {
		c.country = country(s.country(c.addr))
	}
	if c.country == "" && (s.country != nil || s.countryHeader != "") {
		c.country = nowhere
	}
	return c
}

// nowhere is the country of those whose country is not known although others' is:
// a code of ISO 3166-1 for users, which is nobody's. What they get depends on where
// they are as well.
const nowhere = "ZZ"

// country returns a code of ISO 3166-1 in capitals, "" for what is none. XX is
// what proxies say that do not know it.
func country(s string) string {
	if len(s) != 2 {
		return ""
	}
	c := [2]byte{s[0] &^ 0x20, s[1] &^ 0x20}
	if c[0] < 'A' || c[0] > 'Z' || c[1] < 'A' || c[1] > 'Z' || c == [2]byte{'X', 'X'} {
		return ""
	}
	return string(c[:])
}

// behindProxies looks behind the proxies that are trusted; what others say of themselves
// is not believed. The nearest proxy has the last word on host and protocol.
func (s *Server) behindProxies(r *http.Request) (client, bool) {
	c := client{host: r.Host, secure: r.TLS != nil}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.addr = plainAddr(ap.Addr())
	}
	if !s.trusts(c.addr) {
		return c, false
	}
	hops := hopsOf(r.Header)
	for i, h := range hops {
		if i == 0 && h.proto != "" {
			c.secure = strings.EqualFold(h.proto, "https")
		}
		if i == 0 && validHost(h.host) {
			c.host = h.host
		}
		addr, ok := hopAddr(h.from)
		if !ok || !s.trusts(c.addr) {
			break
		}
		c.addr = addr
	}
	return c, true
}

func plainAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func (s *Server) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// hopAddr reads an address, perhaps in brackets, perhaps with a port.
func hopAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return plainAddr(ap.Addr()), true
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return plainAddr(a), err == nil
}

// hopsOf returns what the proxies say, the nearest first: in Forwarded (RFC 7239),
// or where that is absent in the X-Forwarded fields.
func hopsOf(h http.Header) []hop {
	var hops []hop
	for _, element := range lastFirst(h, "Forwarded") {
		hops = append(hops, readHop(element))
	}
	if hops != nil {
		return hops
	}
	for _, from := range lastFirst(h, "X-Forwarded-For") {
		hops = append(hops, hop{from: from})
	}
	if hops == nil {
		hops = []hop{{}}
	}
	if proto := lastFirst(h, "X-Forwarded-Proto"); proto != nil {
		hops[0].proto = proto[0]
	}
	if host := lastFirst(h, "X-Forwarded-Host"); host != nil {
		hops[0].host = host[0]
	}
	return hops
}

// readHop reads
//
//	forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] )
//
// Values with a comma, semicolon or backslash do not occur in what we look for.
func readHop(element string) hop {
	var h hop
	for pair := range strings.SplitSeq(element, ";") {
		key, value, _ := strings.Cut(strings.Trim(pair, " \t"), "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(key) {
		case "for":
			h.from = value
		case "host":
			h.host = value
		case "proto":
			h.proto = value
		}
	}
	return h
}

// lastFirst returns the elements of a list field, the one that was added last
// before the others; nil if there are none.
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
