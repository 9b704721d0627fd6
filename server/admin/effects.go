package admin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// Limits of the comparison of answers before and after a change of an authority.
const (
	maxEffects  = 50  // reported names whose answers would differ
	maxExamined = 500 // registered names that are compared
	maxMissed   = 100 // failed lookups that are compared
)

// checkAuthority responds with the effects of replacing an authority. These are the results of the
// tests of the rules, the names whose answers would differ, and warnings. If the change would be
// rejected, the response has the reason.
func (s *API) checkAuthority(c *call) error {
	a, err := readAuthority(c)
	if err != nil {
		return err
	}
	out, err := s.CheckAuthority(c.r.Context(), c.actor, a)
	if err != nil {
		return err
	}
	return writeJSON(c.w, http.StatusOK, out)
}

// CheckAuthority returns what would happen if the actor replaced the authority a, without changing
// anything. The result is the response to POST authorities/{prefix}/check.
func (s *API) CheckAuthority(ctx context.Context, actor registrar.Actor, a *store.Authority) (adminapi.AuthorityCheck, error) {
	preview, err := s.registrar.PreviewAuthority(ctx, actor, a)
	if err != nil && !errors.As(err, new(*registrar.RefusalError)) {
		return adminapi.AuthorityCheck{}, err
	}
	out := adminapi.AuthorityCheck{Created: preview.Created, Warnings: preview.Warnings}
	if out.Tests, _ = a.Rules.RunTests(a.Prefix); err != nil { // an invalid rule is the problem
		out.Problem = adminapi.NewProblem(err)
		return out, nil
	}
	err = s.effects(ctx, preview.Authority, &out)
	return out, err
}

// effects finds names whose answers would differ if next replaced the stored authority with the
// same prefix.
func (s *API) effects(ctx context.Context, next *store.Authority, out *adminapi.AuthorityCheck) error {
	later := changedAuthorities{s.store, next}
	engines := [2]*resolve.Engine{s.comparable(s.store), s.comparable(later)}
	set, err := store.NewTable(later, s.now, 0).Set(ctx, time.Time{})
	if err != nil {
		return err
	}
	for n, err := range s.examined(ctx, next, set, out) {
		if err != nil {
			return err
		}
		before, after := answerText(ctx, engines[0], n), answerText(ctx, engines[1], n)
		if before == after {
			continue
		}
		if out.Effects = append(out.Effects, adminapi.Effect{Name: n.Key(), Before: before, After: after}); len(out.Effects) == maxEffects {
			out.More = true
			return nil
		}
	}
	return nil
}

// comparable returns an engine whose answers can be compared. It always chooses the first of
// several equal locations, and does not ask other servers.
func (s *API) comparable(r store.Reader) *resolve.Engine {
	return resolve.New(r, resolve.Options{
		Now: s.now, Pick: func(int) int { return 0 }, NoSuggestions: true,
		Ask: func(target string) (nomen.Resolver, error) { return nil, &askedError{target} },
	})
}

type askedError struct{ target string }

func (e *askedError) Error() string {
	if e.target == "" {
		return "answered by the resolver that discovery finds"
	}
	return "answered by the resolver " + e.target
}

// examined yields the names to compare: names in tests of the rules, failed lookups, and the first
// registered names. It skips names that another authority covers.
func (s *API) examined(ctx context.Context, a *store.Authority, set *store.AuthoritySet, out *adminapi.AuthorityCheck) iter.Seq2[name.Name, error] {
	return func(yield func(name.Name, error) bool) {
		seen := map[name.Name]bool{}
		examine := func(n name.Name) bool {
			if by := set.Of(n); by == nil || by.Prefix != a.Prefix || seen[n] {
				return true
			}
			seen[n] = true
			out.Examined++
			return yield(n, nil)
		}
		for _, spelling := range s.likelyNames(a) {
			if n, err := name.Parse(spelling); err == nil && !examine(a.Fold(n)) {
				return
			}
		}
		registered := 0
		for _, begin := range a.Prefix.Spans() {
			for rec, err := range s.store.List(ctx, store.Scan{Prefix: begin}) {
				if err != nil {
					yield(name.Name{}, err)
					return
				}
				if registered++; registered > maxExamined {
					out.More = true
					return
				}
				if rec.Status != nomen.Reserved && !examine(rec.Name) {
					return
				}
			}
		}
	}
}

func (s *API) likelyNames(a *store.Authority) (all []string) {
	for _, r := range a.Rules {
		for _, t := range r.Tests {
			all = append(all, t.From)
		}
	}
	missed := 0
	for _, m := range s.misses.List(0) {
		if missed < maxMissed && strings.HasPrefix(m.Name, a.Prefix.String()) {
			all = append(all, m.Name)
			missed++
		}
	}
	return all
}

func answerText(ctx context.Context, e *resolve.Engine, n name.Name) string {
	a, err := e.Resolve(ctx, nomen.Question{Name: n})
	var asked *askedError
	var unanswered *nomen.Error
	switch {
	case errors.As(err, &asked):
		return asked.Error()
	case errors.As(err, &unanswered):
		return errorText(unanswered)
	case err != nil:
		return err.Error()
	}
	var parts []string
	for _, l := range a.Locations {
		parts = append(parts, l.URL)
	}
	if a.Redirect != "" {
		parts = append(parts, a.Redirect)
	}
	if a.Service != nomen.I2L {
		parts = append(parts, "service "+string(a.Service))
	}
	if a.RedirectStatus != 0 {
		parts = append(parts, fmt.Sprintf("status %d", a.RedirectStatus))
	}
	if a.MaxAge != 0 {
		parts = append(parts, fmt.Sprintf("may be kept for %s", a.MaxAge))
	}
	return strings.Join(parts, ", ")
}

func errorText(e *nomen.Error) string {
	if e.Kind == nomen.Unknown {
		return "not found"
	}
	text := e.Kind.String()
	if e.Legal {
		text += " for legal reasons"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

type changedAuthorities struct {
	store.Reader
	next *store.Authority
}

func (s changedAuthorities) Aliased(ctx context.Context, n name.Name) ([]name.Name, error) {
	return store.Aliased(ctx, s.Reader, n)
}

func (s changedAuthorities) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	if p == s.next.Prefix {
		return s.next, nil
	}
	return s.Reader.Authority(ctx, p, at)
}

func (s changedAuthorities) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	return func(yield func(*store.Authority, error) bool) {
		put := false
		for a, err := range s.Reader.Authorities(ctx, at) {
			if err == nil && !put && a.Prefix.String() >= s.next.Prefix.String() {
				if put = true; !yield(s.next, nil) {
					return
				}
			}
			if err == nil && a.Prefix == s.next.Prefix {
				continue
			}
			if !yield(a, err) {
				return
			}
		}
		if !put {
			yield(s.next, nil)
		}
	}
}
