package admin

import (
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

// listMisses lists failed lookups, most frequent first, limited to the names that the
// token has rights on.
func (s *API) listMisses(c *call) error {
	limit, err := number(c.q, "limit", 0)
	if err != nil {
		return err
	}
	out := adminapi.Misses{Totals: s.misses.Totals(), Misses: []misses.Miss{}}
	for _, m := range s.misses.List(0) {
		if !strings.HasPrefix(m.Name, c.q.Get("prefix")) {
			continue
		}
		if n, err := name.Parse(m.Name); err == nil && s.mayRead(c, n) {
			out.Misses = append(out.Misses, m)
		}
		if limit > 0 && uint64(len(out.Misses)) == limit {
			break
		}
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// mayRead reports whether the caller has rights on a name that was looked up.
func (s *API) mayRead(c *call, n name.Name) bool {
	_, err := s.reached(c, n, time.Time{}, registrar.Reader)
	return err == nil
}

// clearMisses clears the list of failed lookups.
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
