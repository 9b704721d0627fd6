package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const flowCookie = "__Host-nomen-flow"

const (
	flowTime = 10 * time.Minute
	maxNext  = 1000 // bytes of the target of a flow
)

// A flow is a sign-in in progress at a provider. It is stored only in a cookie of the browser, so
// any node can complete the sign-in. A browser that alters the cookie can only make its own sign-in
// fail.
type flow struct {
	Provider string    `json:"p"` // ID of the provider
	Seed     []byte    `json:"s"` // secret; see value
	Next     string    `json:"n"` // target after the sign-in
	Since    time.Time `json:"t"`
}

func newFlow(provider, next string, now time.Time) flow {
	f := flow{Provider: provider, Seed: make([]byte, secretSize), Next: next, Since: now}
	_, _ = rand.Read(f.Seed) // it never fails
	return f
}

// value derives a value for one use, such as the nonce, from the seed. The value reveals neither
// the seed nor the values for other uses.
func (f flow) value(use string) string {
	sum := sha256.Sum256(append([]byte(use+"\x00"), f.Seed...))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (f flow) state() string    { return f.value("state") }
func (f flow) nonce() string    { return f.value("nonce") }
func (f flow) verifier() string { return f.value("verifier") } // code verifier of PKCE (RFC 7636)

// String returns a text for a cookie.
func (f flow) String() string {
	b, _ := json.Marshal(f) // cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseFlow(r *http.Request, now time.Time) (f flow, ok bool) {
	cookies := r.CookiesNamed(flowCookie)
	if len(cookies) != 1 {
		return f, false
	}
	b, err := base64.RawURLEncoding.DecodeString(cookies[0].Value)
	if err != nil || json.Unmarshal(b, &f) != nil || len(f.Seed) != secretSize {
		return flow{}, false
	}
	age := now.Sub(f.Since)
	return f, age >= 0 && age < flowTime
}

func (m *Manager) startFlow(w http.ResponseWriter, r *http.Request, p *provider) error {
	found, err := ask(m, r.Context(), p, p.discover)
	if err != nil {
		return err
	}
	f := newFlow(p.ID, m.next(r), m.now())
	setCookie(w, flowCookie, f.String(), int(flowTime/time.Second))
	see(w, p.oauth(found).AuthCodeURL(f.state(), oidc.Nonce(f.nonce()), oauth2.S256ChallengeOption(f.verifier())))
	return nil
}

var errBusy = errors.New("too many sign-ins at the same time")

// ask limits the time for do, which sends requests to a provider. If too many such requests are in
// progress, it returns an [*AwayError] with errBusy.
func ask[T any](m *Manager, ctx context.Context, p *provider, do func(context.Context) (T, error)) (out T, err error) {
	select {
	case m.asking <- struct{}{}:
		defer func() { <-m.asking }()
	default:
		return out, &AwayError{p.name(), errBusy}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return do(ctx)
}

type flowError struct {
	key    Fault
	reason error // error for the log
}

func (e *flowError) Error() string { return fmt.Sprintf("%s: %v", e.key, e.reason) }

func failed(key Fault, format string, args ...any) error {
	return &flowError{key, fmt.Errorf(format, args...)}
}

func (m *Manager) endFlow(w http.ResponseWriter, r *http.Request, s *state, p *provider) error {
	f, ok := parseFlow(r, m.now())
	setCookie(w, flowCookie, "", -1)
	q := r.URL.Query()
	switch {
	case !ok || f.Provider != p.ID:
		return failed(FaultFlow, "no sign-in at %s is in progress", p.ID)
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(f.state())) != 1:
		return failed(FaultFlow, "wrong state")
	case q.Has("iss") && q.Get("iss") != p.Issuer: // RFC 9207
		return failed(FaultFlow, "response of another issuer %q", q.Get("iss"))
	case q.Get("error") != "":
		return failed(FaultDenied, "the provider says %q", q.Get("error"))
	case q.Get("code") == "":
		return failed(FaultFlow, "no code")
	}
	claims, err := ask(m, r.Context(), p, func(ctx context.Context) (claims, error) { return p.exchange(ctx, m, f, q.Get("code")) })
	if err != nil {
		return err
	}
	person, err := m.personOf(r.Context(), s, p, claims)
	if err != nil {
		return err
	}
	if err := m.begin(w, r, person, p.Issuer, claims.matched(p.Map)); err != nil {
		return err
	}
	m.o.Count(wayProvider, resultSuccess)
	see(w, m.localOr(f.Next))
	return nil
}

func (p *provider) exchange(ctx context.Context, m *Manager, f flow, code string) (claims, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	ctx = p.context(ctx)
	token, err := p.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(f.verifier()))
	var rejected *oauth2.RetrieveError
	switch {
	case errors.As(err, &rejected) && rejected.Response.StatusCode < http.StatusInternalServerError:
		return nil, failed(FaultProvider, "the provider rejects the code: %d %q", rejected.Response.StatusCode, rejected.ErrorCode)
	case err != nil:
		return nil, &AwayError{p.name(), withoutURL(err)}
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return nil, failed(FaultProvider, "invalid ID token: %w", err)
	}
	c := claims{}
	if err := id.Claims(&c); err != nil {
		return nil, failed(FaultProvider, "invalid claims: %w", err)
	}
	if err := c.check(id, f.nonce(), p.ClientID); err != nil {
		return nil, failed(FaultProvider, "invalid ID token: %w", err)
	}
	if found.UserInfoEndpoint() != "" && c.lack(p.Map) {
		if err := c.complete(ctx, found, token); err != nil {
			m.log.Warn("cannot get all claims about a person", "provider", p.Issuer, "err", withoutURL(err))
		}
	}
	return c, nil
}

// withoutURL returns the reason for a failed request. It omits the URL, which may contain secrets.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

func (m *Manager) next(r *http.Request) string { return m.localOr(r.FormValue("next")) }

func (m *Manager) localOr(target string) string {
	if len(target) > maxNext || !m.o.IsLocal(target) || strings.HasPrefix(target, Path) || strings.HasPrefix(target, signOutPath) {
		return Root
	}
	return target
}

func see(w http.ResponseWriter, target string) {
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusSeeOther)
}
