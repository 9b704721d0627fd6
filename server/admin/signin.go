package admin

import (
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/requestlog"
)

// makeSignInLink makes a link for a user. Only administrators of all names may do so, since whoever
// has the link gets the rights of the user.
func (s *API) makeSignInLink(c *call) error {
	if err := c.requireAllNames("sign-in links"); err != nil {
		return err
	}
	if s.signInLink == nil {
		return &adminapi.StatusError{Kind: adminapi.KindUnsupported, Status: http.StatusNotImplemented, Detail: "this server has no pages to sign in to"}
	}
	url, until, err := s.signInLink(c.r.Context(), c.value)
	if err != nil {
		return err
	}
	s.log.Info("sign-in link made", "user", requestlog.Printable(c.value), "by", c.actor.Who)
	c.w.Header().Set("Cache-Control", "no-store")
	return writeJSON(c.w, http.StatusOK, adminapi.SignInLink{URL: url, Until: until})
}
