package signin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Root is the path of the pages.
const Root = "/-/ui/"

// Path is the path of the page on which people choose how to sign in.
const Path = Root + "sign-in"

// A Person has the fields of a user that this package needs.
type Person struct {
	ID       string
	Name     string          // for display
	Actor    registrar.Actor // with the rights of the user
	Disabled bool            // the user may not sign in
	Revision uint64          // revision of the user
}

// A Newcomer is a person who has signed in at a provider but is not a user yet.
type Newcomer struct {
	Subject string // see [People.PersonOf]
	Name    string // not empty
	Mail    string // may be empty
}

// People finds and adds users. It must be safe for concurrent use, and must not return outdated
// users.
type People interface {
	// Person returns the user with an ID, or [store.ErrNotFound].
	Person(ctx context.Context, id string) (*Person, error)

	// PersonOf returns the user who has a subject, or [store.ErrNotFound]. A subject is "ISSUER
	// SUB" for OpenID Connect, and "header VALUE" for the field of a proxy.
	PersonOf(ctx context.Context, subject string) (*Person, error)

	// LastDisabled returns the newest revision in which the user was disabled. It returns 0 if that
	// revision is not greater than the parameter after, or does not exist.
	LastDisabled(ctx context.Context, id string, after uint64) (revision uint64, err error)

	// Add adds a user without grants.
	Add(ctx context.Context, n Newcomer) (*Person, error)
}

// A Session says who is signed in.
type Session struct {
	Person
	Provider string // how the person signed in: an issuer, [ByHeader] or [ByLink]
}

// Values of [Session].Provider for sign-ins without an OpenID Connect provider.
const (
	ByHeader = "header"
	ByLink   = "link"
)

// Options configure a Manager. Vault, People, IsLocal and Show are required.
type Options struct {
	Vault  store.Vault
	People People

	// IsLocal reports whether target, which comes from a request, is a page of this server, so that
	// a redirect to target is safe.
	IsLocal func(target string) bool

	// Show sends a page about signing in.
	Show func(w http.ResponseWriter, r *http.Request, status int, v View)

	// Count counts an attempt to sign in. The way is one of [Ways], and the result is one of
	// [Results]. Count may be nil.
	Count func(way, result string)

	Transport http.RoundTripper // for requests to providers; [http.DefaultTransport] if nil

	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // discarded if nil
}

// Settings can be changed while a Manager is in use.
type Settings struct {
	URL     string // scheme and host at which browsers reach the pages; required with Providers
	Contact string // whom to ask for rights; may be empty

	Idle     time.Duration // a session ends after this time without requests; [DefaultIdle] if zero
	Absolute time.Duration // a session ends after this time; [DefaultAbsolute] if zero

	Header  string                   // header field with the name of the user, or ""
	IsProxy func(*http.Request) bool // reports whether a request comes from a proxy that may set Header; nil for never

	Providers []Provider
}

// The default lifetimes of a session.
const (
	DefaultIdle     = time.Hour
	DefaultAbsolute = 12 * time.Hour
)

// A Manager finds out who sent a request. It is safe for concurrent use.
type Manager struct {
	o       Options
	now     func() time.Time
	log     *slog.Logger
	asking  chan struct{} // contains an element for each request to a provider in progress
	setting sync.Mutex    // held by Set
	state   atomic.Pointer[state]
}

type state struct {
	Settings
	providers []*provider
}

// New returns a Manager.
func New(o Options, s Settings) (*Manager, error) {
	if o.Vault == nil || o.People == nil || o.IsLocal == nil || o.Show == nil {
		return nil, errors.New("signin: options: Vault, People, IsLocal and Show are required")
	}
	m := &Manager{o: o, now: o.Now, log: o.Log, asking: make(chan struct{}, maxAsking)}
	if m.now == nil {
		m.now = time.Now
	}
	if m.o.Count == nil {
		m.o.Count = func(string, string) {}
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.state.Store(&state{})
	return m, m.Set(s)
}

// Set replaces the settings. If the new settings lack a provider, the sessions of this provider
// end. If Set returns an error, it has changed nothing.
func (m *Manager) Set(s Settings) error {
	m.setting.Lock()
	defer m.setting.Unlock()
	s.Idle, s.Absolute = cmp.Or(s.Idle, DefaultIdle), cmp.Or(s.Absolute, DefaultAbsolute)
	if err := s.Check(); err != nil {
		return err
	}
	next := &state{Settings: s}
	for _, p := range s.Providers {
		next.providers = append(next.providers, m.provider(p, s.URL))
	}
	m.state.Store(next)
	return nil
}

// HasProviders reports whether the current providers equal the given providers, including their
// secrets and their order.
func (m *Manager) HasProviders(all []Provider) bool {
	return slices.EqualFunc(m.state.Load().providers, all, func(a *provider, b Provider) bool { return a.equal(b, a.url) })
}

// provider returns a provider with these settings. If the settings have not changed, it returns the
// current provider.
func (m *Manager) provider(p Provider, url string) *provider {
	for _, old := range m.state.Load().providers {
		if old.equal(p, url) {
			return old
		}
	}
	return newProvider(p, url, m.o.Transport, m.now)
}

func (s *state) byIssuer(issuer string) *provider {
	for _, p := range s.providers {
		if p.Issuer == issuer {
			return p
		}
	}
	return nil
}

// Session returns the session of a request, or nil if the client is not signed in.
func (m *Manager) Session(r *http.Request) (*Session, error) {
	s := m.state.Load()
	if value, ok := s.header(r); ok {
		return m.headerSession(r.Context(), value)
	}
	return m.cookieSession(r, s)
}
