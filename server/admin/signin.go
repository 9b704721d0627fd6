package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/store"
)

// makeSignInLink makes a sign-in link for a user. Only administrators of all names may do this,
// because anyone with the link gets the rights of the user.
func (s *API) makeSignInLink(c *call) error {
	if err := c.requireAllNames("sign-in links"); err != nil {
		return err
	}
	if s.signInLink == nil {
		return errNoPages
	}
	url, until, err := s.signInLink(c.r.Context(), c.value)
	if err != nil {
		return err
	}
	s.log.Info("sign-in link made", "user", requestlog.Printable(c.value), "by", c.actor.Who)
	c.w.Header().Set("Cache-Control", "no-store")
	return writeJSON(c.w, http.StatusOK, adminapi.SignInLink{URL: url, Until: until})
}

var errNoPages = &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this server has no pages to sign in to"}

func (s *API) signUserOut(c *call) error {
	if err := c.requireAllNames("sessions"); err != nil {
		return err
	}
	if s.endSessions == nil {
		return errNoPages
	}
	users, err := s.users()
	if err != nil {
		return err
	}
	if _, err := users.User(c.r.Context(), c.value, time.Time{}); err != nil {
		return err
	}
	if err := s.endSessions(c.r.Context(), c.value); err != nil {
		return err
	}
	s.log.Info("all sessions ended", "user", requestlog.Printable(c.value), "by", c.actor.Who)
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// forgetSessions removes the sessions of a disabled user from the store. The sessions are already
// invalid.
func (s *API) forgetSessions(ctx context.Context, u *store.User) {
	if s.endSessions == nil || u == nil || !u.Disabled {
		return
	}
	if err := s.endSessions(context.WithoutCancel(ctx), u.ID); err != nil {
		s.log.Warn("cannot remove the sessions of a disabled user", "user", u.ID, "err", err)
	}
}
