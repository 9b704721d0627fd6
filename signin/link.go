package signin

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"github.com/nomen-project/nomen/store"
)

// LinkTime is how long a link is valid.
const LinkTime = 10 * time.Minute

type linkEntry struct {
	Hash  []byte    `json:"hash"` // SHA-256 of the secret
	Until time.Time `json:"until"`

	Revision uint64 `json:"revision"` // as in a session
}

func linkKey(user string) string { return "link." + user }

var errLink = errors.New("signin: the link is not valid")

// Link returns the path and query of a one-time link, with which anyone can sign in as the user
// until the returned time. An earlier link of the user becomes invalid. The error is
// [store.ErrNotFound] for an unknown user, and a [*store.StateError] for a disabled user.
func (m *Manager) Link(ctx context.Context, user string) (target string, until time.Time, err error) {
	if !isUserID(user) {
		return "", until, store.ErrNotFound
	}
	p, err := m.o.People.Person(ctx, user)
	if err != nil {
		return "", until, err
	}
	if p.Disabled {
		return "", until, &store.StateError{Key: user, Rule: "the user is disabled; enable the user before you make a link"}
	}
	c, until := newCredential(user), m.now().Add(LinkTime)
	text, err := json.Marshal(linkEntry{c.hash(), until, p.Revision})
	if err != nil {
		return "", until, err
	}
	if err := m.change(ctx, linkKey(user), func([]byte) ([]byte, error) { return text, nil }); err != nil {
		return "", until, err
	}
	return linkPath + "?" + url.Values{linkField: {c.String()}}.Encode(), until, nil
}

// linked returns the person for whom a link was made. The error for an invalid link is errLink.
func (m *Manager) linked(ctx context.Context, c credential) (*Person, error) {
	text, err := m.secret(ctx, linkKey(c.user))
	if err != nil {
		return nil, err
	}
	e, err := m.parseLink(text, c)
	if err != nil {
		return nil, err
	}
	p, err := m.o.People.Person(ctx, c.user)
	if errors.Is(err, store.ErrNotFound) || err == nil && p.Disabled {
		return nil, errLink
	}
	if err != nil {
		return nil, err
	}
	switch valid, err := m.survives(ctx, p, e.Revision); {
	case err != nil:
		return nil, err
	case !valid:
		return nil, errLink
	}
	return p, nil
}

// parseLink parses the link of a user in the vault. It returns errLink if the link has another
// credential than c.
func (m *Manager) parseLink(text []byte, c credential) (e linkEntry, err error) {
	if err := json.Unmarshal(text, &e); err != nil || !c.matches(e.Hash) || !m.now().Before(e.Until) {
		return e, errLink
	}
	return e, nil
}

// useLink makes a link invalid, and returns the person for whom it was made. If the link is already
// invalid, the error is errLink.
func (m *Manager) useLink(ctx context.Context, c credential) (*Person, error) {
	p, err := m.linked(ctx, c)
	if err != nil {
		return nil, err
	}
	return p, m.change(ctx, linkKey(c.user), func(text []byte) ([]byte, error) {
		_, err := m.parseLink(text, c)
		return nil, err
	})
}
