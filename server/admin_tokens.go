package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A keeper keeps tokens; every store.Store that knows tokens is one.
type keeper interface {
	store.Tokens
	Apply(ctx context.Context, changes []store.Change) ([]store.Result, error)
}

// keeper returns what keeps the tokens, if the caller may change them: an
// administrator of everything.
func (s *Server) keeper(c *call) (keeper, error) {
	if len(c.actor.Prefixes) > 0 {
		return nil, &registrar.DeniedError{Who: c.actor.Who, Role: c.actor.Role, Need: registrar.Administrator, Name: "tokens", Why: "they are for all names"}
	}
	k, ok := s.store.(keeper)
	if !ok {
		return nil, &adminapi.StatusError{Status: http.StatusNotImplemented, Detail: "this store keeps no tokens"}
	}
	return k, nil
}

func (s *Server) grantToken(c *call) error {
	k, err := s.keeper(c)
	if err != nil {
		return err
	}
	var g adminapi.Grant
	if err := readJSON(c, &g); err != nil {
		return err
	}
	if err := checkGrant(g); err != nil {
		return err
	}
	spelling, t := adminapi.NewToken(g, s.now())
	_, err = k.Apply(c.r.Context(), []store.Change{{Token: t, Time: s.now(), Who: c.actor.Who, Why: "granted to " + g.Who}})
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusCreated, adminapi.Granted{ID: t.ID, Token: spelling})
}

// maxWho bounds the bytes of what a bearer is called.
const maxWho = 200

func checkGrant(g adminapi.Grant) error {
	if g.Who == "" || len(g.Who) > maxWho || printable(g.Who) != g.Who {
		return &adminapi.RequestError{Field: "who", Message: "wants the bearer's name in the history: visible ASCII, up to 200 bytes"}
	}
	if _, ok := registrar.ParseRole(g.Role); !ok {
		return &adminapi.RequestError{Field: "role", Message: fmt.Sprintf("%.40q is none of reader, editor, owner, administrator", g.Role)}
	}
	for i, p := range g.Prefixes {
		if _, err := name.ParsePrefix(p); err != nil {
			return &adminapi.RequestError{Field: fmt.Sprintf("prefixes[%d]", i), Message: err.Error()}
		}
	}
	return nil
}

func (s *Server) revokeToken(c *call) error {
	k, err := s.keeper(c)
	if err != nil {
		return err
	}
	t, err := k.Token(c.r.Context(), c.value)
	if err != nil {
		return err
	}
	t.Revoked = true
	_, err = k.Apply(c.r.Context(), []store.Change{{Token: t, Time: s.now(), Who: c.actor.Who, Why: "revoked"}})
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
