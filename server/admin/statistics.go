package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/audit"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// The lifetimes of the results of counts.
const (
	statisticsLife = 24 * time.Hour
	freshLife      = time.Minute // for requests for fresh statistics, and for the current month
)

// Limits of statistics.
const (
	maxHosts       = 200    // hosts in a response
	maxKnownHosts  = 50_000 // hosts that are counted
	maxFaults      = 200    // faults in a response
	maxPeople      = 200    // users and tokens in a response
	maxKnownPeople = 50_000 // users and tokens that are counted
)

// scopeOf returns a key that is the same for all actors who may read the same names.
func scopeOf(a registrar.Actor) string {
	if a.MayAll(registrar.Administrator) {
		return "all with users"
	}
	if a.MayAll(registrar.Reader) {
		return "all"
	}
	var prefixes []string
	for _, p := range a.Scope() {
		prefixes = append(prefixes, p.String())
	}
	slices.Sort(prefixes)
	return "in " + strings.Join(slices.Compact(prefixes), " ")
}

func (s *API) statistics(c *call) error {
	fresh, err := flag(c.q, "fresh")
	if err != nil {
		return err
	}
	life, actor := statisticsLife, c.actor
	if fresh {
		life = freshLife
	}
	value, count, err := s.figures.get(c.r.Context(), "names "+scopeOf(actor), life, func(ctx context.Context, step func() error) (any, error) {
		return s.countNames(ctx, actor, step)
	})
	if err != nil {
		return err
	}
	out := adminapi.Statistics{Names: []adminapi.NameCount{}, Hosts: []adminapi.HostCount{}, Faults: []adminapi.LocationFault{}}
	if value != nil {
		out = *value.(*adminapi.Statistics)
	}
	out.Count = count
	return writeJSON(c.w, http.StatusOK, out)
}

type nameCounter struct {
	now         time.Time
	authorities *store.AuthoritySet
	names       map[string]*adminapi.NameCount
	hosts       map[string]*adminapi.HostCount
	out         *adminapi.Statistics
}

func (s *API) countNames(ctx context.Context, a registrar.Actor, step func() error) (*adminapi.Statistics, error) {
	set, err := s.authorities.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	n := &nameCounter{
		now: s.now(), authorities: set, names: map[string]*adminapi.NameCount{}, hosts: map[string]*adminapi.HostCount{},
		out: &adminapi.Statistics{Names: []adminapi.NameCount{}, Hosts: []adminapi.HostCount{}, Faults: []adminapi.LocationFault{}, FaultCount: map[string]int64{}},
	}
	for rec, err := range s.within(ctx, a, store.Scan{}) {
		if err == nil {
			err = step()
		}
		if err != nil {
			return nil, err
		}
		n.add(rec)
	}
	return n.result(), nil
}

func (n *nameCounter) add(rec *store.Record) {
	prefix := ""
	if a := n.authorities.Of(rec.Name); a != nil {
		prefix = a.Prefix.String()
	}
	count := n.names[prefix]
	if count == nil {
		count = &adminapi.NameCount{Prefix: prefix}
		n.names[prefix] = count
	}
	switch rec.Status {
	case nomen.Active:
		count.Active++
	case nomen.Reserved:
		count.Reserved++
	default:
		count.Retired++
	}
	for i := range rec.Locations {
		n.addLocation(rec, &rec.Locations[i])
	}
}

func (n *nameCounter) addLocation(rec *store.Record, l *nomen.Location) {
	if l.Down {
		n.fault(rec, l, adminapi.FaultDown)
	}
	if until, err := time.Parse(time.RFC3339, strings.ToUpper(l.ValidUntil)); err == nil && !n.now.Before(until) {
		n.fault(rec, l, adminapi.FaultPast)
	}
	u, err := url.Parse(l.URL)
	if err != nil || u.Host == "" {
		return
	}
	host := strings.ToLower(u.Hostname())
	count := n.hosts[host]
	if count == nil {
		if len(n.hosts) == maxKnownHosts {
			n.out.OtherHosts++
			return
		}
		count = &adminapi.HostCount{Host: strings.Clone(host)}
		n.hosts[count.Host] = count
	}
	count.Locations++
	switch u.Scheme { // url.Parse converts schemes to lower case
	case "http":
		count.HTTP++
	case "https":
		count.HTTPS++
	}
}

func (n *nameCounter) fault(rec *store.Record, l *nomen.Location, kind string) {
	if n.out.FaultCount[kind]++; len(n.out.Faults) < maxFaults && rec.Status != nomen.Retired {
		n.out.Faults = append(n.out.Faults, adminapi.LocationFault{Name: rec.Spelling, URL: l.URL, Kind: kind, Until: l.ValidUntil})
	}
}

func (n *nameCounter) result() *adminapi.Statistics {
	for _, c := range n.names {
		n.out.Names = append(n.out.Names, *c)
	}
	slices.SortFunc(n.out.Names, func(a, b adminapi.NameCount) int { return strings.Compare(a.Prefix, b.Prefix) })
	for _, c := range n.hosts {
		n.out.Hosts = append(n.out.Hosts, *c)
	}
	slices.SortFunc(n.out.Hosts, func(a, b adminapi.HostCount) int {
		return cmp.Or(cmp.Compare(b.Locations, a.Locations), strings.Compare(a.Host, b.Host))
	})
	for _, c := range n.out.Hosts[min(maxHosts, len(n.out.Hosts)):] {
		n.out.OtherHosts += c.Locations
	}
	n.out.Hosts = slices.Clone(n.out.Hosts[:min(maxHosts, len(n.out.Hosts))])
	return n.out
}

func (s *API) activity(c *call) error {
	month, err := parseMonth(c.q.Get("month"))
	if err != nil {
		return err
	}
	actor, text := c.actor, month.Format(adminapi.MonthLayout)
	life := statisticsLife
	if end := month.AddDate(0, 1, 0); s.now().Before(end.Add(time.Hour)) {
		life = freshLife
	}
	value, count, err := s.figures.get(c.r.Context(), "changes "+text+" "+scopeOf(actor), life, func(ctx context.Context, step func() error) (any, error) {
		return s.countChanges(ctx, actor, month, step)
	})
	if err != nil {
		return unsupportedError(err)
	}
	out := adminapi.Activity{Month: text, Days: []adminapi.DayCount{}, People: []adminapi.PersonCount{}}
	if value != nil {
		out = *value.(*adminapi.Activity)
		out.People = slices.Clone(out.People)
	}
	out.Count = count
	s.namePeople(c.r.Context(), &out)
	return writeJSON(c.w, http.StatusOK, out)
}

func parseMonth(text string) (time.Time, error) {
	month, err := time.Parse(adminapi.MonthLayout, text)
	if err != nil {
		return month, &adminapi.RequestError{Field: "month", Message: fmt.Sprintf("must be a month such as 2006-01, not %.40q", text)}
	}
	return month, nil
}

func (s *API) namePeople(ctx context.Context, a *adminapi.Activity) {
	names := s.userNames()
	for i := range a.People {
		a.People[i].WhoName = names.Of(ctx, a.People[i].Who)
	}
}

// CountNames returns the response to a request of the actor a for GET statistics. It counts without
// pauses.
func (s *API) CountNames(ctx context.Context, a registrar.Actor) (*adminapi.Statistics, error) {
	begun := s.now()
	out, err := s.countNames(ctx, a, ctx.Err)
	if err != nil {
		return nil, err
	}
	out.Counted = begun
	return out, nil
}

// CountChanges returns the response to a request of the actor a for GET statistics/changes. The
// parameter month is a month such as 2026-11. CountChanges counts without pauses.
func (s *API) CountChanges(ctx context.Context, a registrar.Actor, month string) (*adminapi.Activity, error) {
	begun := s.now()
	begin, err := parseMonth(month)
	if err != nil {
		return nil, err
	}
	out, err := s.countChanges(ctx, a, begin, ctx.Err)
	if err != nil {
		return nil, unsupportedError(err)
	}
	out.Counted = begun
	s.namePeople(ctx, out)
	return out, nil
}

func (s *API) countChanges(ctx context.Context, a registrar.Actor, month time.Time, step func() error) (*adminapi.Activity, error) {
	source, err := audit.SourceOf(s.store)
	if err != nil {
		return nil, err
	}
	after, err := audit.SizeAt(ctx, source, month.Add(-time.Millisecond))
	if err != nil {
		return nil, err
	}
	until, err := audit.SizeAt(ctx, source, month.AddDate(0, 1, 0).Add(-time.Millisecond))
	if err != nil || until == after {
		return newActivityCounter(month, s.now()).result(), err
	}
	n := newActivityCounter(month, s.now())
	for e, err := range upTo(until, source.Changes(ctx, after)) {
		if err == nil {
			err = step()
		}
		if err != nil {
			return nil, err
		}
		if seen, ok := seenBy(a, e); ok {
			n.add(seen.Change)
		}
	}
	return n.result(), nil
}

type activityCounter struct {
	month  time.Time
	days   []adminapi.DayCount
	people map[adminapi.PersonCount]*adminapi.Changes // by Who and Redacted
}

func newActivityCounter(month, now time.Time) *activityCounter {
	n := &activityCounter{month: month, people: map[adminapi.PersonCount]*adminapi.Changes{}}
	for day := month; day.Before(month.AddDate(0, 1, 0)) && !day.After(now); day = day.AddDate(0, 0, 1) {
		n.days = append(n.days, adminapi.DayCount{Day: day.Format(time.DateOnly)})
	}
	return n
}

func (n *activityCounter) add(c *store.Change) {
	day := int(c.Time.Sub(n.month) / (24 * time.Hour))
	if day >= 0 && day < len(n.days) { // the clocks of servers differ slightly
		count(&n.days[day].Changes, c)
	}
	key := adminapi.PersonCount{Who: c.Who, Redacted: c.Redacted}
	person := n.people[key]
	if person == nil {
		if len(n.people) == maxKnownPeople {
			return
		}
		person = &adminapi.Changes{}
		n.people[key] = person
	}
	count(person, c)
}

func count(n *adminapi.Changes, c *store.Change) {
	switch {
	case c.Record == nil:
		n.Other++
	case c.Revision() == 1:
		n.Created++
	case c.Record.Status == nomen.Retired:
		n.Retired++
	default:
		n.Changed++
	}
}

func (n *activityCounter) result() *adminapi.Activity {
	out := &adminapi.Activity{Month: n.month.Format(adminapi.MonthLayout), Days: n.days, People: []adminapi.PersonCount{}}
	if out.Days == nil {
		out.Days = []adminapi.DayCount{}
	}
	for key, changes := range n.people {
		key.Changes = *changes
		out.People = append(out.People, key)
	}
	slices.SortFunc(out.People, func(a, b adminapi.PersonCount) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), strings.Compare(a.Who, b.Who))
	})
	out.OtherPeople = max(len(out.People)-maxPeople, 0)
	out.People = out.People[:len(out.People)-out.OtherPeople]
	return out
}
