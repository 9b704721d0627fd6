package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// The defaults of [Options].
const (
	defaultMaxSize      = 1 << 30
	DefaultTimeout      = 30 * time.Second
	DefaultMaxTime      = time.Hour
	DefaultMaxRedirects = 10
)

// Options configure a [Fetcher]. With the zero Options, a Fetcher retrieves URLs of all schemes
// that the package supports. It does not retrieve names, because it has no resolver.
type Options struct {
	// Schemes lists the schemes that are allowed in requests and in redirects. nil means all
	// schemes. To use a gateway, list the scheme of its URL and the scheme of the URLs that it
	// retrieves.
	Schemes []string

	// AllowPrivate permits connections to addresses outside the public Internet for untrusted URLs.
	AllowPrivate bool

	MaxSize      int64         // maximum size of a resource in bytes after decompression; 0 means 1 GiB, negative no limit
	Timeout      time.Duration // maximum time between two reads; 0 means DefaultTimeout
	MaxTime      time.Duration // maximum time for a resource; 0 means DefaultMaxTime
	MaxRedirects int           // maximum number of redirects and other steps; 0 means DefaultMaxRedirects, negative none

	Client           plan.Client   // the user's settings, such as the news server
	Gateways         plan.Gateways // gateways for other schemes
	ProposedGateways bool          // also use the gateways that the catalogue of schemes proposes
	Local            plan.Step     // tried before FTP, for files that are also accessible locally; see [plan.Retriever]

	// Resolver resolves names. If it is nil, names are not retrieved.
	Resolver nomen.Resolver

	// Guarded resolves untrusted names. It must not contact resolvers in a private network, because
	// an attacker could choose a name that leads to such a resolver. If Guarded is nil, untrusted
	// names are retrieved only if AllowPrivate is set.
	Guarded nomen.Resolver

	UserAgent string // the User-Agent field of HTTP requests; "" means no User-Agent

	// DNS looks up hosts. nil means [net.DefaultResolver].
	DNS discover.DNS

	// Dial connects to an address, which the Fetcher has already checked. nil means a [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	TLS   *tls.Config       // for HTTPS, and for news over TLS; nil means the default
	Now   func() time.Time  // returns the current time; nil means [time.Now]
	Log   *slog.Logger      // nil means no log
	Trace func(step string) // called with a description of each step, by one goroutine at a time; may be nil
}

// A Request has the options of a call of [Fetcher.Fetch]. The zero Request is for a whole resource,
// whose URL is not trusted.
type Request struct {
	// Trusted means that the user has typed the URL. A trusted URL can have a private address, can
	// identify a local file, and can contain credentials. URLs to which a trusted URL leads, for
	// example by a redirect, are not trusted.
	Trusted bool

	// Offset is the number of bytes to skip, and Length is the number of bytes to return. A Length
	// of 0 means all bytes after Offset.
	Offset, Length int64

	// Validator identifies the version of the object whose first Offset bytes the caller already
	// has. If the object has changed or may have changed, the whole object is returned.
	Validator string

	Accept    string // media ranges (RFC 9110, section 12.5.1); "" means any
	Languages string // language ranges (RFC 9110, section 12.5.4); "" means any

	// URN is the dialect of a URN that the user has typed. The zero value means the latest dialect.
	// In [urn.Draft2012] the directive c selects a component of the resource. The directive s,
	// which requests a service, has no effect.
	URN urn.Dialect
}

// An Object is a fetched resource.
type Object struct {
	nomen.Resource           // Size is the size of the whole object, even if Body is only a part
	Offset         int64     // offset of Body in the object
	Validator      string    // for [Request.Validator]; "" if changes cannot be detected
	Modified       time.Time // zero if unknown
	Retrieved      time.Time
	Fragment       string   // fragment of the last URL with a fragment (RFC 9110, section 10.2.2), or ""
	Chain          []string // all requested URLs, in order, without passwords
}

// A Fetcher fetches the resources of names and URLs. It is safe for concurrent use.
type Fetcher struct {
	o       Options // with defaults
	open    *http.Transport
	guarded *http.Transport
	tracing sync.Mutex
}

// New returns a Fetcher. It returns an error if an option is invalid.
func New(o Options) (*Fetcher, error) {
	f := &Fetcher{o: o}
	if !isField(o.UserAgent) {
		return nil, errors.New("fetch: invalid control character in UserAgent")
	}
	for _, s := range o.Schemes {
		if !scheme.IsName(strings.ToLower(s)) {
			return nil, fmt.Errorf("fetch: %q: %w", s, scheme.ErrName)
		}
	}
	f.setDefaults()
	f.open = f.newTransport(true)
	f.guarded = f.newTransport(false)
	return f, nil
}

func (f *Fetcher) setDefaults() {
	o := &f.o
	setDefault(&o.MaxSize, defaultMaxSize)
	setDefault(&o.Timeout, DefaultTimeout)
	setDefault(&o.MaxTime, DefaultMaxTime)
	setDefault(&o.MaxRedirects, DefaultMaxRedirects)
	if o.Client.Formats == nil {
		o.Client.Formats = plan.UsualFormats()
	}
	if o.DNS == nil {
		o.DNS = net.DefaultResolver
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func setDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// Close closes idle connections.
func (f *Fetcher) Close() error {
	f.open.CloseIdleConnections()
	f.guarded.CloseIdleConnections()
	return nil
}

// Location fetches a URL that a naming authority has registered as the location of a resource. The
// URL is not trusted.
func (f *Fetcher) Location(ctx context.Context, at string) (*nomen.Resource, error) {
	u, err := uri.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if err := location.CheckURI(u); err != nil {
		return nil, &RefusedError{URL: u.Redacted(), Why: err.Error()}
	}
	return f.Fetch(ctx, u, Request{})
}

// Fetch fetches the resource of a name or a URL. The caller must close the body, which can be read
// until ctx is done. Fetch returns the same errors as [Fetcher.Open].
func (f *Fetcher) Fetch(ctx context.Context, location uri.URI, r Request) (*nomen.Resource, error) {
	o, err := f.Open(ctx, location, r)
	if err != nil {
		return nil, err
	}
	return &o.Resource, nil
}

// Open is like Fetch, but returns an [Object], which has more information about the resource.
//
// The error is or wraps one of the following: a [*RefusedError], [*StatusError], [*SizeError],
// [*RedirectError], [*FormatError] or [*SessionError], an error of [plan.Retriever.Retrieve], a
// [*nomen.Error] of the resolver, or an error of the network or of ctx. Reading the body can return
// the same errors.
func (f *Fetcher) Open(ctx context.Context, location uri.URI, r Request) (*Object, error) {
	if r.Offset < 0 || r.Length < 0 {
		return nil, fmt.Errorf("fetch: invalid range: %d bytes from offset %d", r.Length, r.Offset)
	}
	if !isField(r.Validator) || !isField(r.Accept) || !isField(r.Languages) {
		return nil, errors.New("fetch: invalid control character in Validator, Accept or Languages")
	}
	ctx, watch := newWatch(ctx, f.o.Timeout, f.o.MaxTime)
	j := &retrieval{fetcher: f, request: r, seen: map[uri.URI]bool{}, watch: watch}
	o, err := j.travel(ctx, location)
	if err != nil {
		watch.end()
		f.o.Log.Debug("fetch failed", "location", location.Redacted(), "err", err)
		return nil, watch.explain(location.Redacted(), err)
	}
	f.o.Log.Debug("fetched", "location", location.Redacted(), "url", o.URL, "type", o.Type, "size", o.Size)
	return o, nil
}

func (f *Fetcher) tracef(format string, args ...any) {
	if f.o.Trace == nil {
		return
	}
	f.tracing.Lock()
	defer f.tracing.Unlock()
	f.o.Trace(fmt.Sprintf(format, args...))
}

func (f *Fetcher) allows(name string) bool {
	return f.o.Schemes == nil || slices.ContainsFunc(f.o.Schemes, func(s string) bool { return strings.EqualFold(s, name) })
}

func isField(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

type closing struct {
	io.Reader
	close func() error
}

func (c closing) Close() error { return c.close() }
