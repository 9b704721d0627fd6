package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/nomen-project/nomen/store"
)

// cookieName is the name of the cookie of a session. Browsers accept a cookie with the prefix
// __Host- only with Secure, the path / and no Domain. So no other host can set this cookie.
const cookieName = "__Host-nomen"

const (
	maxSessions = 20              // maximum number of sessions of a user
	useGrain    = 5 * time.Minute // precision of the last use of a session
)

type sessionEntry struct {
	Hash     []byte       `json:"hash"`     // SHA-256 of the secret in the cookie
	Provider string       `json:"provider"` // as in [Session]
	Created  time.Time    `json:"created"`
	Used     time.Time    `json:"used"`             // last use; can be too early by useGrain
	Claims   []claimValue `json:"claims,omitempty"` // claims, at the beginning of the session, for which there is a mapping
	Revision uint64       `json:"revision"`         // a revision of the user; the session ends if a later revision disables the user
}

func sessionsKey(user string) string { return "sessions." + user }

func parseSessions(text []byte) (all []sessionEntry, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("signin: sessions of a user: %w", err)
	}
	return all, nil
}

// formatSessions formats sessions for the vault. If there are too many sessions, it omits the
// sessions that have been unused for the longest time.
func formatSessions(all []sessionEntry) ([]byte, error) {
	all = slices.SortedFunc(slices.Values(all), func(a, b sessionEntry) int {
		return cmp.Or(b.Used.Compare(a.Used), b.Created.Compare(a.Created))
	})
	all = all[:min(len(all), maxSessions)]
	for len(all) > 0 {
		text, err := json.Marshal(all)
		if err != nil || len(text) <= store.MaxSecret || len(all) == 1 {
			return text, err
		}
		all = all[:len(all)-1]
	}
	return nil, nil
}

// isOver reports whether a session has ended, because it is too old or idle, or because its
// provider was removed.
func (e *sessionEntry) isOver(s *state, now time.Time) bool {
	return now.Sub(e.Created) >= s.Absolute || now.Sub(e.Used) >= s.Idle || !s.allows(e.Provider)
}

// allows reports whether the settings permit sessions of a provider.
func (s *state) allows(provider string) bool {
	return provider == ByLink || s.byIssuer(provider) != nil
}

// grain returns the precision with which the last use of a session must be stored.
func (s *state) grain() time.Duration { return min(useGrain, s.Idle/4) }

func findSession(all []sessionEntry, c credential) int {
	found := -1
	for i := range all {
		if c.matches(all[i].Hash) {
			found = i
		}
	}
	return found
}

// editSessions calls edit with the sessions of a user, and stores the result. It removes ended
// sessions.
func (m *Manager) editSessions(ctx context.Context, user string, edit func([]sessionEntry) []sessionEntry) error {
	return m.change(ctx, sessionsKey(user), func(old []byte) ([]byte, error) {
		all, err := parseSessions(old)
		if err != nil {
			m.log.Error("sessions are unreadable, and are ended", "user", user, "err", err)
		}
		s, now := m.state.Load(), m.now()
		all = slices.DeleteFunc(all, func(e sessionEntry) bool { return e.isOver(s, now) })
		return formatSessions(edit(all))
	})
}

func presented(r *http.Request) (credential, bool) {
	cookies := r.CookiesNamed(cookieName)
	if len(cookies) != 1 {
		return credential{}, false
	}
	return parseCredential(cookies[0].Value)
}

func (m *Manager) cookieSession(r *http.Request, s *state) (*Session, error) {
	c, ok := presented(r)
	if !ok {
		return nil, nil
	}
	ctx := r.Context()
	text, err := m.secret(ctx, sessionsKey(c.user))
	if err != nil {
		return nil, err
	}
	all, err := parseSessions(text)
	i := findSession(all, c)
	if err != nil || i < 0 || all[i].isOver(s, m.now()) {
		return nil, nil // the next sign-in removes unreadable and old sessions
	}
	p, err := m.o.People.Person(ctx, c.user)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case p.Disabled:
		m.endDisabled(ctx, c.user)
		return nil, nil
	}
	switch valid, err := m.survives(ctx, p, all[i].Revision); {
	case err != nil:
		return nil, err
	case !valid:
		_ = m.endPresented(r) // if this fails, the next request with the session tries again
		return nil, nil
	}
	if valid := m.noteUse(ctx, c, &all[i], p.Revision, s); !valid {
		return nil, nil
	}
	session := &Session{*p, all[i].Provider}
	session.Actor.Grants = slices.Concat(p.Actor.Grants, s.mapped(all[i].Provider, all[i].Claims))
	return session, nil
}

// survives reports whether a session or link is still valid. It is invalid if the user was disabled
// after the given revision, even if the user has been enabled again since.
func (m *Manager) survives(ctx context.Context, p *Person, revision uint64) (bool, error) {
	if p.Revision == revision {
		return true, nil
	}
	last, err := m.o.People.LastDisabled(ctx, p.ID, revision)
	return last == 0, err
}

func (m *Manager) endDisabled(ctx context.Context, user string) {
	if err := m.EndAll(ctx, user); err != nil {
		m.log.Warn("cannot end the sessions of a disabled user", "user", user, "err", err)
	}
}

// noteUse stores from time to time when a session was last used, and the current revision of the
// user. The result is false if the session has ended in the meantime. If the vault cannot be
// changed, the session stays valid until it counts as idle.
func (m *Manager) noteUse(ctx context.Context, c credential, last *sessionEntry, revision uint64, s *state) (valid bool) {
	now := m.now()
	if now.Sub(last.Used) < s.grain() && last.Revision >= revision {
		return true
	}
	err := m.editSessions(ctx, c.user, func(all []sessionEntry) []sessionEntry {
		i := findSession(all, c)
		if valid = i >= 0; valid {
			all[i].Revision = max(all[i].Revision, revision)
			if all[i].Used.Before(now) {
				all[i].Used = now
			}
		}
		return all
	})
	if err != nil {
		m.log.Warn("cannot store the use of a session", "user", c.user, "err", err)
	}
	return valid || err != nil
}

// begin replaces the session of r by a new session of a user with a new secret, and sets the
// cookie.
func (m *Manager) begin(w http.ResponseWriter, r *http.Request, p *Person, provider string, claims []claimValue) error {
	if err := m.endPresented(r); err != nil {
		return err
	}
	c, now := newCredential(p.ID), m.now()
	err := m.editSessions(r.Context(), p.ID, func(all []sessionEntry) []sessionEntry {
		return append(all, sessionEntry{c.hash(), provider, now, now, claims, p.Revision})
	})
	if err != nil {
		return err
	}
	setCookie(w, cookieName, c.String(), 0)
	m.log.Info("signed in", "user", p.ID, "provider", provider)
	return nil
}

func (m *Manager) endPresented(r *http.Request) error {
	c, ok := presented(r)
	if !ok {
		return nil
	}
	text, err := m.secret(r.Context(), sessionsKey(c.user))
	if err != nil || text == nil {
		return err
	}
	return m.editSessions(r.Context(), c.user, func(all []sessionEntry) []sessionEntry {
		if i := findSession(all, c); i >= 0 {
			all = slices.Delete(all, i, i+1)
		}
		return all
	})
}

func (m *Manager) EndAll(ctx context.Context, user string) error {
	if !isUserID(user) {
		return store.ErrNotFound
	}
	return m.editSessions(ctx, user, func([]sessionEntry) []sessionEntry { return nil })
}

// setCookie sets a cookie for this host only. If age is 0, the cookie lasts until the browser is
// closed. If age is negative, the cookie is removed.
func setCookie(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
