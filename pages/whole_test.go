package pages

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/signin"
	"github.com/nomen-project/nomen/signin/signintest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A whole is an admin listener: the admin API with pages, to which people sign in at a provider.
type whole struct {
	*testing.T
	store    *memstore.Store
	provider *signintest.Provider
	manager  *signin.Manager
	api      *admin.API
	pages    *Pages
	url      string // scheme and host

	mu   sync.Mutex
	time time.Time // of the clock
}

// The users of a whole, by their sub at the provider, and their IDs.
var wholeUsers = map[string]*store.User{
	"admin":  {ID: "u-admin000", Name: "Anna Berg", Grants: []store.UserGrant{{Role: "administrator"}}},
	"second": {ID: "u-second00", Name: "Sam Second", Grants: []store.UserGrant{{Role: "administrator"}}},
	"editor": {ID: "u-editor00", Name: "Zoe Zhang", Grants: []store.UserGrant{{Role: "editor", Prefixes: []string{"urn:dns:example.org"}}}},
	"other":  {ID: "u-other000", Name: "Otto Other", Grants: []store.UserGrant{{Role: "owner", Prefixes: []string{"urn:dns:other.example"}}}},
}

type wholeSessions struct{ *signin.Manager }

func (s wholeSessions) Session(r *http.Request) (*Session, error) {
	found, err := s.Manager.Session(r)
	if found == nil || err != nil {
		return nil, err
	}
	return &Session{UserID: found.ID, Name: found.Name, Actor: found.Actor}, nil
}

// newWhole returns an admin listener with the fixture. Change changes how people sign in.
func newWhole(t *testing.T, change func(*signin.Settings)) *whole {
	t.Helper()
	w := &whole{T: t, store: memstore.New(), provider: signintest.New(t), time: servertest.Now}
	servertest.Fill(t, w.store)
	w.provider.Now = w.now
	for sub, u := range wholeUsers {
		c := *u
		c.Subjects, c.Since = []string{w.provider.URL + " " + sub}, servertest.Now
		if _, err := w.store.Apply(t.Context(), []store.Change{{User: &c, Time: servertest.Now}}); err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.api.ServeHTTP(rw, r) }))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.build(change)
	return w
}

// build makes what answers requests.
func (w *whole) build(change func(*signin.Settings)) {
	w.Helper()
	reg := registrar.New(w.store, registrar.Options{Now: w.now})
	settings := signin.Settings{URL: w.url, Contact: "the registrar's office", Providers: []signin.Provider{
		{ID: "uni", Name: "University", Issuer: w.provider.URL, ClientID: signintest.ClientID, ClientSecret: signintest.ClientSecret},
	}}
	if change != nil {
		change(&settings)
	}
	var err error
	w.manager, err = signin.New(signin.Options{
		Vault: w.store, People: signin.Users{Store: w.store, Registrar: reg}, IsLocal: IsLocal, Now: w.now,
		Show: func(rw http.ResponseWriter, r *http.Request, status int, v signin.View) {
			w.pages.ShowSignIn(rw, r, status, v)
		},
	}, settings)
	if err != nil {
		w.Fatal(err)
	}
	w.api, err = admin.New(admin.Options{
		Store: w.store, Resolver: resolve.New(w.store, resolve.Options{Now: w.now}), Registrar: reg, Now: w.now, EndSessions: w.manager.EndAll, Jobs: filepath.Join(w.TempDir(), "jobs"),
		Pages: w.manager.Protect(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.pages.ServeHTTP(rw, r) })),
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { w.api.Shutdown(context.Background()) })
	w.pages, err = New(Options{Client: w.api.Client, Sessions: wholeSessions{w.manager}, SignIn: w.manager.Handler(), Now: w.now, TrustedOrigins: []string{w.url}})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *whole) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *whole) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// A guest is a client that keeps cookies as browsers do, and does not follow redirects.
type guest struct {
	*whole
	cookies map[string]string
}

func (w *whole) guest() *guest { return &guest{w, map[string]string{}} }

// A reply is a response that was read.
type reply struct {
	*http.Response
	body string
}

// do sends a request with the cookies. Fields are names and values in turn.
func (g *guest) do(method, target string, form url.Values, fields ...string) reply {
	g.Helper()
	if !strings.HasPrefix(target, "http") {
		target = g.url + target
	}
	r, err := http.NewRequestWithContext(g.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		g.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i < len(fields); i += 2 {
		if r.Header.Set(fields[i], fields[i+1]); fields[i] == "Host" {
			r.Host = fields[i+1]
		}
	}
	for key, value := range g.cookies {
		r.AddCookie(&http.Cookie{Name: key, Value: value})
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		g.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		g.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if g.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(g.cookies, c.Name)
		}
	}
	return reply{resp, string(body)}
}

// signIn signs in at the provider, and returns the response that leads to next.
func (g *guest) signIn(sub, next string) reply {
	g.Helper()
	g.provider.Claims = map[string]any{"sub": sub, "name": "Someone"}
	begun := g.do(http.MethodGet, "/-/ui/sign-in/at/uni?next="+url.QueryEscape(next), nil)
	back := g.do(http.MethodGet, begun.Header.Get("Location"), nil)
	return g.do(http.MethodGet, back.Header.Get("Location"), nil)
}
