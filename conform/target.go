package conform

import (
	"cmp"
	"net"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// defaultPort is the port of resolvers in the draft of 1995 (section 3.2).
const defaultPort = "4500"

// A target is the server under test, and the base path of its names.
type target struct {
	secure    bool
	host      string // without brackets
	port      string
	authority string // host and port as in a Host field
	base      string // "" or a path such as "/names", without a slash at its end
}

func (t target) scheme() string {
	if t.secure {
		return "https"
	}
	return "http"
}

func (t target) url(path string) string { return t.scheme() + "://" + t.authority + path }

func parseTarget(s string) (target, error) {
	bad := func(reason string) (target, error) {
		return target{}, badOption("invalid target %q: %s; want HOST:PORT or an http or https URL", s, reason)
	}
	whole, standard := s, "80"
	if !strings.Contains(s, "://") {
		whole, standard = "http://"+s, defaultPort
	}
	u, err := uri.Parse(whole)
	if err != nil {
		return bad(err.Error())
	}
	scheme, _ := u.Scheme()
	host, _ := u.Host()
	_, query := u.Query()
	_, fragment := u.Fragment()
	_, user := u.Userinfo()
	secure := strings.EqualFold(scheme, "https")
	switch {
	case !secure && !strings.EqualFold(scheme, "http"):
		return bad("scheme " + scheme)
	case query:
		return bad("query not allowed")
	case fragment:
		return bad("fragment not allowed")
	case user:
		return bad("user information not allowed")
	case host == "":
		return bad("missing host")
	case secure:
		standard = "443"
	}
	given, _ := u.Port()
	t := target{secure: secure, host: strings.Trim(host, "[]"), port: cmp.Or(given, standard), authority: host, base: strings.TrimRight(u.Path(), "/")}
	if t.port != standard || standard == defaultPort {
		t.authority = host + ":" + t.port
	}
	return t, nil
}

func (t target) address() string { return net.JoinHostPort(t.host, t.port) }
