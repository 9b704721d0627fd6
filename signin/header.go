package signin

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/store"
)

// noValue is the header value that Apache httpd sends for a variable without a value.
const noValue = "(null)"

// maxHeader limits the field of a proxy, in bytes.
const maxHeader = 1000

// header returns the name of the user that a trusted proxy has sent in a header field.
func (s *state) header(r *http.Request) (value string, ok bool) {
	if s.Header == "" || s.IsProxy == nil || !s.IsProxy(r) {
		return "", false
	}
	values := r.Header.Values(s.Header)
	if len(values) != 1 { // one of several values may be from the client
		return "", false
	}
	value = strings.TrimSpace(values[0])
	return value, value != "" && value != noValue && len(value) <= maxHeader
}

// isForged reports whether the request has the header field of the proxy although the proxy did not
// send it. It also returns true if the field occurs several times.
func (s *state) isForged(r *http.Request) bool {
	if s.Header == "" {
		return false
	}
	n := len(r.Header.Values(s.Header))
	return n > 1 || n > 0 && (s.IsProxy == nil || !s.IsProxy(r))
}

// Protect returns a handler that rejects requests with a forged field of the proxy, and passes all
// other requests to next.
func (m *Manager) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := m.state.Load(); s.isForged(r) {
			m.log.Warn("request rejected: it has the field of a trusted proxy, but does not come from one", "field", s.Header)
			m.o.Count(wayProxy, resultInvalid)
			m.o.Show(w, r, http.StatusForbidden, View{Kind: Forged, Header: s.Header})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// headerSession returns a session for the user whom a trusted proxy has signed in. The value comes
// from the header field in which the proxy names this user. If the user is unknown or disabled,
// headerSession returns nil without an error.
func (m *Manager) headerSession(ctx context.Context, value string) (*Session, error) {
	p, err := m.o.People.PersonOf(ctx, ByHeader+" "+value)
	if errors.Is(err, store.ErrNotFound) || err == nil && p.Disabled {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Session{*p, ByHeader}, nil
}
