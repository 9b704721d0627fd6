package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/pages"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/metrics"
	"github.com/nomen-project/nomen/signin"
	"github.com/nomen-project/nomen/store"
)

type signInFlags struct {
	url, contact   string
	idle, absolute time.Duration
	header         string
	proxies        []string
	ca             string // file
}

func (o *signInFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.url, "sign-in.url", "", "scheme and host at which browsers reach the pages, such as https://names.example.org (default the address of an admin listener)")
	f.StringVar(&o.contact, "sign-in.contact", "", "whom people without rights should ask")
	f.DurationVar(&o.idle, "sign-in.idle", signin.DefaultIdle, "how long a session lasts without requests")
	f.DurationVar(&o.absolute, "sign-in.absolute", signin.DefaultAbsolute, "how long a session lasts")
	f.StringVar(&o.header, "sign-in.header", "", "request field in which a proxy names the user, such as X-Remote-User (default none)")
	f.StringSliceVar(&o.proxies, "sign-in.proxies", nil, "connections of the proxies that may send this field: unix:PATH for a Unix socket of an admin listener, or tls:NAME for clients with a certificate for a DNS name (default none)")
	f.StringVar(&o.ca, "sign-in.ca", "", "PEM file of the authorities that issue the certificates of these proxies")
}

// An oidcTable is an [[oidc]] table of the configuration file. It describes an identity provider.
type oidcTable struct {
	ID         string    `toml:"id" json:"id,omitempty"`
	Name       string    `toml:"name" json:"name,omitempty"`
	Issuer     string    `toml:"issuer" json:"issuer"`
	ClientID   string    `toml:"client-id" json:"client-id"`
	SecretFile string    `toml:"client-secret-file" json:"client-secret-file,omitempty"`
	Scopes     []string  `toml:"scopes" json:"scopes,omitempty"`
	SignOut    bool      `toml:"sign-out" json:"sign-out,omitempty"`
	Map        []oidcMap `toml:"map" json:"map,omitempty"`
}

// An oidcMap is an [[oidc.map]] table. It grants a role to all people with a claim.
type oidcMap struct {
	Claim  string `toml:"claim" json:"claim"`
	Value  string `toml:"value" json:"value"`
	Role   string `toml:"role" json:"role"`
	Prefix string `toml:"prefix" json:"prefix"`
}

// everywhere is the prefix for a right to all names. An empty prefix is an error, so that a
// forgotten prefix does not grant a right to all names.
const everywhere = "*"

func oidcKeys() []configKey {
	const table = "[[oidc]]\nissuer = \"https://login.example.org\"\nclient-id = \"nomen\"\n"
	key := func(name, meaning, kind, byDefault, example string) configKey {
		return configKey{Key: "oidc." + name, Meaning: meaning, Type: kind, Default: byDefault, Reload: true, Example: table + example}
	}
	right := func(name, meaning string) configKey {
		return key("map."+name, meaning, "string", "", "[[oidc.map]]\nclaim = \"groups\"\nvalue = \"nbn-editors\"\nrole = \"editor\"\nprefix = \"urn:nbn:fi\"")
	}
	return []configKey{
		key("issuer", "URL of an identity provider of OpenID Connect, exactly as the provider writes it", "string", "", ""),
		key("client-id", "ID that the provider has assigned to this server", "string", "", ""),
		key("client-secret-file", "file with the secret that the provider has assigned, or credential:NAME", "string", "none", `client-secret-file = "credential:oidc"`),
		key("id", "part of the URL to which the provider sends people back: /-/ui/sign-in/at/ID/callback", "string", "the host of the issuer, with hyphens", `id = "example"`),
		key("name", "name of the provider for people", "string", "the host of the issuer", `name = "Example University"`),
		key("scopes", "scopes to request in addition to openid, profile and email", "list", "", `scopes = ["groups"]`),
		key("sign-out", "after sign-out, offer a link to sign out at the provider too", "bool", "false", "sign-out = true"),
		{Key: "oidc.map", Meaning: "rights for people with a claim: tables with claim, value, role and prefix", Type: "list", Reload: true, Example: right("claim", "").Example},
		right("claim", "claim that gives a right to the people who have it"),
		right("value", "value that the claim, or an element of it, must have"),
		right("role", "the right: reader, editor, owner or administrator"),
		right("prefix", "prefix of the names for which the right is, or * for all names"),
	}
}

func (f *configFile) oidc() []oidcTable {
	if f == nil {
		return nil
	}
	return f.tables.OIDC
}

func (c *cli) signIn(o *signInFlags) (s signin.Settings, err error) {
	s = signin.Settings{URL: o.url, Contact: o.contact, Idle: o.idle, Absolute: o.absolute, Header: o.header}
	var errs []error
	fail := func(err error) { errs = append(errs, err) }
	for i, t := range c.file.oidc() {
		p, err := c.provider(i, t)
		s.Providers = append(s.Providers, p)
		fail(err)
	}
	if s.IsProxy, err = c.proxyCheck(o); err != nil {
		fail(err)
	}
	for _, err := range flatten(s.Check()) {
		fail(c.settingError(err))
	}
	if o.idle == 0 || o.absolute == 0 {
		fail(usagef("serve: --sign-in.idle and --sign-in.absolute must be positive"))
	}
	if !isFieldName(o.header) {
		fail(usagef("serve: --sign-in.header %q: must be the name of a request field, such as X-Remote-User", o.header))
	}
	return s, errors.Join(errs...)
}

func (c *cli) settingError(err error) error {
	var bad *signin.SettingError
	switch {
	case !errors.As(err, &bad):
		return err
	case bad.Provider >= 0:
		return c.file.errorf(fmt.Sprintf("oidc.%d.%s", bad.Provider+1, bad.Key), "oidc %d: %s: %s", bad.Provider+1, bad.Key, bad.Message)
	case bad.Key == "url" && !c.flags.Changed("sign-in.url"): // the tables need it
		return c.file.errorf("oidc.1.issuer", "sign-in.url %s", bad.Message)
	}
	return usagef("serve: --sign-in.%s: %s", bad.Key, bad.Message)
}

func (c *cli) provider(i int, t oidcTable) (signin.Provider, error) {
	p := signin.Provider{ID: t.ID, Name: t.Name, Issuer: t.Issuer, ClientID: t.ClientID, Scopes: t.Scopes, SignOut: t.SignOut}
	if u, err := url.Parse(t.Issuer); err == nil {
		p.ID = cmp.Or(p.ID, strings.NewReplacer(".", "-", ":", "-").Replace(u.Host))
	}
	place := fmt.Sprintf("oidc.%d", i+1)
	var errs []error
	if t.SecretFile != "" {
		text, err := readCredential(t.SecretFile)
		if p.ClientSecret = strings.TrimRight(string(text), "\r\n"); err == nil && p.ClientSecret == "" {
			err = errors.New("the file is empty")
		}
		if err != nil {
			errs = append(errs, c.file.errorf(place+".client-secret-file", "oidc %d: client-secret-file: %w", i+1, err))
		}
	}
	for j, m := range t.Map {
		right, key, err := m.mapping()
		if err != nil {
			errs = append(errs, c.file.errorf(fmt.Sprintf("%s.map.%d.%s", place, j+1, key), "oidc %d: map %d: %s: %w", i+1, j+1, key, err))
		}
		p.Map = append(p.Map, right)
	}
	return p, errors.Join(errs...)
}

// mapping returns the right in a table. If a key is invalid, it returns the key and an error.
func (m oidcMap) mapping() (right signin.Mapping, key string, err error) {
	role, ok := registrar.ParseRole(m.Role)
	right = signin.Mapping{Claim: m.Claim, Value: m.Value, Grant: registrar.Grant{Role: role}}
	switch {
	case m.Claim == "":
		return right, "claim", errors.New("is missing: want for example groups")
	case m.Value == "":
		return right, "value", errors.New("is missing: want the value that the claim must have")
	case !ok:
		return right, "role", fmt.Errorf("%q must be reader, editor, owner or administrator", m.Role)
	case m.Prefix == "":
		return right, "prefix", errors.New(`is missing: want a prefix such as urn:nbn:fi, or "*" for all names`)
	case m.Prefix == everywhere:
		return right, "", nil
	}
	p, err := name.ParseScope(m.Prefix)
	right.Grant.Prefixes = []name.Prefix{p}
	return right, "prefix", err
}

// proxyCheck returns a function that reports whether a request comes from a proxy that is permitted
// to set the name of the user.
func (c *cli) proxyCheck(o *signInFlags) (func(*http.Request) bool, error) {
	var errs []error
	var sockets, names []string
	for _, text := range o.proxies {
		kind, rest, _ := strings.Cut(text, ":")
		switch {
		case kind == "unix" && rest != "":
			if !filepath.IsAbs(rest) {
				rest = filepath.Join(c.data, rest)
			}
			path, err := filepath.Abs(rest)
			sockets, errs = append(sockets, path), append(errs, err)
		case kind == "tls" && rest != "" && strings.TrimLeftFunc(rest, ofHost) == "":
			names = append(names, rest)
		default:
			errs = append(errs, usagef("serve: --sign-in.proxies: invalid proxy %q: want for example unix:/run/nomen/pages.sock or tls:proxy.example.org; a network is not enough, because every program there could name any user", text))
		}
	}
	if (o.header == "") != (len(o.proxies) == 0) {
		errs = append(errs, usagef("serve: --sign-in.header and --sign-in.proxies must be set together"))
	}
	if (o.ca == "") != (len(names) == 0) {
		errs = append(errs, usagef("serve: --sign-in.ca and tls:NAME in --sign-in.proxies must be set together"))
	}
	if o.ca != "" {
		_, err := o.authorities()
		errs = append(errs, err)
	}
	return func(r *http.Request) bool { return fromSocket(r, sockets) || fromHolder(r, names) }, errors.Join(errs...)
}

func fromSocket(r *http.Request, sockets []string) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr)
	return ok && slices.Contains(sockets, at.Name)
}

func fromHolder(r *http.Request, names []string) bool {
	return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 &&
		slices.ContainsFunc(names, func(name string) bool { return r.TLS.VerifiedChains[0][0].VerifyHostname(name) == nil })
}

func (o *signInFlags) authorities() (*x509.CertPool, error) {
	text, err := readCredential(o.ca)
	if err != nil {
		return nil, usagef("serve: --sign-in.ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, usagef("serve: --sign-in.ca: %s: no certificate found; want a PEM file", o.ca)
	}
	return pool, nil
}

// requestCertificates makes the admin listeners with TLS ask clients for a certificate. Only
// proxies need one.
func (f *serveFlags) requestCertificates() error {
	if f.signIn.ca == "" {
		return nil
	}
	pool, err := f.signIn.authorities()
	if err != nil {
		return err
	}
	for i := range f.specs {
		if s := &f.specs[i]; s.admin && s.secure != nil {
			s.secure = s.secure.Clone()
			s.secure.ClientAuth, s.secure.ClientCAs = tls.VerifyClientCertIfGiven, pool
		}
	}
	return nil
}

type pagesSessions struct{ *signin.Manager }

func (s pagesSessions) Session(r *http.Request) (*pages.Session, error) {
	found, err := s.Manager.Session(r)
	if found == nil || err != nil {
		return nil, err
	}
	return &pages.Session{UserID: found.ID, Name: found.Name, Actor: found.Actor}, nil
}

func (c *cli) newAdminWithPages(f *serveFlags, p serverParts, o admin.Options) (*admin.API, *signin.Manager, error) {
	vault, err := store.VaultOf(p.store)
	users, err2 := store.UsersOf(p.store)
	settings, err3 := c.signIn(&f.signIn)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, nil, err
	}
	var site *pages.Pages // set before the first request
	manager, err := signin.New(signin.Options{
		Vault: vault, People: signin.Users{Store: users, Registrar: p.registrar}, IsLocal: pages.IsLocal, Now: clock, Log: p.log, Count: p.seen.metrics.SignIn,
		Show: func(w http.ResponseWriter, r *http.Request, status int, v signin.View) {
			site.ShowSignIn(w, r, status, v)
		},
	}, settings)
	if err != nil {
		return nil, nil, err
	}
	o.Pages = manager.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { site.ServeHTTP(w, r) }))
	o.SignInLink = func(ctx context.Context, user string) (string, time.Time, error) {
		base, err := p.live.pagesURL()
		if err != nil {
			return "", time.Time{}, err
		}
		target, until, err := manager.Link(ctx, user)
		return base + target, until, err
	}
	o.EndSessions = manager.EndAll
	api, err := admin.New(o)
	if err != nil {
		return nil, nil, err
	}
	var trusted []string
	if f.signIn.url != "" {
		trusted = []string{f.signIn.url}
	}
	site, err = pages.New(pages.Options{
		Client: api.Client, Sessions: pagesSessions{manager}, SignIn: manager.Handler(), TrustedOrigins: trusted, Now: clock, Log: p.log,
		Condition: func() pages.Condition { return p.condition(api) },
		PublicURL: func() string { return p.live.now.Load().flags.publicURL },
	})
	return api, manager, err
}

func (p serverParts) condition(api *admin.API) pages.Condition {
	_, hasBackups := p.store.(store.Backuper)
	scrub, _ := api.Scrub()
	var answers []pages.Answers
	for class, n := range p.seen.metrics.Answered() {
		if n > 0 {
			answers = append(answers, pages.Answers{Class: class, Count: n})
		}
	}
	return pages.Condition{
		Answers: answers, Started: p.seen.started,
		Backup: p.seen.tasks.LastSuccess(metrics.TaskBackup), Database: !hasBackups, Certificate: p.seen.expiry(),
		Verified: scrub.Ended, Faults: scrub.Faults,
	}
}

func (v *liveServer) pagesURL() (string, error) {
	if url := cmp.Or(v.now.Load().flags.signIn.url, v.browsable); url != "" {
		return url, nil
	}
	return "", &adminapi.StatusError{
		Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented,
		Detail: "no admin listener has an address for browsers; set sign-in.url in the configuration",
	}
}

// browsableURL returns the scheme and host of an admin listener that browsers can reach. The result
// is "" if they can reach none.
func browsableURL(listeners []server.Listener) string {
	for _, l := range listeners {
		at, ok := l.Open.Addr().(*net.TCPAddr)
		if !l.Admin || !ok {
			continue
		}
		scheme, host := "http://", at.String()
		if at.IP.IsUnspecified() {
			host = fmt.Sprintf("localhost:%d", at.Port)
		}
		if l.TLS != nil {
			scheme = "https://"
		}
		return scheme + host
	}
	return ""
}

func (v *liveServer) setSignIn(s signin.Settings) {
	if err := v.signIn.Set(s); err != nil {
		v.parts.log.Error("cannot change how people sign in", "err", err)
	}
}
