package signin

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// claims maps the names of claims to their values, as an identity provider has sent them.
type claims map[string]json.RawMessage

type claimValue struct {
	Claim string `json:"claim"`
	Value string `json:"value"`
}

// The maximum sizes of values taken from claims, in bytes.
const (
	maxSubject = 255 // maximum in OpenID Connect
	maxName    = 200
	maxMail    = 254
)

// check verifies the properties of an ID token that package oidc does not verify.
func (c claims) check(id *oidc.IDToken, nonce, client string) error {
	azp, named := c["azp"]
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1:
		return errors.New("wrong nonce")
	case named && c.text("azp") != client:
		return fmt.Errorf("it was issued to another client %s", azp)
	case len(id.Audience) > 1 && !named:
		return errors.New("several audiences and no azp")
	case id.Subject == "" || len(id.Subject) > maxSubject || strings.IndexFunc(id.Subject, unicode.IsControl) >= 0:
		return fmt.Errorf("invalid subject %.300q", id.Subject)
	}
	return nil
}

func (c claims) text(name string) (s string) {
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

func (c claims) values(name string) (all []string) {
	if s := c.text(name); s != "" {
		return []string{s}
	}
	var list []any
	_ = json.Unmarshal(c[name], &list) // a claim of another type has no texts
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// lack reports whether the claim "name", or a claim that a mapping needs, is missing.
func (c claims) lack(m []Mapping) bool {
	return c["name"] == nil || slices.ContainsFunc(m, func(m Mapping) bool { return c[m.Claim] == nil })
}

// complete adds the claims that the provider sends only at its UserInfo endpoint.
func (c claims) complete(ctx context.Context, found *oidc.Provider, token *oauth2.Token) error {
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return err
	}
	if info.Subject != c.text("sub") {
		return fmt.Errorf("UserInfo is about another subject %.300q", info.Subject)
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return err
	}
	for name, value := range more {
		if _, ok := c[name]; !ok {
			c[name] = value
		}
	}
	return nil
}

func (c claims) matched(m []Mapping) (all []claimValue) {
	for _, m := range m {
		v := claimValue{m.Claim, m.Value}
		if slices.Contains(c.values(m.Claim), m.Value) && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// mapped returns the rights that the current mappings give for these values of claims.
func (s *state) mapped(issuer string, values []claimValue) (all []registrar.Grant) {
	p := s.byIssuer(issuer)
	if p == nil {
		return nil
	}
	for _, m := range p.Map {
		if slices.Contains(values, claimValue{m.Claim, m.Value}) {
			all = append(all, m.Grant)
		}
	}
	return all
}

// An unknownError reports a person who is not an enabled user.
type unknownError struct {
	subject  string
	disabled bool
}

func (e *unknownError) Error() string { return fmt.Sprintf("unknown person %q", e.subject) }

// personOf returns the user with the subject in the claims. If the user does not exist yet but a mapping
// gives rights to the person, it adds a user.
func (m *Manager) personOf(ctx context.Context, s *state, p *provider, c claims) (*Person, error) {
	subject := p.Issuer + " " + c.text("sub")
	person, err := m.o.People.PersonOf(ctx, subject)
	if errors.Is(err, store.ErrNotFound) && len(s.mapped(p.Issuer, c.matched(p.Map))) > 0 {
		person, err = m.add(ctx, Newcomer{Subject: subject, Name: c.name(), Mail: c.mail()})
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, &unknownError{subject, false}
	case err == nil && person.Disabled:
		return nil, &unknownError{subject, true}
	}
	return person, err
}

// add adds a user. If another request has just added the user, add returns that user.
func (m *Manager) add(ctx context.Context, n Newcomer) (*Person, error) {
	p, err := m.o.People.Add(ctx, n)
	if err != nil {
		if there, e := m.o.People.PersonOf(ctx, n.Subject); e == nil {
			return there, nil
		}
		return nil, err
	}
	m.log.Info("user added", "user", p.ID, "subject", n.Subject)
	return p, nil
}

func (c claims) name() string {
	for _, claim := range []string{"name", "preferred_username", "email", "sub"} {
		if s := oneLine(c.text(claim), maxName); s != "" {
			return s
		}
	}
	return "-"
}

// oneLine returns text without invisible characters, and with at most limit bytes.
func oneLine(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	for i, r := range s {
		if i+len(string(r)) > limit {
			s = s[:i]
			break
		}
	}
	return strings.TrimSpace(s)
}

func (c claims) mail() string {
	s := c.text("email")
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s || s != oneLine(s, maxMail) {
		return ""
	}
	return s
}
