package signin

import (
	"context"
	"net/http"
	"net/url"
)

func (m *Manager) presentedProvider(r *http.Request, s *state) (*provider, error) {
	c, ok := presented(r)
	if !ok {
		return nil, nil
	}
	text, err := m.secret(r.Context(), sessionsKey(c.user))
	if err != nil {
		return nil, err
	}
	all, err := parseSessions(text)
	i := findSession(all, c)
	if err != nil || i < 0 {
		return nil, nil // endPresented handles sessions that cannot be read
	}
	return s.byIssuer(all[i].Provider), nil
}

// endSessionURL returns the URL for signing out at a provider (OpenID Connect RP-Initiated Logout
// 1.0). After signing out, the provider sends the person back to the page for signing in.
// endSessionURL returns "" if the provider has no such URL or does not answer.
func (m *Manager) endSessionURL(ctx context.Context, p *provider) string {
	found, err := ask(m, ctx, p, p.discover)
	if err != nil {
		m.log.Warn("cannot offer to sign out at the provider", "provider", p.Issuer, "err", err)
		return ""
	}
	var published struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := found.Claims(&published); err != nil {
		return ""
	}
	u, err := url.Parse(published.EndSession)
	if err != nil || !isSafe(u) {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.ClientID)
	q.Set("post_logout_redirect_uri", p.url+Path)
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String()
}
