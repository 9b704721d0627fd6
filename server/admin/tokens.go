package admin

import (
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
)

func (s *API) listTokens(c *call) error {
	if err := c.requireAllNames("tokens"); err != nil {
		return err
	}
	all, err := adminapi.ListTokens(c.r.Context(), s.store)
	if err != nil {
		return unsupportedError(err)
	}
	return writeJSON(c.w, http.StatusOK, adminapi.Tokens{Tokens: all})
}

func (s *API) grantToken(c *call) error {
	var g adminapi.Grant
	if err := readJSON(c, &g); err != nil {
		return err
	}
	spelling, t := adminapi.NewToken(g, s.now())
	if err := s.registrar.PutToken(c.r.Context(), c.actor, t, "granted to "+g.Who); err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusCreated, adminapi.Granted{ID: t.ID, Token: spelling})
}

func (s *API) redactToken(c *call) error {
	red, conditional, err := c.redaction()
	if err != nil {
		return err
	}
	return s.redact(c, redactRequest{Of: redactsToken, Key: c.value, Redaction: red}, conditional)
}

func (s *API) revokeToken(c *call) error {
	if err := s.registrar.RevokeToken(c.r.Context(), c.actor, c.value, "revoked"); err != nil {
		return err
	}
	s.jobs.cancelJobsOf(c.value)
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
