package resolve

import (
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// failover marks the dead locations of an answer as unavailable, so that other locations are
// chosen. It does nothing without the policy [store.FailoverArchive]. It also does nothing if the
// answer has no other location of the resource and no archived copy.
func (d *decision) failover(c *choice, a *nomen.Answer) {
	if d.policy.Failover != store.FailoverArchive || d.o.Dead == nil || !d.q.At.IsZero() {
		return
	}
	dead := map[int]time.Time{}
	substitute := ""
	var last time.Time
	for i := range a.Locations {
		l := &a.Locations[i]
		relation := nomen.RelationOf(l.Rel)
		if relation > nomen.Copied {
			continue
		}
		d.depends.On(d.o.Dead.Key(l.URL))
		since, changed, is := d.o.Dead.Dead(l.URL)
		if changed.After(last) {
			last = changed
		}
		switch {
		case is:
			dead[i] = since
		case !l.Down && substitute == "" && (relation == nomen.Itself || IsArchived(l.Rel)):
			substitute = l.URL
		}
	}
	if last.After(a.Changed) && last.After(a.Modified) {
		a.Changed = last.UTC()
	}
	if len(dead) == 0 || substitute == "" {
		return
	}
	a.MaxAge = 0
	var best rank
	for i := range a.Locations {
		since, is := dead[i]
		if !is {
			continue
		}
		l := &a.Locations[i]
		a.Dead = append(a.Dead, l.URL)
		if d.q.Explain {
			d.explain("%s is dead: all checks have failed since %s, so other locations come first (failover)", l.URL, since.Format(time.DateOnly))
		}
		if r := c.rank(l); c.instead == nil || r.compare(best) < 0 {
			instead := *l
			c.instead, best = &instead, r
		}
	}
	for i := range dead {
		a.Locations[i].Down = true
	}
}

// IsArchived reports whether the relation of a location contains "archive" or "memento", which
// means that the location is an archived copy.
func IsArchived(rel string) bool {
	for r := range strings.FieldsSeq(rel) {
		if strings.EqualFold(r, "archive") || strings.EqualFold(r, "memento") {
			return true
		}
	}
	return false
}

// temporary returns 307 for the status codes 307 and 308, which preserve the request method. For
// all other status codes, it returns 302.
func temporary(status int) int {
	switch status {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return http.StatusTemporaryRedirect
	}
	return http.StatusFound
}
