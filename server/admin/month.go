package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
)

// Limits of a report about a month.
const (
	maxMonthMisses = 200
	maxMonthLinks  = 1000
)

func (s *API) month(c *call) error {
	out, err := s.MonthReport(c.r.Context(), c.actor, c.q.Get("prefix"), c.q.Get("month"))
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// MonthReport returns the response to a request of the actor a for GET statistics/month. The
// parameter month is a month such as 2026-11. If the changes are still being counted, the report is
// marked as incomplete.
func (s *API) MonthReport(ctx context.Context, a registrar.Actor, prefix, month string) (*adminapi.MonthReport, error) {
	begin, err := parseMonth(month)
	if err != nil {
		return nil, err
	}
	a, err = narrowed(a, prefix)
	if err != nil {
		return nil, err
	}
	m := &monthReporter{api: s.Client(a), prefix: prefix, begin: begin, now: s.now(), out: &adminapi.MonthReport{Month: month, Prefix: prefix, Misses: []adminapi.MonthMiss{}}}
	for _, part := range []func(context.Context) error{m.resolutions, m.misses, m.changes, m.links} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return m.out, nil
}

// narrowed returns an actor that has the highest role of a for the names with a prefix, and no
// other rights. If the prefix is "", narrowed returns a.
func narrowed(a registrar.Actor, prefix string) (registrar.Actor, error) {
	if prefix == "" {
		return a, nil
	}
	p, err := name.ParsePrefix(prefix)
	if err != nil {
		return a, err
	}
	for role := registrar.Owner; ; role-- {
		switch {
		case a.MayPrefix(p, role):
			return registrar.Actor{Who: a.Who, Grants: []registrar.Grant{{Role: role, Prefixes: []name.Prefix{p}}}}, nil
		case role == registrar.Reader:
			return a, a.DeniedAny(registrar.Reader, prefix)
		}
	}
}

type monthReporter struct {
	api    *adminapi.Client
	prefix string
	begin  time.Time
	now    time.Time
	out    *adminapi.MonthReport
}

// resolutions adds the resolutions of the month and of the previous month.
func (m *monthReporter) resolutions(ctx context.Context) (err error) {
	of := func(month string, top int) (adminapi.Resolutions, error) {
		return m.api.Resolutions(ctx, adminapi.ResolutionQuery{Prefix: m.prefix, From: month, To: month, Top: top})
	}
	if m.out.Resolutions, err = of(m.out.Month, usualTop); err != nil {
		return err
	}
	before, err := of(m.begin.AddDate(0, -1, 0).Format(adminapi.MonthLayout), 1)
	m.out.Before = before.Total
	withoutBots := func(b adminapi.ByClass) uint64 { return b.Sum() - b.Bot }
	r := &m.out.Resolutions
	if failed := withoutBots(r.Failed); failed > 0 {
		m.out.FailedShare = 100 * float64(failed) / float64(failed+withoutBots(r.Total)+withoutBots(r.Gone))
	}
	return err
}

// misses adds the names whose lookups failed in the month.
func (m *monthReporter) misses(ctx context.Context) error {
	all, err := m.api.VisibleMisses(ctx, name.Beginning(m.prefix), 0)
	if err != nil {
		return err
	}
	for _, miss := range all.Misses {
		switch {
		case !miss.SeenIn(m.begin):
		case miss.IsRare():
			m.out.MissesRare++
		case len(m.out.Misses) == maxMonthMisses:
			m.out.MissesMore++
		default:
			m.out.Misses = append(m.out.Misses, adminapi.MonthMiss{Miss: miss, Seen: miss.MonthsSeen(m.now)})
		}
	}
	return nil
}

func (m *monthReporter) changes(ctx context.Context) error {
	a, err := m.api.Activity(ctx, m.out.Month)
	if err != nil {
		return err
	}
	m.out.Count = a.Count
	for _, d := range a.Days {
		m.out.Changes.Created += d.Created
		m.out.Changes.Changed += d.Changed
		m.out.Changes.Retired += d.Retired
		m.out.Changes.Other += d.Other
	}
	return nil
}

// links adds the links that are dead or that a user should look at.
func (m *monthReporter) links(ctx context.Context) error {
	status, err := m.api.LinkStatus(ctx)
	var no *adminapi.StatusError
	if errors.As(err, &no) && no.Kind == adminapi.KindNoLinks {
		return nil
	}
	if err != nil {
		return err
	}
	out := &adminapi.MonthLinks{Dead: []adminapi.Link{}, Look: []adminapi.Link{}, Reading: status.Reading, Other: status.Other}
	m.out.Links = out
	for _, v := range []string{"dead", "blocked", "suspect", "failing"} {
		list, more, err := m.withVerdict(ctx, v)
		if err != nil {
			return err
		}
		out.More = out.More || more
		switch v {
		case "dead":
			out.Dead = list
		case "failing":
			out.Failing = len(list)
		default:
			out.Look = append(out.Look, list...)
		}
	}
	changes, err := m.api.LinkChanges(ctx, m.begin, time.Time{})
	out.Hosts = changes.Hosts
	return err
}

func (m *monthReporter) withVerdict(ctx context.Context, verdict string) (all []adminapi.Link, more bool, err error) {
	all = []adminapi.Link{}
	for after := ""; ; {
		page, err := m.api.Links(ctx, verdict, after, 0)
		if err != nil {
			return nil, false, err
		}
		all = append(all, page.Links...)
		switch after = page.Next; {
		case len(all) >= maxMonthLinks:
			return all[:maxMonthLinks], len(all) > maxMonthLinks || after != "", nil
		case after == "":
			return all, false, nil
		}
	}
}
