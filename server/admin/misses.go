package admin

import (
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// listMisses sends the failed lookups of names for which the caller has rights, most frequent
// first.
func (s *API) listMisses(c *call) error {
	limit, err := number(c.q, "limit", 0)
	if err != nil {
		return err
	}
	visible, err := flag(c.q, "visible")
	if err != nil {
		return err
	}
	out := adminapi.Misses{Totals: s.misses.Totals(), Misses: []misses.Miss{}}
	for _, m := range s.misses.List(0) {
		if !strings.HasPrefix(m.Name, c.q.Get("prefix")) || visible && m.Hidden {
			continue
		}
		if n, err := name.Parse(m.Name); err == nil && s.mayRead(c, n) {
			m.Suggestions = s.shown(c, m.Suggestions)
			out.Misses = append(out.Misses, m)
		}
		if limit > 0 && uint64(len(out.Misses)) == limit {
			break
		}
	}
	return writeJSON(c.w, http.StatusOK, out)
}

func (s *API) hideMiss(c *call) error {
	n, err := name.Parse(c.value)
	if err != nil {
		return err
	}
	kept, err := s.registrar.Kept(c.r.Context(), n, time.Time{})
	if err != nil {
		return err
	}
	if !c.actor.MayName(kept, registrar.Editor) {
		return c.actor.Denied(registrar.Editor, kept, n.Key())
	}
	var body adminapi.Hiding
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if !s.misses.Hide(n.Key(), body.Hidden) {
		return store.ErrNotFound
	}
	return writeJSON(c.w, http.StatusOK, body)
}

func (s *API) mayRead(c *call, n name.Name) bool {
	_, err := s.reached(c, n, time.Time{}, registrar.Reader)
	return err == nil
}

func (s *API) shown(c *call, suggestions []string) (some []string) {
	set, err := s.authorities.Set(c.r.Context(), time.Time{})
	if err != nil {
		return nil
	}
	for _, spelling := range suggestions {
		n, err := name.Parse(spelling)
		if err == nil && (set.Of(n).Refuses(spelling) == nil || s.mayRead(c, n)) {
			some = append(some, spelling)
		}
	}
	return some
}

func (s *API) clearMisses(c *call) error {
	if err := c.requireAllNames("misses"); err != nil {
		return err
	}
	was, err := s.misses.Clear()
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, adminapi.Misses{Totals: was, Misses: []misses.Miss{}})
}
