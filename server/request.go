package server

import (
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A request holds the parts of an HTTP request that determine the response.
type request struct {
	method  string
	target  string // exactly as sent, but without mount
	mount   string // path at which this server is mounted, without a final slash; "" for the root
	version version
	from    netip.Addr     // of the client; invalid if unknown
	host    string         // Host field
	secure  bool           // received over TLS
	proxied bool           // sent by a trusted proxy
	local   netip.AddrPort // address at which it arrived
	country string         // of the client, ISO 3166-1 alpha-2; "" if countries are not used
	hops    int            // number of entries in the Via fields

	protocols Protocols // protocols of the listener at which it arrived

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
	body          io.Reader // nil if the body is not read

	parsed     *parsedRequest // of the target, once it has been parsed
	parsedOnce parsedRequest  // which parsed points to
}

// maxTarget is the maximum length of a target in bytes. Longer ones occur only with
// listeners other than that of package internal/wire.
const maxTarget = 8 << 10

// maxVia is how many servers may have forwarded a request before it is considered a loop.
const maxVia = 16

// A version is a version of HTTP. A Simple-Request has version 0.9.
type version struct{ major, minor int }

// atLeast11 reports whether the version is HTTP/1.1 or later.
func (v version) atLeast11() bool { return v.major > 1 || v.major == 1 && v.minor >= 1 }

// parseVersion parses a version; the letter case of "HTTP" does not matter. Invalid versions
// count as 1.0, the empty version of a Simple-Request as 0.9.
func parseVersion(proto string) version {
	if proto == "" {
		return version{0, 9}
	}
	if numbers, ok := ascii.CutPrefix(proto, "HTTP/"); ok && numbers != "" {
		major, minor, _ := strings.Cut(numbers, ".")
		if n, ok := smallNumber(major); ok {
			m, _ := smallNumber(minor)
			return version{n, m}
		}
	}
	return version{1, 0}
}

// smallNumber parses a number of at most two digits, not counting leading zeros.
func smallNumber(s string) (int, bool) {
	s = strings.TrimLeft(s, "0")
	if len(s) > 2 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if !ascii.IsDigit(c) {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// base returns the URL of this server as seen by the client, without a trailing slash:
// the public URL if it is set.
func (s *Server) base(r *request) string {
	if s.public != "" {
		return s.public
	}
	return originOf(r) + r.mount
}

// root returns the path of this server as seen by the client, without a trailing slash: that
// of the public URL if it is set.
func (s *Server) root(r *request) string {
	if s.public != "" {
		return s.publicPath
	}
	return r.mount
}

// originOf returns the scheme and host of a request as seen by the client.
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
		host += ":" + strconv.Itoa(int(r.local.Port())) // HTTP/1.0 clients often leave it out
	}
	return scheme + "://" + host
}

func hasPort(host string) bool {
	return strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']')
}

// validHost reports whether h is valid as the host of a URL: a name or address, with or
// without a port.
func validHost(h string) bool {
	for _, c := range []byte(h) {
		if !ascii.IsAlnum(c) && strings.IndexByte("-._~[]:", c) < 0 {
			return false
		}
	}
	return h != ""
}
