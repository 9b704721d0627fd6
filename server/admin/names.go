package admin

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/validator"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func (s *API) getVersion(c *call) error {
	return writeJSON(c.w, http.StatusOK, adminapi.Version{Version: s.version, Rules: name.RulesVersion, Instance: s.instance, SecondPerson: s.settings.Load().second})
}

// subject parses the name in the path of a request. It returns the name as it was stored at the
// given time, where the zero time means now. It returns an error if the caller does not have rights
// for the name.
func (s *API) subject(c *call, at time.Time) (name.Name, error) {
	n, err := name.Parse(c.value)
	if err != nil {
		return n, err
	}
	return s.reached(c, n, at, c.actor.Role())
}

// reached returns a name as it was stored at the given time. If the caller does not have rights for
// the name, the error names the required role need.
func (s *API) reached(c *call, n name.Name, at time.Time, need registrar.Role) (name.Name, error) {
	kept, err := s.registrar.Kept(c.r.Context(), n, at)
	if err == nil && !c.actor.Reaches(kept) {
		err = c.actor.Denied(need, kept, n.Key())
	}
	return kept, err
}

// Limits of the records that a request for a list reads. Without them, a request for a rare status
// could read the whole store.
const (
	maxRead     = 100_000                // records
	maxReadTime = 150 * time.Millisecond // checked at every readGrain records
	readGrain   = 1000
)

func (s *API) listNames(c *call) error {
	wanted, err := statuses(c.q)
	if err != nil {
		return err
	}
	limit, err := pageLimit(c.q)
	if err != nil {
		return err
	}
	only := c.q.Get("only")
	if only != "" && only != "keys" {
		return &adminapi.RequestError{Field: "only", Message: fmt.Sprintf("must be keys, not %q", only)}
	}
	page, err := s.readPage(c, store.Scan{Prefix: c.q.Get("prefix"), After: c.q.Get("after")}, wanted, limit, only != "")
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, page)
}

func pageLimit(q url.Values) (int, error) {
	v := q.Get("limit")
	if v == "" {
		return adminapi.MaxPage, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return 0, &adminapi.RequestError{Field: "limit", Message: fmt.Sprintf("must be a positive number, not %q", v)}
	}
	return min(n, adminapi.MaxPage), nil
}

func (s *API) readPage(c *call, scan store.Scan, wanted []nomen.Status, limit int, keys bool) (adminapi.Page, error) {
	page := adminapi.Page{Names: []*store.Record{}}
	last, read, found, start := "", 0, 0, s.now()
	for rec, err := range s.within(c.r.Context(), c.actor, scan) {
		if err != nil {
			return page, err
		}
		if found == limit || read == maxRead || read > 0 && read%readGrain == 0 && s.now().Sub(start) >= maxReadTime {
			page.Next = last
			return page, nil
		}
		last = rec.Name.Key()
		read++
		if wanted != nil && !slices.Contains(wanted, rec.Status) {
			continue
		}
		if found++; keys {
			page.Keys = append(page.Keys, last)
			continue
		}
		page.Names = append(page.Names, rec)
	}
	return page, nil
}

// within yields the records of a scan for which an actor has rights. It hardly reads other records:
// the limits on reading can end a page early, and the size of such a page would disclose the number
// of other records.
func (s *API) within(ctx context.Context, a registrar.Actor, scan store.Scan) iter.Seq2[*store.Record, error] {
	if a.MayAll(registrar.Reader) {
		return s.store.List(ctx, scan)
	}
	return func(yield func(*store.Record, error) bool) {
		for _, begin := range spans(a.Scope(), scan.Prefix) {
			part := scan
			part.Prefix = begin
			for rec, err := range s.store.List(ctx, part) {
				if err == nil && !a.Reaches(rec.Name) {
					continue
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
		}
	}
}

// spans returns the prefixes of all keys that begin with begin and belong to one of the given
// prefixes. They are sorted and without duplicates.
func spans(prefixes []name.Prefix, begin string) []string {
	var all []string
	for _, p := range prefixes {
		for _, span := range p.Spans() {
			switch {
			case strings.HasPrefix(span, begin):
				all = append(all, span)
			case strings.HasPrefix(begin, span):
				all = append(all, begin)
			}
		}
	}
	slices.Sort(all)
	kept := all[:0]
	for _, span := range all {
		if len(kept) == 0 || !strings.HasPrefix(span, kept[len(kept)-1]) {
			kept = append(kept, span)
		}
	}
	return kept
}

func (s *API) getName(c *call) error {
	at, err := c.at()
	if err != nil {
		return err
	}
	n, err := s.subject(c, at)
	if err != nil {
		return err
	}
	rec, err := s.registrar.GetAt(c.r.Context(), n, at)
	if err != nil {
		return err
	}
	tag := revisionTag(rec.Revision)
	h := c.w.Header()
	h.Set("ETag", tag)
	h.Set("Content-Location", adminapi.Root+"names/"+adminapi.EscapeName(rec.Name.Key()))
	h.Set("Last-Modified", validator.LastModified(rec.Modified, s.now()))
	if f := c.r.Header.Get("If-None-Match"); f != "" && validator.Matches(f, tag, true) {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeJSON(c.w, http.StatusOK, rec)
}

func (s *API) putName(c *call) error {
	if _, err := s.subject(c, time.Time{}); err != nil {
		return err
	}
	in, err := c.intent("strict")
	if err != nil {
		return err
	}
	rec := new(store.Record)
	if err := readJSON(c, rec); err != nil {
		return err
	}
	if rec.Spelling == "" {
		rec.Spelling = c.value
	}
	if rec.Name, err = name.Parse(rec.Spelling); err != nil {
		return err
	}
	if asked, err := name.Parse(c.value); err != nil || rec.Name != asked {
		return &adminapi.RequestError{Field: "name", Message: fmt.Sprintf("must be the name in the path, not %q", rec.Spelling)}
	}
	out, err := s.registrar.Put(c.r.Context(), c.actor, registrar.Request{Record: rec, Expected: in.expected, Strict: in.strict}, in.why)
	return c.outcome(out, err, in.conditional)
}

func (c *call) outcome(out registrar.Outcome, err error, conditional bool) error {
	if err != nil {
		return preconditioned(err, conditional)
	}
	if out.Result.Revision > 0 {
		c.w.Header().Set("ETag", revisionTag(out.Result.Revision))
	}
	status := http.StatusOK
	if out.Created {
		status = http.StatusCreated
	}
	return writeJSON(c.w, status, adminapi.NewOutcome(out))
}

func (s *API) deleteName(c *call) error {
	n, err := s.subject(c, time.Time{})
	if err != nil {
		return err
	}
	in, err := c.intent()
	if err != nil {
		return err
	}
	out, err := s.registrar.Delete(c.r.Context(), c.actor, n, in.expected, in.why)
	return c.outcome(out, err, in.conditional)
}

func (s *API) retireName(c *call) error {
	n, err := s.subject(c, time.Time{})
	if err != nil {
		return err
	}
	var body adminapi.Retirement
	if err := readJSON(c, &body); err != nil {
		return err
	}
	t, conditional := body.Registrar(), false
	if c.r.Header.Get("If-Match") != "" {
		if t.Expected, conditional, err = c.expectation(nil); err != nil {
			return err
		}
	}
	out, err := s.registrar.Retire(c.r.Context(), c.actor, n, t, body.Why)
	return c.outcome(out, err, conditional)
}
