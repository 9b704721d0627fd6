package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/answercache"
	"github.com/nomen-project/nomen/internal/openfiles"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/registry"
	"github.com/nomen-project/nomen/site"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/uri"
)

// The default ports of listeners (draft of 1995, 3.2: Y95-29).
const (
	defaultPort      = 4500
	defaultAdminPort = 4501
)

// Options configure a Server.
type Options struct {
	Resolver nomen.Resolver // answers questions; required
	Store    store.Reader   // holds the authorities and the lists of names; required

	// Admin serves the admin listener, as package server/admin does. If it is nil, there is no
	// admin API.
	Admin Admin

	Authorities *store.Table // cache of the authorities in Store, shared with Resolver; if nil, the server makes one

	PublicURL      string         // base URL of this server, such as https://www.example.org/names; if "", it is taken from each request
	Version        string         // version of this program
	Instance       string         // identifies this server in the responses of /-/healthz and /-/readyz, unless ""
	Hosts          []string       // host names of this server besides the host of PublicURL, localhost and addresses
	TrustedProxies []netip.Prefix // proxies whose Forwarded or X-Forwarded fields are trusted

	Country       func(netip.Addr) string // returns the country of a client, ISO 3166-1 alpha-2, or "" if unknown; may be nil
	CountryHeader string                  // header field in which trusted proxies send the country, such as CF-IPCountry; "" for none

	Explainer *gateway.Explainer // explains what users enter; must have the same Access as Resolver. If nil, explanations ask no other servers
	Forward   *gateway.Forward   // forwards proxy requests for other hosts; if nil they are rejected

	Registries *registry.Registries // shown under /-/registry/; [registry.Standard] if nil

	Misses *misses.Counter // counts failed lookups; nil disables it
	Counts *counts.Counter // counts resolutions; nil disables it

	// Metrics counts requests; nil means not to count. Package server/metrics implements it for
	// Prometheus. Metrics is also a handler, which package server/admin serves as /-/metrics on the
	// admin listener, and this server also on the public listener if PublicMetrics is set.
	Metrics       Metrics
	PublicMetrics bool

	// Clock returns an error if changes are rejected because the clock is wrong, and otherwise nil.
	// Usually it is [registrar.Registrar.ClockProblem]. The response of /-/readyz reports the
	// error. Clock may be nil.
	Clock func() *registrar.ClockError

	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // receives failures; discarded if nil
	// LogAddresses says how AccessLog shows the addresses of clients: "none", "truncated" or
	// "full", which is the default. The page about privacy shows this value.
	LogAddresses string

	// LinkChecks says how the server identifies itself when it checks links. If LinkChecks is nil,
	// the page at [CheckerPath] says that the server checks no links.
	LinkChecks *LinkChecks

	AccessLog *slog.Logger // receives one line per request (draft of 1995, 7: Y95-71); may be nil. The log handler can shorten the attribute remote, a netip.Addr

	// Middleware wraps the handler of the public listener, including requests of the protocol of
	// 1995 (draft-ietf-uri-yaurn-00); it may be nil. It must pass on the request with its context,
	// and must not change RequestURI, because the server reads the target from there.
	Middleware func(http.Handler) http.Handler

	// Dialects are the protocols of other identifier services, by name. A listener supports the
	// dialects in [Listener].Dialects.
	Dialects map[string]dialect.Handler

	// Publication is the published log of Store, shown under /-/log/ and /-/proof/; nil for none.
	Publication *publish.Log

	// Site describes who runs the server and how its pages look; nil means [site.Default].
	Site *site.Site

	// AnswerCache is the size of the cache of whole answers in bytes; 0 means not to cache them.
	// The server caches only answers that come from Store, through an engine of package resolve
	// that uses Authorities, and only if Store is a [store.Invalidator]. The cache returns what
	// Resolver would return at that time; but if other processes also change the store, a cached
	// answer can be as old as the data that the store itself may return.
	AnswerCache int64

	// SameOrigin makes the server leave out the header fields that let scripts of other sites read
	// public responses (CORS). It is for programs that send such fields themselves.
	SameOrigin bool

	Limits Limits
}

// An Admin is the admin API of a server, served on the admin listener.
type Admin interface {
	http.Handler
	Run(ctx context.Context)      // does background work until ctx ends, while the server listens
	Drain()                       // makes the health checks report that the server is shutting down
	Shutdown(ctx context.Context) // interrupts the running jobs, and waits until they end or ctx ends
}

// Metrics counts what a server does. It must be safe for concurrent use.
type Metrics interface {
	Observe(form string, status int, took time.Duration) // counts an answered request of one of the [Forms]
	Refused(reason string)                               // counts a request or connection that was rejected for one of the [Refusals]
	Stale()                                              // counts an answer from the cache while the store was unavailable
	http.Handler                                         // shows the metrics
}

type noMetrics struct{ http.Handler }

func (noMetrics) Observe(string, int, time.Duration) {}
func (noMetrics) Refused(string)                     {}
func (noMetrics) Stale()                             {}

// Limits bound what clients can use. A zero field has the default value, which its comment gives
// after the semicolon.
type Limits struct {
	Connections int           // connections open at once on each listener; at most 10,000, and at most this listener's share of half the limit of open files
	PerAddress  int           // connections open at once from one address (IPv6: one /64); the larger of Connections/4 and min(Connections/2, 16)
	Rate        float64       // costly requests (more than one lookup) per second from one address; 10
	Burst       int           // costly requests from one address in a burst; as many as Rate allows in 5 s
	Costly      int           // costly requests answered at once, an eighth of them from one address; 64
	Measure     time.Duration // maximum time for computing the tag and length of a list before it is sent; 10 s
	Ask         time.Duration // maximum time for asking other servers on behalf of a request; 20 s
	HeadTimeout time.Duration // maximum time for receiving a request head; 10 s
	IdleTimeout time.Duration // maximum time between two requests on a connection; 2 min
	Timeout     time.Duration // maximum time for reading a whole request, and for each step of a stream; 30 s
	Resource    time.Duration // maximum time for passing on a resource (I2R); 10 min
	Resources   int           // resources passed on at once (I2R), a quarter of them to one address; 64
	BatchNames  int           // names in one list of names; 10,000
	BatchBytes  int           // bytes of one list of names; 4 MiB
}

func (l Limits) withDefaults(listeners int) Limits {
	l.Connections = cmp.Or(l.Connections, connectionsFor(openfiles.Limit(), listeners))
	l.PerAddress = cmp.Or(l.PerAddress, max(l.Connections/4, min(l.Connections/2, 16), 1))
	l.Rate = cmp.Or(l.Rate, 10)
	l.Burst = cmp.Or(l.Burst, max(int(5*l.Rate), 1))
	l.Costly = cmp.Or(l.Costly, 64)
	l.Measure = cmp.Or(l.Measure, 10*time.Second)
	l.Ask = cmp.Or(l.Ask, gateway.AskTimeout)
	l.HeadTimeout = cmp.Or(l.HeadTimeout, 10*time.Second)
	l.IdleTimeout = cmp.Or(l.IdleTimeout, 2*time.Minute)
	l.Timeout = cmp.Or(l.Timeout, 30*time.Second)
	l.Resource = cmp.Or(l.Resource, 10*time.Minute)
	l.Resources = cmp.Or(l.Resources, 64)
	l.BatchNames = cmp.Or(l.BatchNames, 10_000)
	l.BatchBytes = cmp.Or(l.BatchBytes, 4<<20)
	return l
}

// connectionsFor returns how many connections each listener may have. The parameter files is the
// limit of open files. The store gets half of the files, because it cannot write without them.
func connectionsFor(files uint64, listeners int) int {
	return int(max(min(files/2/uint64(max(listeners, 2)), 10_000), 1))
}

// maxAddresses limits the addresses with a rate limit of their own. All other addresses share one
// rate limit.
const maxAddresses = 10_000

// A Server provides the handlers of the two listeners. It is safe for concurrent use.
type Server struct {
	resolver    nomen.Resolver
	store       store.Reader
	admin       Admin // may be nil
	authorities *store.Table

	public       string // PublicURL without a trailing slash
	publicOrigin string // scheme and host of PublicURL
	publicHost   string // host of PublicURL in canonical form
	publicPath   string // path of PublicURL without a trailing slash
	middleware   func(http.Handler) http.Handler
	sameOrigin   bool
	version      string
	instance     string
	hosts        map[string]bool
	proxies      []netip.Prefix

	country       func(netip.Addr) string
	countryHeader string // name of the header field in canonical form
	misses        *misses.Counter
	counts        *counts.Counter
	logAddresses  string
	linkChecks    *LinkChecks // nil if the server checks no links
	explainer     *gateway.Explainer
	forward       *gateway.Forward
	registries    func() []registry.Table

	now         func() time.Time
	log         *slog.Logger
	access      *slog.Logger
	answers     *answercache.Cache // nil if answers are not cached
	limits      Limits
	given       Limits // limits as given, without defaults
	home        home
	site        *site.Site
	pagePolicy  string    // Content-Security-Policy of pages
	linkBuffers sync.Pool // contains *linkField values
	signposts   signposts
	dates       dates
	coders      coders
	metrics     Metrics
	shown       bool         // the public listener shows the metrics
	handler     http.Handler // handler of the public listeners, including the middleware
	users       users
	dialects    map[string]dialect.Handler
	publication *publish.Log // nil if the log is not published

	*carried
}

// authorityLife bounds how long this server may use the earlier state of an authority that another
// process has changed.
const authorityLife = time.Second

// New returns a server. It returns an error if an option is missing or invalid.
func New(o Options) (*Server, error) {
	if o.Resolver == nil || o.Store == nil {
		return nil, errors.New("server: options: Resolver and Store are required")
	}
	given := o.Limits
	o = o.withDefaults()
	s := &Server{
		given: given, carried: newCarried(o),
		resolver: vouchedResolver{o.Resolver}, store: o.Store, admin: o.Admin, authorities: o.Authorities, metrics: o.Metrics, shown: o.PublicMetrics,
		version: o.Version, instance: o.Instance, hosts: map[string]bool{}, proxies: o.TrustedProxies, middleware: o.Middleware, sameOrigin: o.SameOrigin,
		now: o.Now, log: o.Log, access: o.AccessLog, limits: o.Limits,
		country: o.Country, countryHeader: http.CanonicalHeaderKey(o.CountryHeader), misses: o.Misses, counts: o.Counts, logAddresses: o.LogAddresses, linkChecks: o.LinkChecks,
		explainer: o.Explainer, forward: o.Forward,
		registries:  sync.OnceValue(o.Registries.Tables),
		signposts:   newSignposts(),
		site:        o.Site,
		dialects:    o.Dialects,
		publication: o.Publication,
		pagePolicy:  o.Site.Policy(),
		linkBuffers: sync.Pool{New: func() any { return new(linkField) }},
		users:       users{gone: make(chan struct{})},
	}
	s.current.Store(s)
	s.handler = s.wrap(s.Public())
	for _, h := range o.Hosts {
		s.hosts[store.CanonicalHost(h)] = true
	}
	if err := s.setPublicURL(o.PublicURL); err != nil {
		return nil, err
	}
	s.answers = answercache.New(o.AnswerCache, store.InvalidationsOf(o.Store))
	var err error
	s.home, err = newHome(o.Site)
	return s, err
}

func (o Options) withDefaults() Options {
	o.Version, o.Limits = cmp.Or(o.Version, "(unknown version)"), o.Limits.withDefaults(1)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = noMetrics{http.NotFoundHandler()}
	}
	if o.Site == nil {
		o.Site = site.Default()
	}
	if o.Registries == nil {
		o.Registries = new(registry.Standard())
	}
	if o.Authorities == nil {
		o.Authorities = store.NewTable(o.Store, o.Now, authorityLife)
	}
	if o.Explainer == nil {
		o.Explainer = &gateway.Explainer{Authorities: o.Authorities, Store: o.Store}
	}
	return o
}

// CheckPublicURL returns an error if [Options.PublicURL] must not have this value.
func CheckPublicURL(text string) error { return new(Server).setPublicURL(text) }

// setPublicURL sets the public URL: http://HOST/PATH or https://HOST/PATH. The path may be empty.
func (s *Server) setPublicURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("server: public URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, !validHost(u.Host),
		u.RawQuery != "", u.ForceQuery, strings.Contains(text, "#"), !validMount(u.EscapedPath()):
		return fmt.Errorf("server: invalid public URL %q: must have the form https://HOST or https://HOST/PATH", text)
	}
	s.publicPath = strings.TrimRight(u.EscapedPath(), "/")
	s.publicOrigin = u.Scheme + "://" + strings.ToLower(u.Host)
	s.public = s.publicOrigin + s.publicPath
	s.publicHost = store.CanonicalHost(u.Host)
	return nil
}

// validMount reports whether this server may be mounted at a path. Segments that are empty, "." or
// ".." are invalid, because clients remove them.
func validMount(path string) bool {
	path = strings.TrimRight(path, "/")
	for i, segment := range strings.Split(path, "/") {
		if i > 0 && (segment == "" || segment == "." || segment == "..") {
			return false
		}
	}
	_, err := uri.ParseReference(path)
	return err == nil
}

// Public returns the handler of the public listener. It is made for the listener of package
// internal/wire; with other listeners, it answers only the requests that net/http accepts.
//
// The handler can be mounted below a path with http.StripPrefix. Its links to this server then
// begin with that path, or with [Options].PublicURL if that is set. The path itself, without a
// slash, is the home page.
//
// Do not use http.ServeMux to route requests to the handler. ServeMux redirects a path with "//",
// "/./" or "/../" to a cleaned path, and thus changes the name, for example from urn:example:a//b
// to urn:example:a/b. For the pattern /names/ it also redirects /names. The status is 307, or 301
// with GODEBUG=httpmuxgo121=1. Compare the beginning of r.URL.Path in a handler of your own
// instead.
func (s *Server) Public() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Server) wrap(h http.Handler) http.Handler {
	if s.middleware == nil {
		return h
	}
	return s.middleware(h)
}
