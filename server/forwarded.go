package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/question"
)

// A client describes the sender of a request, as reported by trusted proxies, or otherwise as seen
// on the connection.
type client struct {
	addr    netip.Addr
	host    string // Host field
	secure  bool
	country string // ISO 3166-1 alpha-2; unknownCountry if unknown; "" if countries are not used
	proxied bool   // a trusted proxy sent the request
}

// maxHops limits the number of hops in Forwarded or X-Forwarded fields that are read.
const maxHops = 16

// A hop is what one proxy reports about a request that it received.
type hop struct {
	from  string // address of the sender, perhaps with a port
	host  string
	proto string
}

func (s *Server) clientOf(r *http.Request) client {
	c := s.clientFromProxies(r)
	header := ""
	if c.proxied && s.countryHeader != "" {
		header = r.Header.Get(s.countryHeader)
	}
	c.country = s.countryOf(c.addr, header)
	return c
}

// countryOf returns the country of a client. The parameter header is the value of a header field
// from a trusted proxy. If header contains no country, countryOf looks up the country of the
// address.
func (s *Server) countryOf(addr netip.Addr, header string) string {
	known := question.Country(header)
	if known == "" && s.country != nil && addr.IsValid() {
		known = question.Country(s.country(addr))
	}
	if known == "" && (s.country != nil || s.countryHeader != "") {
		return unknownCountry
	}
	return known
}

// unknownCountry is the code for an unknown country, if the server distinguishes countries. ISO
// 3166-1 reserves ZZ for private use, so rules and caches can treat it as a country.
const unknownCountry = "ZZ"

// clientFromProxies returns the client that trusted proxies report. It ignores fields from other
// senders. The nearest proxy reports the host and the protocol.
func (s *Server) clientFromProxies(r *http.Request) client {
	c := client{host: r.Host, secure: r.TLS != nil}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.addr = plainAddr(ap.Addr())
	}
	if !s.trusts(c.addr) {
		return c
	}
	c.proxied = true
	hops, ok := forwardedHops(r.Header)
	older := olderHops(r.Header)
	switch {
	case !ok, hops != nil && older[0].from != "" && s.origin(c.addr, hops) != s.origin(c.addr, older):
		// The fields contradict each other: the proxy has set one field and forwarded the other
		// field from the client. The server cannot tell which field the proxy has set.
		c.addr = netip.Addr{}
		return c
	case hops == nil:
		hops = older
	}
	if hops[0].proto != "" {
		c.secure = strings.EqualFold(hops[0].proto, "https")
	}
	if validHost(hops[0].host) {
		c.host = hops[0].host
	}
	c.addr = s.origin(c.addr, hops)
	return c
}

// origin follows the hops back to the sender of the request. It starts at the address of the
// connection, and stops at the first address that does not belong to a trusted proxy.
func (s *Server) origin(addr netip.Addr, hops []hop) netip.Addr {
	for _, h := range hops {
		from, ok := hopAddr(h.from)
		if !ok || !s.trusts(addr) {
			break
		}
		addr = from
	}
	return addr
}

func plainAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func (s *Server) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

func hopAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return plainAddr(ap.Addr()), true
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return plainAddr(a), err == nil
}

// forwardedHops returns the hops in the Forwarded fields (RFC 7239, 4), the nearest proxy first, or
// nil.
//
//	Forwarded         = 1#forwarded-element
//	forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] )
//
// The result ok is false if the client has sent a quoted string without an end. The elements of
// trusted proxies come after this string and have become part of it.
func forwardedHops(h http.Header) (hops []hop, ok bool) {
	elements, ok := cutUnquoted(strings.Join(h.Values("Forwarded"), ","), ',')
	for _, element := range slices.Backward(elements) {
		if strings.Trim(element, " \t") != "" && len(hops) < maxHops {
			hops = append(hops, readHop(element))
		}
	}
	return hops, ok
}

// cutUnquoted splits s at separators outside of quoted strings. The result ok is false if the last
// quoted string has no end.
func cutUnquoted(s string, separator byte) (parts []string, ok bool) {
	begun, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == separator && !quoted:
			parts = append(parts, s[begun:i])
			begun = i + 1
		}
	}
	return append(parts, s[begun:]), !quoted
}

// readHop parses a forwarded-element. It ignores escapes in quoted strings, because valid values of
// "for", "host" and "proto" contain no escapes.
func readHop(element string) hop {
	var h hop
	pairs, _ := cutUnquoted(element, ';') // cutUnquoted has already checked that quoted strings end
	for _, pair := range pairs {
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

// olderHops returns the hops in the X-Forwarded fields, the nearest proxy first. The result has at
// least one hop, which may be empty.
func olderHops(h http.Header) []hop {
	var hops []hop
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
