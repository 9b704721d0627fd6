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
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// The defaults of [Options].
const (
	DefaultMaxSize      = 1 << 30
	DefaultTimeout      = 30 * time.Second
	DefaultMaxTime      = time.Hour
	DefaultMaxRedirects = 10
)

// Options configure a [Fetcher]. The zero value follows locators of every scheme
// that the package speaks, and no names.
type Options struct {
	// Schemes are those that may be followed, also by redirection; nil for all.
	// A scheme that is reached through a gateway has to be among them, and that
	// of the gateway too.
	Schemes []string

	// AllowPrivate lets strangers lead to addresses that are not of the public
	// Internet.
	AllowPrivate bool

	MaxSize      int64         // bytes of a resource, after decompression; 0 for DefaultMaxSize, negative for no limit
	Timeout      time.Duration // without a sign of the other side; 0 for DefaultTimeout
	MaxTime      time.Duration // for one resource to its end; 0 for DefaultMaxTime
	MaxRedirects int           // and other steps from locator to locator; 0 for DefaultMaxRedirects, negative for none

	Client           scheme.Client   // mail address, news server and the like
	Gateways         scheme.Gateways // for schemes that are not spoken here
	ProposedGateways bool            // also those that the catalogue of schemes proposes
	Local            scheme.Step     // instead of FTP where the same files are at hand; see [scheme.Retriever]

	// Resolver is asked for the locations of names; nil: names are not followed.
	Resolver nomen.Resolver

	// Guarded is asked in its place about names that a stranger has told, whose
	// resolvers could be inside too; nil: such names are followed only with
	// AllowPrivate.
	Guarded nomen.Resolver

	UserAgent string // sent over HTTP; "" for none

	// DNS looks hosts up; nil for [net.DefaultResolver].
	DNS discover.DNS

	// Dial connects to an address, which has been checked; nil for that of
	// [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	TLS   *tls.Config       // of HTTPS and of news over TLS; nil for the default
	Now   func() time.Time  // nil for [time.Now]
	Log   *slog.Logger      // nil for none
	Trace func(step string) // told each step in words for the user, one at a time; nil for none
}

// A Request says what is wanted of a resource, and how far whoever named it is
// trusted. The zero Request wants all of it, from a stranger.
type Request struct {
	// Trusted: the user has named the location himself, so that it may be at a
	// private address, a file of this machine, and have credentials in it.
	// What it leads to is a stranger's again.
	Trusted bool

	// Offset is how many bytes to leave out at the beginning, Length how many
	// are wanted then; 0 for all.
	Offset, Length int64

	// Validator is that of the object of which the caller has the first Offset
	// bytes. If it has changed since, or if nobody can say, the object comes from
	// its beginning.
	Validator string

	Accept    string // media ranges of RFC 9110, 12.5.1; "" for none
	Languages string // language ranges of RFC 9110, 12.5.4; "" for none

	// URN is the dialect in which a URN is read, if that is asked for; zero for the
	// latest. Of [urn.Draft2012] the directive c chooses the component; s chooses
	// nothing, as it is always the resource that is fetched.
	URN urn.Dialect
}

// An Object is a resource as it has been found.
type Object struct {
	nomen.Resource           // Size is that of the whole object; Body begins at Offset
	Offset         int64     // of the Body in the object
	Validator      string    // for [Request.Validator]; "" if a later part could not be told to be of the same object
	Modified       time.Time // zero if nobody said
	Retrieved      time.Time
	Fragment       string   // of the last locator that had one (RFC 9110, 10.2.2); "" for none
	Chain          []string // the locators from the first to the last, without passwords
}

// A Fetcher follows names and locators to resources. It is safe for concurrent
// use.
type Fetcher struct {
	o       Options // with their defaults
	open    *http.Transport
	guarded *http.Transport
	tracing sync.Mutex
}

// New returns a fetcher. The error says what is wrong with an option.
func New(o Options) (*Fetcher, error) {
	f := &Fetcher{o: o}
	if !isField(o.UserAgent) {
		return nil, errors.New("fetch: the User-Agent has control characters in it")
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
	setDefault(&o.MaxSize, DefaultMaxSize)
	setDefault(&o.Timeout, DefaultTimeout)
	setDefault(&o.MaxTime, DefaultMaxTime)
	setDefault(&o.MaxRedirects, DefaultMaxRedirects)
	if o.Client.Formats == nil {
		o.Client.Formats = scheme.UsualFormats()
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

// Close closes connections that are kept for later requests.
func (f *Fetcher) Close() error {
	f.open.CloseIdleConnections()
	f.guarded.CloseIdleConnections()
	return nil
}

// Location fetches on a stranger's behalf what an authority says is the location
// of a resource.
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

// Fetch follows a name or a locator to the resource. The body streams while ctx
// is not done; whoever gets it closes it. See [Fetcher.Open] for the errors.
func (f *Fetcher) Fetch(ctx context.Context, location uri.URI, r Request) (*nomen.Resource, error) {
	o, err := f.Open(ctx, location, r)
	if err != nil {
		return nil, err
	}
	return &o.Resource, nil
}

// Open is Fetch with all that is known of the resource.
//
// The error is or wraps a [*RefusedError], [*StatusError], [*SizeError],
// [*RedirectError], [*FormatError] or [*SessionError], one of the errors of
// [scheme.Retriever.Retrieve], a [*nomen.Error] of the resolver, or that of the
// network or of ctx. Reading the body can fail with the same.
func (f *Fetcher) Open(ctx context.Context, location uri.URI, r Request) (*Object, error) {
	if r.Offset < 0 || r.Length < 0 {
		return nil, fmt.Errorf("fetch: a range of %d bytes from %d on", r.Length, r.Offset)
	}
	if !isField(r.Validator) || !isField(r.Accept) || !isField(r.Languages) {
		return nil, errors.New("fetch: a request with control characters in it")
	}
	ctx, watch := newWatch(ctx, f.o.Timeout, f.o.MaxTime)
	j := &journey{fetcher: f, request: r, seen: map[uri.URI]bool{}, watch: watch}
	o, err := j.travel(ctx, location)
	if err != nil {
		watch.end()
		f.o.Log.Debug("nothing fetched", "location", location.Redacted(), "error", err)
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

// isField reports whether s can be the value of a header field.
func isField(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// closing is a reader whose Close is another's.
type closing struct {
	io.Reader
	close func() error
}

func (c closing) Close() error { return c.close() }
