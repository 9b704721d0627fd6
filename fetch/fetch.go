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

// Options configure a [Fetcher]. The zero value follows locators of every scheme that the
// package supports, and no names.
type Options struct {
	// Schemes are the schemes that may be followed, also by redirection; nil allows all. If a
	// gateway is used, both its scheme and the scheme that it serves must be listed.
	Schemes []string

	// AllowPrivate allows addresses outside the public Internet in untrusted locators.
	AllowPrivate bool

	MaxSize      int64         // bytes of a resource after decompression; 0 means 1 GiB, negative no limit
	Timeout      time.Duration // maximum time between two reads; 0 means DefaultTimeout
	MaxTime      time.Duration // maximum time for a whole resource; 0 means DefaultMaxTime
	MaxRedirects int           // maximum number of redirections and other steps from one locator to the next; 0 means DefaultMaxRedirects, negative none

	Client           plan.Client   // mail address, news server and the like
	Gateways         plan.Gateways // for schemes that the package does not support
	ProposedGateways bool          // also use the gateways that are proposed in the catalogue of schemes
	Local            plan.Step     // replaces FTP for files available locally; see [plan.Retriever]

	// Resolver resolves names; if nil, names are not followed.
	Resolver nomen.Resolver

	// Guarded resolves untrusted names. It must not contact resolvers in a private network, because
	// untrusted names could lead to them. If Guarded is nil, untrusted names are followed only if
	// AllowPrivate is set.
	Guarded nomen.Resolver

	UserAgent string // sent over HTTP; "" means none

	// DNS looks up hosts; nil means [net.DefaultResolver].
	DNS discover.DNS

	// Dial connects to an address, which has been checked; nil means a [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	TLS   *tls.Config       // for HTTPS and for news over TLS; nil means the default
	Now   func() time.Time  // the clock; nil means [time.Now]
	Log   *slog.Logger      // nil means no log
	Trace func(step string) // called with a description of each step for the user, one call at a time; may be nil
}

// A Request says which part of a resource to fetch, and whether its locator is trusted. The
// zero Request is for the whole resource, with an untrusted locator.
type Request struct {
	// Trusted says that the user named the locator. A trusted locator can be at a private address,
	// can be a file of this machine, and can contain credentials. The locators to which a trusted
	// locator leads are untrusted.
	Trusted bool

	// Offset is the number of bytes to skip, and Length the number of bytes to return after
	// them. A Length of 0 means all remaining bytes.
	Offset, Length int64

	// Validator is the validator of an earlier object, of which the caller has the first Offset
	// bytes. If the object has changed since then, or might have changed, the whole object is
	// returned.
	Validator string

	Accept    string // media ranges of RFC 9110, 12.5.1; "" means any
	Languages string // language ranges of RFC 9110, 12.5.4; "" means any

	// URN is the dialect in which to read a URN that the user named; zero means the latest. In
	// [urn.Draft2012] the directive c selects the component. The directive s has no effect, because
	// Fetch always returns the resource.
	URN urn.Dialect
}

// An Object is a fetched resource.
type Object struct {
	nomen.Resource           // Size is the size of the whole object; Body begins at Offset
	Offset         int64     // offset of Body in the object
	Validator      string    // for [Request.Validator]; "" if a later request cannot detect a change
	Modified       time.Time // zero if unknown
	Retrieved      time.Time
	Fragment       string   // fragment of the last locator that had one (RFC 9110, 10.2.2); "" if none had
	Chain          []string // the locators from the first to the last, without passwords
}

// A Fetcher follows names and locators to resources. It is safe for concurrent use.
type Fetcher struct {
	o       Options // with defaults filled in
	open    *http.Transport
	guarded *http.Transport
	tracing sync.Mutex
}

// New returns a fetcher. It returns an error if an option is invalid.
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

// Location fetches a location that an authority has given for a resource. The location is
// untrusted.
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

// Fetch follows a name or a locator to the resource. The body can be read until ctx is done;
// the caller must close it. See [Fetcher.Open] for the errors.
func (f *Fetcher) Fetch(ctx context.Context, location uri.URI, r Request) (*nomen.Resource, error) {
	o, err := f.Open(ctx, location, r)
	if err != nil {
		return nil, err
	}
	return &o.Resource, nil
}

// Open is like Fetch, but returns everything known about the resource.
//
// The error is or wraps a [*RefusedError], [*StatusError], [*SizeError], [*RedirectError],
// [*FormatError] or [*SessionError], an error of [plan.Retriever.Retrieve], a [*nomen.Error]
// of the resolver, or an error of the network or of ctx. Reading the body can fail with the
// same errors.
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

// allows reports whether a scheme may be followed.
func (f *Fetcher) allows(name string) bool {
	return f.o.Schemes == nil || slices.ContainsFunc(f.o.Schemes, func(s string) bool { return strings.EqualFold(s, name) })
}

// isField reports whether s is a valid value of a header field.
func isField(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// A closing reader reads from one reader, and closes another.
type closing struct {
	io.Reader
	close func() error
}

func (c closing) Close() error { return c.close() }
