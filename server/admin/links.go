package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// Limits of requests about links.
const (
	maxLinkChanges = 100_000         // maximum number of locations whose changes a request reads
	maxLinksRead   = 1000            // maximum number of links that a request for a list reads
	linkTime       = 5 * time.Minute // timeout of a check that a client requests
	maxIgnore      = 10 * 366 * 24 * time.Hour
)

func (s *API) watcher() (*links.Watcher, error) {
	if s.links == nil {
		return nil, &adminapi.StatusError{Kind: adminapi.KindNoLinks, Status: http.StatusServiceUnavailable, Detail: "this server does not check links: set links.check = true in its configuration"}
	}
	return s.links, nil
}

func (s *API) linkStatus(c *call) error {
	w, err := s.watcher()
	if err != nil {
		return err
	}
	is := w.Status()
	out := adminapi.LinkStatus{Archive: s.archive.Host(), Checks: is.Checks, Reading: is.Reading, Round: is.Round, Paused: is.Paused, Other: is.Other}
	if c.actor.MayAll(registrar.Reader) {
		out.Counts = is.Counts
		for _, h := range is.Failing {
			out.Failing = append(out.Failing, adminapi.LinkHost{Host: h.Host, Links: h.Links, Outcome: h.Outcome.String(), Since: h.Since})
		}
		for _, h := range is.Large {
			out.Sampled = append(out.Sampled, adminapi.LinkHost{Host: h.Host, Links: h.Links, Checked: h.Checked})
		}
		if is.Err != nil {
			out.Error = is.Err.Error()
		}
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// listLinks sends a page of links with a verdict. It leaves out names that the caller may not read.
func (s *API) listLinks(c *call) error {
	w, err := s.watcher()
	if err != nil {
		return err
	}
	var v links.Verdict
	if err := v.UnmarshalText([]byte(c.q.Get("verdict"))); err != nil || v < links.Blocked {
		return &adminapi.RequestError{Field: "verdict", Message: "must be blocked, suspect, failing, dead or ignored"}
	}
	limit, err := pageLimit(c.q)
	if err != nil {
		return err
	}
	limit = min(limit, maxLinksRead)
	out := adminapi.Links{Links: []adminapi.Link{}}
	list, err := w.List(v, c.q.Get("after"), maxLinksRead)
	if err != nil {
		return err
	}
	for i, l := range list {
		names, archived, err := s.linkNames(c, l.URL)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			link := newLink(l, names)
			link.Archived = archived
			out.Links = append(out.Links, link)
		}
		if last := i+1 == len(list); len(out.Links) == limit && !last || last && len(list) == maxLinksRead {
			out.Next = l.URL
			break
		}
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// linkNames returns the active names with a location that the caller may read. The result archived
// has those of them that have an archived copy.
func (s *API) linkNames(c *call, url string) (names, archived []string, err error) {
	found, err := links.Names(c.r.Context(), s.store, url, maxLinksRead)
	for _, rec := range found {
		if len(names) < adminapi.MaxLinkNames && (c.actor.MayAll(registrar.Reader) || s.mayRead(c, rec.Name)) {
			names = append(names, rec.Name.Key())
			if hasArchived(rec) {
				archived = append(archived, rec.Name.Key())
			}
		}
	}
	return names, archived, err
}

func hasArchived(rec *store.Record) bool {
	return slices.ContainsFunc(rec.Locations, func(l nomen.Location) bool { return resolve.IsArchived(l.Rel) })
}

func newLink(l links.Link, names []string) adminapi.Link {
	out := adminapi.Link{
		URL: l.URL, Names: names, Verdict: l.Verdict.String(), Status: l.Status, Checked: l.Checked, Good: l.Good,
		Since: l.Since, Failures: l.Failures, Due: l.Due, Until: l.Until, Moved: l.HasMoved(), Changed: l.Drifted,
	}
	if l.Outcome != links.None {
		out.Outcome = l.Outcome.String()
	}
	if l.HostFails != links.None {
		out.HostFails = l.HostFails.String()
	}
	return out
}

// linkChanges sends the changes in an interval of time, by host. It includes locations of names
// that the caller may read, and the hosts of such locations.
func (s *API) linkChanges(c *call) error {
	w, err := s.watcher()
	if err != nil {
		return err
	}
	since, err := time.Parse(time.RFC3339, c.q.Get("since"))
	if err != nil {
		return &adminapi.RequestError{Field: "since", Message: "must be a time such as 2026-11-17T00:00:00Z"}
	}
	var until time.Time
	if text := c.q.Get("until"); text != "" {
		if until, err = time.Parse(time.RFC3339, text); err != nil {
			return &adminapi.RequestError{Field: "until", Message: "must be a time such as 2026-11-24T00:00:00Z"}
		}
	}
	now := map[string]links.Event{} // the last change of each location
	all := c.actor.MayAll(registrar.Reader)
	hosts := map[string]*adminapi.LinkHostChange{}
	of := func(host string) *adminapi.LinkHostChange {
		if hosts[host] == nil {
			hosts[host] = &adminapi.LinkHostChange{Host: host}
		}
		return hosts[host]
	}
	may, failed := map[string]bool{}, error(nil) // whether the caller may read a name at a host
	hears := func(host string) bool {
		if _, known := may[host]; !known && !all {
			var err error
			may[host], err = s.mayReadHost(c, host)
			failed = errors.Join(failed, err)
		}
		return all || may[host]
	}
	err = w.Events(since, func(h links.Happening) bool {
		switch {
		case !until.IsZero() && !h.Time.Before(until):
			return false // events are in chronological order
		case h.URL != "":
			now[h.URL] = h.Event
		case h.Event == links.HostFails && hears(h.Host):
			of(h.Host).Failing, of(h.Host).Back = true, false
		case h.Event == links.HostBack && hears(h.Host):
			of(h.Host).Failing, of(h.Host).Back = false, true
		}
		return len(now) < maxLinkChanges
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	for _, u := range slices.Sorted(maps.Keys(now)) {
		names, _, err := s.linkNames(c, u)
		if err != nil {
			return err
		}
		parsed, err := url.Parse(u)
		if len(names) == 0 || err != nil {
			continue
		}
		h := of(strings.ToLower(parsed.Hostname()))
		if now[u] == links.Recovered {
			h.Recovered++
		} else if h.Dead++; len(h.URLs) < adminapi.MaxLinkNames {
			h.URLs = append(h.URLs, u)
		}
	}
	out := adminapi.LinkChanges{Since: since, Until: until, Hosts: []adminapi.LinkHostChange{}}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		out.Hosts = append(out.Hosts, *hosts[host])
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// mayReadHost reports whether the caller may read the name of a location at a host. It examines
// only the first maxLinksRead locations with each scheme.
func (s *API) mayReadHost(c *call, host string) (bool, error) {
	for _, scheme := range [...]string{"https://", "http://"} {
		n := 0
		for p, err := range store.Find(c.r.Context(), s.store, scheme+host+"/", store.Place{}) {
			if err != nil {
				return false, err
			}
			if s.mayRead(c, p.Name) {
				return true, nil
			}
			if n++; n == maxLinksRead {
				break
			}
		}
	}
	return false, nil
}

func (s *API) nameLinks(c *call) error {
	return s.eachLink(c, registrar.Reader, "", func(w *links.Watcher, url string) (links.Link, string, error) {
		l, ok, err := w.Of(url)
		if err == nil && !ok {
			err = links.ErrUnknown
		}
		return l, "", err
	})
}

// doLinks carries out a request about the locations of a name (see [adminapi.LinkRequest]).
func (s *API) doLinks(c *call) error {
	var body adminapi.LinkRequest
	if err := readJSON(c, &body); err != nil {
		return err
	}
	n := 0
	for _, given := range []bool{body.Check, body.Ignore != nil, body.Suggest, body.Accept != ""} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return &adminapi.RequestError{Field: "check", Message: "want one of check, ignore, suggest and accept"}
	case body.Suggest:
		return s.suggestCopies(c, body.URL)
	case body.Accept != "":
		return s.acceptCopy(c, &body)
	case body.Check:
		ctx, cancel := context.WithTimeout(c.r.Context(), linkTime)
		defer cancel()
		return s.eachLink(c, registrar.Editor, body.URL, func(w *links.Watcher, url string) (links.Link, string, error) {
			l, o, err := w.Check(ctx, url)
			return l, o.Detail, err
		})
	}
	until := body.Ignore.Until
	if now := s.now(); !until.IsZero() && (!until.After(now) || until.Sub(now) > maxIgnore) {
		return &adminapi.RequestError{Field: "until", Message: "must be in the future, and within ten years"}
	}
	return s.eachLink(c, registrar.Editor, body.URL, func(w *links.Watcher, url string) (links.Link, string, error) {
		l, err := w.Ignore(url, until)
		return l, "", err
	})
}

// archiveOf returns the web archive that the server asks for preserved copies.
func (s *API) archiveOf() (*links.Archive, error) {
	if s.archive == nil {
		return nil, &adminapi.StatusError{Kind: adminapi.KindNoArchive, Status: http.StatusServiceUnavailable, Detail: "this server asks no archive: set links.availability or links.timegate in its configuration"}
	}
	return s.archive, nil
}

// copyOf returns the preserved copy of a dead location whose time is closest to the last good
// check. If there was no good check, it is the copy closest to the first failure.
func copyOf(ctx context.Context, a *links.Archive, l *links.Link) (links.Copy, error) {
	near := l.Good
	if near.IsZero() {
		near = l.Since
	}
	return a.Find(ctx, l.URL, near)
}

// suggestCopies sends the dead locations of a name with their preserved copies. The parameter only
// restricts the response to a single location. If the archive cannot be asked about a location, the
// result has the reason.
func (s *API) suggestCopies(c *call, only string) error {
	a, err := s.archiveOf()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), linkTime)
	defer cancel()
	out, _, err := s.linksOf(c, registrar.Editor, only, func(w *links.Watcher, url string) (links.Link, *adminapi.LinkCopy, string, error) {
		l, ok, err := w.Of(url)
		if err != nil || !ok || l.Verdict != links.Dead {
			return l, nil, "", cmp.Or(err, links.ErrUnknown)
		}
		found, err := copyOf(ctx, a, &l)
		if err != nil {
			return l, nil, err.Error(), ctx.Err()
		}
		return l, &adminapi.LinkCopy{URL: found.URL, Time: found.Time}, "", nil
	})
	if err == nil && len(out.Links) == 0 {
		err = &adminapi.RequestError{Field: "suggest", Message: "the name has no such dead location"}
	}
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// acceptCopy adds a preserved copy of a dead location to the locations of the name.
func (s *API) acceptCopy(c *call, body *adminapi.LinkRequest) error {
	a, err := s.archiveOf()
	if err != nil {
		return err
	}
	if body.URL == "" {
		return &adminapi.RequestError{Field: "url", Message: "is required with accept: the dead location of which this is a copy"}
	}
	var found links.Copy
	out, rec, err := s.linksOf(c, registrar.Editor, body.URL, func(w *links.Watcher, url string) (links.Link, *adminapi.LinkCopy, string, error) {
		l, ok, err := w.Of(url)
		if err != nil || !ok || l.Verdict != links.Dead {
			return l, nil, "", cmp.Or(err, links.ErrUnknown)
		}
		if found, err = copyOf(c.r.Context(), a, &l); err != nil {
			return l, nil, "", &adminapi.RequestError{Field: "accept", Message: err.Error()}
		}
		return l, &adminapi.LinkCopy{URL: found.URL, Time: found.Time}, "", nil
	})
	switch {
	case err != nil:
		return err
	case len(out.Links) == 0:
		return &adminapi.RequestError{Field: "url", Message: "is not a dead location of the name"}
	case found.URL != body.Accept:
		return &adminapi.RequestError{Field: "accept", Message: fmt.Sprintf("is not the copy that the archive has suggested, which is %.2000q", found.URL)}
	}
	why := cmp.Or(body.Why, fmt.Sprintf("archived copy of %s, from %s", body.URL, found.Time.Format(time.DateOnly)))
	next := &store.Record{Name: rec.Name, Locations: []nomen.Location{{URL: found.URL, Rel: "archive"}}}
	if _, err := s.registrar.Put(c.r.Context(), c.actor, registrar.Request{Record: next, Fields: registrar.FieldLocations, Add: true, Expected: rec.Revision}, why); err != nil {
		return err
	}
	out.Links[0].Archived = out.Links[0].Names
	return writeJSON(c.w, http.StatusOK, out)
}

// eachLink calls do for the locations of a name, or for only one of them, and sends the results. It
// skips locations that the server does not check.
func (s *API) eachLink(c *call, need registrar.Role, only string, do func(w *links.Watcher, url string) (links.Link, string, error)) error {
	out, _, err := s.linksOf(c, need, only, func(w *links.Watcher, url string) (links.Link, *adminapi.LinkCopy, string, error) {
		l, detail, err := do(w, url)
		return l, nil, detail, err
	})
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// linksOf calls do for the locations of a name, or for only one of them. It returns the results and
// the record of the name. It skips locations for which do returns [links.ErrUnknown].
func (s *API) linksOf(c *call, need registrar.Role, only string, do func(w *links.Watcher, url string) (links.Link, *adminapi.LinkCopy, string, error)) (out adminapi.Links, rec *store.Record, err error) {
	w, err := s.watcher()
	if err != nil {
		return out, nil, err
	}
	n, err := name.Parse(c.value)
	if err != nil {
		return out, nil, err
	}
	kept, err := s.reached(c, n, time.Time{}, need)
	if err != nil {
		return out, nil, err
	}
	if need > registrar.Reader && !c.actor.MayName(kept, need) {
		return out, nil, c.actor.Denied(need, kept, n.Key())
	}
	rec, err = s.store.Get(c.r.Context(), kept, time.Time{})
	if err != nil {
		return out, nil, err
	}
	out.Links = []adminapi.Link{}
	found := only == ""
	for i := range rec.Locations {
		url := rec.Locations[i].URL
		if only != "" && url != only {
			continue
		}
		found = true
		l, preserved, detail, err := do(w, url)
		if errors.Is(err, links.ErrUnknown) {
			continue
		} else if err != nil {
			return out, nil, err
		}
		link := newLink(l, []string{rec.Name.Key()})
		link.Detail, link.Copy = detail, preserved
		if hasArchived(rec) {
			link.Archived = link.Names
		}
		out.Links = append(out.Links, link)
	}
	if !found {
		return out, nil, &adminapi.RequestError{Field: "url", Message: fmt.Sprintf("%.200q is not a location of the name", only)}
	}
	return out, rec, nil
}
