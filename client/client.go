package client

import (
	"cmp"
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
	"github.com/nomen-project/nomen/internal/trace"
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

// A Finder finds the ways to ask resolvers about a name, best first. If one of its sources fails,
// the Finder yields the error and continues with the next source. [discover.Finder] implements
// Finder.
type Finder interface {
	Find(ctx context.Context, n name.Name) iter.Seq2[discover.Way, error]
}

// Options configure a [Client]. With the zero Options, a Client can only resolve urn:dns names, by
// asking the host in the name.
type Options struct {
	// Via is the resolver or proxy to ask. If it is "", Finder finds the resolver. The other forms
	// are:
	//   - "HOST:PORT" or "HOST", and perhaps "/full" or "/element" for the form in which the
	//     resolver expects names
	//   - an http or https URL below which names are paths
	//   - a URL that ends in "/uri-res/" (RFC 2169)
	//   - a URL template with {name} or {+name}
	Via string

	// Finder finds resolvers if Via is "". If Finder is nil, the client asks the host in a urn:dns
	// name, and cannot resolve other names.
	Finder Finder

	// Port is the port of resolvers for urn:dns names. If it is 0, [discover.Port] is used. A port
	// from Finder takes precedence.
	Port uint16

	// Accept is the format that the user prefers, as media ranges (RFC 9110, 12.5.1). If it is "",
	// the user has no preference.
	Accept string

	// Simple sends Simple-Requests (HTTP/0.9), to which the response is a body without a head
	// (1995, 3.3: Y95-32). Simple has no effect if the resolver is at a URL.
	Simple bool

	// Guard makes the client connect only to public addresses, except for requests to Via. It is
	// meant for programs that send requests on behalf of untrusted users. Without Guard, a private
	// address is rejected only if a public server redirects to it.
	Guard bool

	Timeout      time.Duration // for an attempt at an address; 0 means DefaultTimeout
	MaxBody      int64         // bytes of a result; 0 means DefaultMaxBody
	MaxRedirects int           // 0 means DefaultMaxRedirects; negative means that redirects are not followed
	UserAgent    string        // User-Agent of requests; "" means none

	// Stagger is how long to wait for an answer before also trying the next address of a host. If
	// it is 0, DefaultStagger is used. If it is negative, the next address is tried only after the
	// previous attempt has failed.
	Stagger time.Duration

	// Retries is the maximum number of times that a busy server is asked again. If it is 0,
	// DefaultRetries is used. If it is negative, a busy server is not asked again.
	Retries int

	PerHost int     // concurrent requests to a host; 0 means DefaultPerHost, negative no limit
	Rate    float64 // requests per second to a host; 0 means no limit

	// DNS looks up hosts. If it is nil, [net.DefaultResolver] is used.
	DNS discover.DNS

	// DialContext connects to an address. If it is nil, a [net.Dialer] is used.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Transport sends requests to a resolver at a URL. If it is nil, a transport with the options
	// above is used.
	Transport http.RoundTripper

	// NewTraces makes the client start a new trace for each question whose context has no trace
	// (see [WithTraceparent]).
	NewTraces bool

	Now func() time.Time // returns the current time; nil means [time.Now]

	// Trace is called with a description of each step, for users. It is called by one goroutine at
	// a time. It may be nil.
	Trace func(step string)
}

// A Client asks resolvers over the network. It is safe for concurrent use.
type Client struct {
	o       Options // with defaults
	via     way     // nil to find a resolver for each name
	web     http.RoundTripper
	guarded *plain // for URLs that the user has not chosen
	own     *plain // like web, but never Options.Transport
	hosts   *limits
	forms   knownForms
	tracing sync.Mutex
	shuffle func(n int, swap func(i, j int))
}

var _ nomen.Resolver = (*Client)(nil)

// New returns a Client. It returns an error if an option is invalid.
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
		return errors.New("client: invalid control character in Accept or UserAgent")
	}
	c.o.Port = cmp.Or(c.o.Port, discover.Port)
	c.o.Timeout = cmp.Or(max(c.o.Timeout, 0), DefaultTimeout)
	c.o.MaxBody = cmp.Or(max(c.o.MaxBody, 0), DefaultMaxBody)
	c.o.MaxRedirects = cmp.Or(c.o.MaxRedirects, DefaultMaxRedirects)
	c.o.Stagger = cmp.Or(c.o.Stagger, DefaultStagger)
	c.o.Retries = cmp.Or(c.o.Retries, DefaultRetries)
	c.o.PerHost = cmp.Or(c.o.PerHost, DefaultPerHost)
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

// Close closes idle connections.
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

// Resolve implements [nomen.Resolver]. In addition to the errors of that interface, it returns a
// [*RouteError], [*UnreachableError], [*WaysError], [*StatusError], [*FormatError], [*SizeError],
// [*TimeError] or [*RedirectError].
//
// The client does not send the fragment of the subject, but adds it to the locations in the answer
// (2012, 2.4: N12-38). The resource in an answer to I2R is a stream, which the caller must close.
func (c *Client) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	a, _, err := c.ResolveIf(ctx, q, Validators{})
	return a, err
}

// ResolveIf is like [Client.Resolve] for a caller that has an earlier answer to the question. The
// validators are those that came with this answer. If the answer is still current, the error is
// [ErrUnchanged]. ResolveIf also returns the validators for the next request. They are zero if the
// answer must not be cached.
func (c *Client) ResolveIf(ctx context.Context, q nomen.Question, validators Validators) (*nomen.Answer, Validators, error) {
	if err := ctx.Err(); err != nil {
		return nil, Validators{}, err
	}
	s, q, err := subjectOf(q)
	if err != nil {
		return nil, Validators{}, err
	}
	if c.o.NewTraces && trace.From(ctx) == (trace.Parent{}) {
		ctx = trace.With(ctx, trace.New())
	}
	if err := checkComponents(q); err != nil {
		return nil, Validators{}, err
	}
	j := resolution{client: c, question: q, have: validators}
	a, got, err := j.travel(ctx, hop{subject: s, guarded: c.o.Guard})
	if a != nil {
		ApplyFragment(a, q.Subject)
	}
	return a, got, err
}

// checkComponents returns an error if the components or the query of q cannot be appended to a name
// in a request.
func checkComponents(q nomen.Question) error {
	for _, s := range []string{components(q), q.Query} {
		if s != "" && (!validTarget(s) || strings.Contains(s, "#")) {
			return errControl
		}
	}
	return nil
}

func public(a netip.Addr) bool { return guard.Check(a) == nil }
