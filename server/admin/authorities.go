package admin

import (
	"net/http"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func (s *API) listAuthorities(c *call) error {
	all := adminapi.Authorities{Authorities: []*store.Authority{}}
	for a, err := range s.store.Authorities(c.r.Context(), time.Time{}) {
		if err != nil {
			return err
		}
		all.Authorities = append(all.Authorities, a)
	}
	return writeJSON(c.w, http.StatusOK, all)
}

func (s *API) getAuthority(c *call) error {
	p, err := name.ParsePrefix(c.value)
	if err != nil {
		return err
	}
	a, err := s.store.Authority(c.r.Context(), p, time.Time{})
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", revisionTag(a.Revision))
	return writeJSON(c.w, http.StatusOK, a)
}

func readAuthority(c *call) (*store.Authority, error) {
	p, err := name.ParsePrefix(c.value)
	if err != nil {
		return nil, err
	}
	a := &store.Authority{Prefix: p}
	if err := readJSON(c, a); err != nil {
		return nil, err
	}
	if a.Prefix != p {
		return nil, &adminapi.RequestError{Field: "prefix", Message: "must be the prefix in the path"}
	}
	return a, nil
}

func (s *API) putAuthority(c *call) error {
	in, err := c.intent()
	if err != nil {
		return err
	}
	a, err := readAuthority(c)
	if err != nil {
		return err
	}
	out, err := s.registrar.PutAuthority(c.r.Context(), c.actor, a, in.expected, in.why)
	if err == nil {
		s.authorities.Replace(out.Authority.Clone())
	}
	return c.outcome(out, err, in.conditional)
}
