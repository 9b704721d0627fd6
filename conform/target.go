package conform

import (
	"net"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// DefaultPort is the default port of resolvers in the draft of 1995, 3.2.
const DefaultPort = "4500"

// A target is the server under test, and the path that its names have in
// common.
type target struct {
	secure    bool
	host      string // without brackets
	port      string
	authority string // as in a Host field
	base      string // "" or "/names", without a trailing slash
}

func (t target) scheme() string {
	if t.secure {
		return "https"
	}
	return "http"
}

// url returns the URL of a path below the target.
func (t target) url(path string) string { return t.scheme() + "://" + t.authority + path }

// parseTarget parses HOST, HOST:PORT or an http or https URL. Without a scheme
// the default port is that of 1995.
func parseTarget(s string) (target, error) {
	bad := func(reason string) (target, error) {
		return target{}, badOption("invalid target %q: %s; want HOST:PORT or an http or https URL", s, reason)
	}
	whole, port := s, ""
	if !strings.Contains(s, "://") {
		whole, port = "http://"+s, DefaultPort
	}
	u, err := uri.Parse(whole)
	if err != nil {
		return bad(err.Error())
	}
	t := target{}
	switch scheme, _ := u.Scheme(); strings.ToLower(scheme) {
	case "http":
		if port == "" {
			port = "80"
		}
	case "https":
		t.secure, port = true, "443"
	default:
		return bad("scheme " + scheme)
	}
	if _, ok := u.Query(); ok {
		return bad("query not allowed")
	}
	if _, ok := u.Fragment(); ok {
		return bad("fragment not allowed")
	}
	if _, ok := u.Userinfo(); ok {
		return bad("user information not allowed")
	}
	host, _ := u.Host()
	if host == "" {
		return bad("missing host")
	}
	standard := port
	if p, ok := u.Port(); ok && p != "" {
		port = p
	}
	t.host, t.port = strings.Trim(host, "[]"), port
	t.authority = host
	if port != standard || standard == DefaultPort {
		t.authority = host + ":" + port
	}
	t.base = strings.TrimRight(u.Path(), "/")
	return t, nil
}

// address returns the address to connect to.
func (t target) address() string { return net.JoinHostPort(t.host, t.port) }
