package server

import (
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/messages"
)

// A request contains the parts of an HTTP request on which the response depends.
type request struct {
	method  string
	target  string // exactly as sent, but without mount
	mount   string // path at which this server is mounted, without a final slash; "" for the root
	version version
	from    netip.Addr     // address of the client; invalid if unknown
	host    string         // Host field
	secure  bool           // received over TLS
	proxied bool           // sent by a trusted proxy
	local   netip.AddrPort // address at which it arrived
	country string         // country of the client, ISO 3166-1 alpha-2; "" if countries are not used
	hops    int            // number of entries in the Via fields

	protocols Protocols // protocols of the listener at which it arrived

	accept    string // here and below, header fields of one name are joined with commas; "" if absent
	languages string
	encodings string // Accept-Encoding
	agent     string // User-Agent
	language  string // language of pages that a person has chosen, or ""
	charsets  string // Accept-Charset
	datetime  string // Accept-Datetime

	byteRange string
	ifRange   string

	ifMatch           string
	ifUnmodifiedSince string
	ifNoneMatch       string
	ifModifiedSince   string

	contentType   string
	contentCoding string
	body          io.Reader // nil if the server does not read the body

	texts *messages.Catalogue // texts of pages; nil until they are needed

	parsed     *parsedRequest // nil until the target has been parsed
	parsedOnce parsedRequest  // memory for parsed
}

// maxTarget limits a target, in bytes. The listener of package internal/wire rejects longer targets
// already, but other listeners may not.
const maxTarget = 8 << 10

// maxVia limits the servers that may forward a request. A request that more servers have forwarded
// counts as a loop.
const maxVia = 16

// A version is a version of HTTP. A Simple-Request has version 0.9.
type version struct{ major, minor int }

func (v version) atLeast11() bool { return v.major > 1 || v.major == 1 && v.minor >= 1 }

// parseVersion parses the version in a request line, in any letter case. No version, as in a
// Simple-Request, means 0.9. An invalid version means 1.0.
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

// base returns the URL of this server without a final slash. This is the public URL. If there is no
// public URL, it is the URL to which the client has sent the request.
func (s *Server) base(r *request) string {
	if s.public != "" {
		return s.public
	}
	return originOf(r) + r.mount
}

// root returns the path of the URL of this server, without a final slash.
func (s *Server) root(r *request) string {
	if s.public != "" {
		return s.publicPath
	}
	return r.mount
}

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
		host += ":" + strconv.Itoa(int(r.local.Port())) // HTTP/1.0 clients often leave out the port
	}
	return scheme + "://" + host
}

func hasPort(host string) bool {
	return strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']')
}

func validHost(h string) bool {
	for _, c := range []byte(h) {
		if !ascii.IsAlnum(c) && strings.IndexByte("-._~[]:", c) < 0 {
			return false
		}
	}
	return h != ""
}
