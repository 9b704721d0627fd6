package server

import (
	"io"
	"net/netip"
	"strconv"
	"strings"
)

// A request is what of an HTTP request decides its answer.
type request struct {
	method  string
	target  string // exactly as sent
	version version
	host    string         // Host field
	secure  bool           // came over TLS
	local   netip.AddrPort // at which it arrived
	country string         // of the asker, ISO 3166-1 alpha-2; "" if that of nobody is known
	hops    int            // entries of the Via fields: who passed it on

	accept    string // fields of the same name joined with commas; "" if absent
	languages string
	encodings string // Accept-Encoding
	charsets  string // Accept-Charset
	datetime  string // Accept-Datetime

	byteRange string // Range
	ifRange   string

	ifMatch           string
	ifUnmodifiedSince string
	ifNoneMatch       string
	ifModifiedSince   string

	contentType   string
	contentCoding string
	body          io.Reader // nil where none is read
}

// maxTarget is the greatest length of a target in bytes. Longer ones come where
// another than the listener of package internal/wire reads them.
const maxTarget = 8 << 10

// maxVia is how many may have passed a request on before it is cut: whether or
// not they are resolvers, they pass it on in a circle.
const maxVia = 16

// A version is that of HTTP. A Simple-Request is of 0.9.
type version struct{ major, minor int }

// atLeast11 reports whether the client knows what HTTP/1.1 added.
func (v version) atLeast11() bool { return v.major > 1 || v.major == 1 && v.minor >= 1 }

// parseVersion reads a version as it was sent, in either case. What cannot be
// read counts as 1.0, the empty one of a Simple-Request as 0.9.
func parseVersion(proto string) version {
	if proto == "" {
		return version{0, 9}
	}
	const name = "HTTP/"
	if len(proto) > len(name) && strings.EqualFold(proto[:len(name)], name) {
		major, minor, _ := strings.Cut(proto[len(name):], ".")
		if n, ok := smallNumber(major); ok {
			m, _ := smallNumber(minor)
			return version{n, m}
		}
	}
	return version{1, 0}
}

// smallNumber reads digits, perhaps with leading zeros.
func smallNumber(s string) (int, bool) {
	s = strings.TrimLeft(s, "0")
	if len(s) > 2 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// base returns the URL of this server as the client sees it, without a slash at
// its end: the public one if that is known.
func (s *Server) base(r *request) string {
	if s.public != "" {
		return s.public
	}
	return originOf(r)
}

// originOf returns the scheme and the host at which a request arrived, as its client
// sees them.
func originOf(r *request) string {
	scheme, port := "http", uint16(80)
	if r.secure {
		scheme, port = "https", 443
	}
	host := r.host
	switch {
	case !validHost(host):
		host = r.local.String()
	case !r.version.atLeast11() && !hasPort(host) && r.local.Port() != port:
		host += ":" + strconv.Itoa(int(r.local.Port())) // in HTTP/1.0 it was often left out
	}
	return scheme + "://" + host
}

func hasPort(host string) bool {
	return strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']')
}

// validHost reports whether h can stand in a URL: a name or address, perhaps with
// a port.
func validHost(h string) bool {
	for _, c := range []byte(h) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case strings.IndexByte("-._~[]:", c) >= 0:
		default:
			return false
		}
	}
	return h != ""
}
