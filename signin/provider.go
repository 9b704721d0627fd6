package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Provider is an identity provider of OpenID Connect.
type Provider struct {
	ID           string   // used in URLs: lower-case letters, digits and hyphens
	Name         string   // for display; the host of Issuer if empty
	Issuer       string   // URL
	ClientID     string   // ID of this server at the provider
	ClientSecret string   // "" for a client without a secret
	Scopes       []string // besides openid, profile and email
	Map          []Mapping
	SignOut      bool // a person who signs out here can also sign out at the provider
}

// A Mapping gives a right to people for whom the provider has sent a claim with a certain value. A
// session keeps the values that the claims had at the sign-in.
type Mapping struct {
	Claim, Value string
	Grant        registrar.Grant
}

// The limits on requests to providers.
const (
	maxAsking     = 20 // maximum number of concurrent requests
	askTime       = 10 * time.Second
	maxResponse   = 1 << 20 // maximum size of a response in bytes
	retryTime     = 5 * time.Second
	discoveryTime = 24 * time.Hour
)

// An AwayError reports that a provider does not answer, or answers incorrectly.
type AwayError struct {
	Provider string // name of the provider
	Err      error
}

func (e *AwayError) Error() string { return fmt.Sprintf("identity provider %s: %v", e.Provider, e.Err) }
func (e *AwayError) Unwrap() error { return e.Err }

// A SettingError reports an invalid setting.
type SettingError struct {
	Provider int    // index in Settings.Providers; -1 for other settings
	Key      string // url, issuer, client-id, name, header, idle or absolute
	Message  string
}

func (e *SettingError) Error() string {
	if e.Provider < 0 {
		return fmt.Sprintf("signin: %s: %s", e.Key, e.Message)
	}
	return fmt.Sprintf("signin: provider %d: %s: %s", e.Provider+1, e.Key, e.Message)
}

// Check returns the errors of all settings, each a [*SettingError].
func (s *Settings) Check() error {
	var errs []error
	must := func(ok bool, provider int, key, format string, args ...any) {
		if !ok {
			errs = append(errs, &SettingError{provider, key, fmt.Sprintf(format, args...)})
		}
	}
	must(s.Idle >= 0, -1, "idle", "%v must be positive", s.Idle)
	must(s.Absolute >= 0, -1, "absolute", "%v must be positive", s.Absolute)
	must(s.URL != "" || len(s.Providers) == 0, -1, "url", "is missing: identity providers send people back to it")
	must(s.URL == "" || isOrigin(s.URL), -1, "url", "%q must be an https URL without a path, such as https://names.example.org", s.URL)
	must(!slices.Contains([]string{"Cookie", "Host", "Authorization", "Origin"}, http.CanonicalHeaderKey(s.Header)), -1, "header", "%q has another meaning; use a field such as X-Remote-User", s.Header)
	for i := range s.Providers {
		p := &s.Providers[i]
		must(isProviderID(p.ID) || p.ID == "" && !isIssuer(p.Issuer), i, "id", "%q must be lower-case letters, digits and hyphens", p.ID)
		must(isIssuer(p.Issuer), i, "issuer", "%q must be an https URL without query and fragment, such as https://login.example.org", p.Issuer)
		must(p.ClientID != "", i, "client-id", "is missing: the provider assigns it")
		for j := range i {
			must(s.Providers[j].ID != p.ID, i, "id", "provider %d has the same ID %q", j+1, p.ID)
			must(s.Providers[j].Issuer != p.Issuer, i, "issuer", "provider %d has the same issuer", j+1)
		}
	}
	return errors.Join(errs...)
}

func isProviderID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// isSafe reports whether requests to a URL cannot be read on the network, because the scheme is
// https or the URL leads to this machine.
func isSafe(u *url.URL) bool {
	return u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && store.IsLoopbackHost(store.CanonicalHost(u.Host)))
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && isSafe(u) && s == u.Scheme+"://"+u.Host
}

func isIssuer(s string) bool {
	u, err := url.Parse(s)
	return err == nil && isSafe(u) && !strings.ContainsAny(s, "?# ")
}

type provider struct {
	Provider
	url    string // URL of the pages
	client *http.Client
	now    func() time.Time
	lock   chan struct{} // contains an element while the fields below are in use

	found *oidc.Provider // configuration; nil before the first success
	since time.Time      // time of found
	away  error          // nil if the last discovery succeeded
	until time.Time      // when to try again after a failure
}

func newProvider(p Provider, url string, transport http.RoundTripper, now func() time.Time) *provider {
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &provider{
		Provider: p, url: url, now: now, lock: make(chan struct{}, 1),
		client: &http.Client{
			Timeout: askTime, Transport: boundedTransport{transport},
			CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("the provider redirects") },
		},
	}
}

func (p *provider) equal(o Provider, url string) bool {
	return p.url == url && reflect.DeepEqual(p.Provider, o)
}

func (p *provider) name() string {
	if p.Name != "" {
		return p.Name
	}
	u, err := url.Parse(p.Issuer)
	if err != nil {
		return p.Issuer
	}
	return u.Host
}

type boundedTransport struct{ http.RoundTripper }

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxResponse)
	}
	return resp, err
}

func (p *provider) context(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

// discover returns the configuration that the provider publishes. It requests the configuration at
// the first use, after a day, and some time after a failure. If the provider does not answer, the
// previous configuration stays valid.
func (p *provider) discover(ctx context.Context) (*oidc.Provider, error) {
	select {
	case p.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, &AwayError{p.name(), context.Cause(ctx)}
	}
	defer func() { <-p.lock }()
	now := p.now()
	switch {
	case p.found != nil && now.Sub(p.since) < discoveryTime, p.found != nil && now.Before(p.until):
		return p.found, nil
	case p.away != nil && now.Before(p.until):
		return nil, p.away
	}
	found, err := oidc.NewProvider(p.context(ctx), p.Issuer)
	if err == nil {
		err = checkEndpoints(found)
	}
	if err != nil {
		p.away, p.until = &AwayError{p.name(), err}, now.Add(retryTime)
		if p.found != nil {
			return p.found, nil
		}
		return nil, p.away
	}
	p.found, p.since, p.away = found, now, nil
	return found, nil
}

// isAway reports whether the last request for the configuration has failed recently. It does not
// wait for a request in progress.
func (p *provider) isAway() bool {
	select {
	case p.lock <- struct{}{}:
		defer func() { <-p.lock }()
		return p.away != nil && p.now().Before(p.until)
	default:
		return false
	}
}

// checkEndpoints rejects endpoints to which secrets would be sent unencrypted.
func checkEndpoints(found *oidc.Provider) error {
	e := found.Endpoint()
	for _, text := range []string{e.AuthURL, e.TokenURL} {
		if u, err := url.Parse(text); err != nil || !isSafe(u) {
			return fmt.Errorf("invalid endpoint %q: must be an https URL", text)
		}
	}
	return nil
}

func (p *provider) oauth(found *oidc.Provider) *oauth2.Config {
	c := &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: p.url + providerPath + p.ID + callback,
		Scopes:      append([]string{oidc.ScopeOpenID, "profile", "email"}, p.Scopes...),
	}
	var methods struct {
		List []string `json:"token_endpoint_auth_methods_supported"`
	}
	c.Endpoint.AuthStyle = oauth2.AuthStyleInHeader // the default of the standard
	if err := found.Claims(&methods); p.ClientSecret == "" || err == nil && len(methods.List) > 0 && !slices.Contains(methods.List, "client_secret_basic") {
		c.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return c
}
