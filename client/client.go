package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/internal/race"
	"github.com/nomen-project/nomen/name"
)

// The defaults of [Options].
const (
	DefaultTimeout      = 10 * time.Second
	DefaultMaxBody      = 8 << 20
	DefaultMaxRedirects = 10
	DefaultStagger      = race.Stagger
	DefaultRetries      = 2
	DefaultPerHost      = 16
)

// A Finder finds the ways to the resolvers of a name, the best first. An error
// comes in the place of a step that failed, and later steps may follow it.
// [discover.Finder] is one.
type Finder interface {
	Find(ctx context.Context, n name.Name) iter.Seq2[discover.Way, error]
}

// Options configure a [Client]. The zero value asks directly.
type Options struct {
	// Via is the resolver or proxy to ask in place of the one that the name
	// leads to: "HOST:PORT", "HOST", either perhaps with "/full" or "/element" for the
	// form in which it takes names; an http or https URL below which names are
	// paths, or one that ends in "/uri-res/" (RFC 2169), or a template with {name}
	// or {+name}.
	Via string

	// Finder finds out whom to ask when Via is "". Without one only names of 1995
	// are asked about, of their own host.
	Finder Finder

	// Port is that of the resolvers of urn:dns names; 0 for [discover.Port]. A
	// Finder has the last word.
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

	// Stagger is after how long without an answer the next address of a host is
	// tried beside the one before; 0 for DefaultStagger, negative: only when that
	// one failed.
	Stagger time.Duration

	// Retries is how often a question is asked again of servers that are busy for
	// the moment; 0 for DefaultRetries, negative: never.
	Retries int

	PerHost int     // questions to one host at a time; 0 for DefaultPerHost, negative: any number
	Rate    float64 // questions to one host in a second; 0: any number

	// DNS looks hosts up; nil for [net.DefaultResolver].
	DNS discover.DNS

	// DialContext connects to an address; nil for that of [net.Dialer].
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Transport carries the requests to a resolver at a URL; nil for one of the
	// client's own, which goes by the fields above.
	Transport http.RoundTripper

	Now func() time.Time // the clock; nil for [time.Now]

	// Trace, if not nil, is told each step in words for the user, one at a time.
	Trace func(step string)
}

// A Client asks resolvers over the network. It is safe for concurrent use.
type Client struct {
	o       Options // with their defaults
	via     way     // nil for the one that the name leads to
	web     http.RoundTripper
	guarded *plain // for URLs that a stranger chose
	own     *plain // web, unless that was given
	hosts   *limits
	takes   takes
	tracing sync.Mutex
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
	c.hosts = newLimits(c.o.PerHost, c.o.Rate)
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
	if c.o.Stagger == 0 {
		c.o.Stagger = DefaultStagger
	}
	if c.o.Retries == 0 {
		c.o.Retries = DefaultRetries
	}
	if c.o.PerHost == 0 {
		c.o.PerHost = DefaultPerHost
	}
	if c.o.Now == nil {
		c.o.Now = time.Now
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
	if c.o.Trace == nil {
		return
	}
	c.tracing.Lock()
	defer c.tracing.Unlock()
	c.o.Trace(fmt.Sprintf(format, args...))
}

// Resolve implements [nomen.Resolver]. Beside the errors of that interface it
// returns a [*RouteError], [*UnreachableError], [*WaysError], [*StatusError],
// [*FormatError], [*SizeError], [*TimeError] or [*RedirectError].
//
// The fragment of the question's subject is not sent; it is applied to the
// locations of the answer (2012, 2.4: N12-38). The resource of an answer to I2R
// is a stream, which its receiver closes.
func (c *Client) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	a, _, err := c.ResolveIf(ctx, q, Validators{})
	return a, err
}

// ResolveIf is like Resolve for a caller who has an answer to the same question
// and the validators that came with it. If the answer would be the same, the
// error is [ErrUnchanged]. The validators that it returns with that error, or with
// an answer, are for the next time; they are zero if that answer is not to be
// kept.
func (c *Client) ResolveIf(ctx context.Context, q nomen.Question, have Validators) (*nomen.Answer, Validators, error) {
	if err := ctx.Err(); err != nil {
		return nil, Validators{}, err
	}
	s, q, err := subjectOf(q)
	if err != nil {
		return nil, Validators{}, err
	}
	if err := checkComponents(q); err != nil {
		return nil, Validators{}, err
	}
	j := journey{client: c, question: q, have: have}
	a, got, err := j.travel(ctx, stop{subject: s, guarded: c.o.Guard})
	if a != nil {
		ApplyFragment(a, q.Subject)
	}
	return a, got, err
}

// checkComponents refuses what could not be sent after a name as it is.
func checkComponents(q nomen.Question) error {
	for _, s := range []string{components(q), q.Query} {
		if s != "" && (!validTarget(s) || strings.Contains(s, "#")) {
			return errControl
		}
	}
	return nil
}

// public reports whether a belongs to the public Internet.
func public(a netip.Addr) bool { return guard.Check(a) == nil }
