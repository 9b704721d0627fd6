package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/guard"
)

// The defaults of [Options].
const (
	DefaultTimeout      = 10 * time.Second
	DefaultMaxBody      = 8 << 20
	DefaultMaxRedirects = 10
)

// Options configure a [Client]. The zero value asks directly.
type Options struct {
	// Via is the resolver or proxy to ask in place of the one that the name
	// leads to: "HOST:PORT", "HOST", or an http or https URL below which names
	// are paths.
	Via string

	// Port is that of the resolvers of urn:dns names; 0 for [discover.Port].
	Port uint16

	// Accept is the user's preference for the format of results: media ranges
	// of RFC 9110, 12.5.1. "" for none.
	Accept string

	// Simple sends Simple-Requests (HTTP/0.9), which are answered with the body
	// alone (1995, 3.3: Y95-32). It does not concern resolvers at a URL.
	Simple bool

	// Guard refuses addresses of private networks from the first step on. It is
	// for programs that ask on a stranger's behalf. The address of Via is exempt.
	Guard bool

	Timeout      time.Duration // of one attempt at one address; 0 for DefaultTimeout
	MaxBody      int64         // bytes of a result; 0 for DefaultMaxBody
	MaxRedirects int           // 0 for DefaultMaxRedirects; negative: none is followed
	UserAgent    string        // sent with each request; "" for none

	// DNS looks hosts up; nil for [net.DefaultResolver].
	DNS discover.DNS

	// DialContext connects to an address; nil for that of [net.Dialer].
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Transport carries the requests to a resolver at a URL; nil for one of the
	// client's own, which goes by the fields above.
	Transport http.RoundTripper

	// Trace, if not nil, is told each step in words for the user.
	Trace func(step string)
}

// A Client asks resolvers over the network. It is safe for concurrent use.
type Client struct {
	o       Options // with their defaults
	via     way     // nil for the one that the name leads to
	web     http.RoundTripper
	guarded *http.Transport // for URLs that a stranger chose
	own     *http.Transport // web, unless that was given
	shuffle func(n int, swap func(i, j int))
}

var _ nomen.Resolver = (*Client)(nil)

// New returns a client. The error says what is wrong with an option.
func New(o Options) (*Client, error) {
	c := &Client{o: o, shuffle: rand.Shuffle}
	if err := c.setDefaults(); err != nil {
		return nil, err
	}
	via, err := c.parseVia(o.Via)
	if err != nil {
		return nil, err
	}
	c.via = via
	c.own, c.guarded = c.newTransport(false), c.newTransport(true)
	c.web = c.own
	if o.Transport != nil {
		c.web = o.Transport
	}
	return c, nil
}

func (c *Client) setDefaults() error {
	if !validHeader(c.o.Accept) || !validHeader(c.o.UserAgent) {
		return errors.New("client: a header field with a control character")
	}
	if c.o.Port == 0 {
		c.o.Port = discover.Port
	}
	if c.o.Timeout <= 0 {
		c.o.Timeout = DefaultTimeout
	}
	if c.o.MaxBody <= 0 {
		c.o.MaxBody = DefaultMaxBody
	}
	if c.o.MaxRedirects == 0 {
		c.o.MaxRedirects = DefaultMaxRedirects
	}
	if c.o.DNS == nil {
		c.o.DNS = net.DefaultResolver
	}
	if c.o.DialContext == nil {
		c.o.DialContext = (&net.Dialer{}).DialContext
	}
	return nil
}

// Close closes connections that are kept for later requests.
func (c *Client) Close() error {
	c.own.CloseIdleConnections()
	c.guarded.CloseIdleConnections()
	return nil
}

func (c *Client) tracef(format string, args ...any) {
	if c.o.Trace != nil {
		c.o.Trace(fmt.Sprintf(format, args...))
	}
}

// Resolve implements [nomen.Resolver]. Beside the errors of that interface it
// returns a [*RouteError], [*UnreachableError], [*StatusError], [*FormatError],
// [*SizeError] or [*RedirectError].
func (c *Client) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, q, err := subjectOf(q)
	if err != nil {
		return nil, err
	}
	if rq := components(q); rq != "" && (!validTarget(rq) || strings.Contains(rq, "#")) {
		return nil, errControl
	}
	j := journey{client: c, question: q}
	return j.travel(ctx, stop{subject: s, guarded: c.o.Guard})
}

// public reports whether a belongs to the public Internet.
func public(a netip.Addr) bool { return guard.Check(a) == nil }
