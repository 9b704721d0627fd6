package ezid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
)

const cookieName = "sessionid"

// Limits of sessions.
const (
	sessionTime = 8 * time.Hour
	maxSessions = 10_000
)

// authenticate returns the actor of a request. The result known is false if the credentials are
// missing, wrong, or on a connection that other machines can read. If the request is malformed or
// if the store fails, failure is the error response.
func (h *Handler) authenticate(c *call) (a registrar.Actor, known bool, failure reply) {
	user, password, given, failure := c.credentials(&h.sessions)
	if !given || !failure.ok() {
		return a, false, failure
	}
	a, err := h.Identities.Password(c.r.Context(), c.Client, user, password)
	switch {
	case err == nil:
		return a, true, reply{}
	case errors.Is(err, adminapi.ErrUnauthorized):
		return a, false, reply{}
	}
	return a, false, h.failure(c, err)
}

func (c *call) credentials(all *sessions) (user, password string, given bool, failure reply) {
	if !c.Private {
		return "", "", false, reply{}
	}
	if cookie, err := c.r.Cookie(cookieName); err == nil {
		if s, ok := all.find(cookie.Value); ok {
			return s.user, s.password, true, reply{}
		}
	}
	field := c.r.Header.Get("Authorization")
	if field == "" {
		return "", "", false, reply{}
	}
	scheme, encoded, _ := strings.Cut(field, " ")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	user, password, ok := strings.Cut(string(text), ":")
	user, password = strings.TrimSpace(user), strings.TrimSpace(password)
	switch {
	case !strings.EqualFold(scheme, "Basic") || encoded == "":
		return "", "", false, badRequest("malformed Authorization header")
	case err != nil || !ok:
		return "", "", false, failed("unable to parse basic_auth request")
	case user == "":
		return "", "", false, badRequest("username required")
	case password == "":
		return "", "", false, badRequest("password required")
	}
	return user, password, true, reply{}
}

// author returns the actor of a request for a change. The reply is an error if the client does not
// have valid credentials, or if a page of another site has caused the request.
func (h *Handler) author(c *call) (registrar.Actor, reply) {
	if !c.Private {
		return registrar.Actor{}, failed("forbidden")
	}
	if err := new(http.CrossOriginProtection).Check(c.r); err != nil {
		return registrar.Actor{}, failed("forbidden")
	}
	a, known, failure := h.authenticate(c)
	if failure.ok() && !known {
		failure = failed("unauthorized")
	}
	return a, failure
}

func (h *Handler) login(c *call) reply {
	if _, failure := c.options(); !failure.ok() {
		return failure
	}
	if _, failure := h.author(c); !failure.ok() {
		return failure
	}
	user, password, _, _ := c.credentials(&h.sessions)
	http.SetCookie(c.w, c.cookie(h.sessions.begin(user, password), int(sessionTime/time.Second)))
	return succeeded("session cookie returned")
}

func (h *Handler) logout(c *call) reply {
	if _, failure := c.options(); !failure.ok() {
		return failure
	}
	if cookie, err := c.r.Cookie(cookieName); err == nil {
		h.sessions.end(cookie.Value)
		http.SetCookie(c.w, c.cookie("", -1))
	}
	return succeeded("authentication credentials flushed")
}

func (c *call) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(c.Base, "https:"),
	}
}

// sessions is the set of sessions of a server process. It is kept only in memory. A session has the
// credentials of its user, which are checked with every request, so a session ends when the token
// is revoked.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all map[[sha256.Size]byte]session // by the digest of the cookie
}

// A session is a user who has logged in.
type session struct {
	user, password string
	until          time.Time
}

// begin adds a session and returns the value of its cookie. If there are too many sessions, begin
// first calls sweep.
func (s *sessions) begin(user, password string) string {
	cookie := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[sha256.Size]byte]session{}
	}
	if len(s.all) >= maxSessions {
		s.sweep()
	}
	s.all[sha256.Sum256([]byte(cookie))] = session{user, password, s.now().Add(sessionTime)}
	return cookie
}

// sweep removes expired sessions. If there are still too many, sweep removes arbitrary other
// sessions.
func (s *sessions) sweep() {
	now := s.now()
	for key, one := range s.all {
		if !now.Before(one.until) {
			delete(s.all, key)
		}
	}
	for key := range s.all {
		if len(s.all) < maxSessions {
			return
		}
		delete(s.all, key)
	}
}

func (s *sessions) find(cookie string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[sha256.Sum256([]byte(cookie))]
	return one, ok && s.now().Before(one.until)
}

func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(cookie)))
}
