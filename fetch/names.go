package fetch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/fetch/plan"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// name implements [plan.Step] for names. It asks a resolver for the locations of the resource.
func (j *retrieval) name(ctx context.Context, r plan.Request) (plan.Outcome, error) {
	resolver := j.resolver()
	switch {
	case resolver == nil && j.hop.trusted:
		return plan.Outcome{}, fmt.Errorf("fetch: %s: no resolver configured: %w", r.URI.Redacted(), plan.ErrNoAlgorithm)
	case resolver == nil:
		return plan.Outcome{}, j.refuse(r.URI, "an untrusted name cannot be resolved, because its resolver could be in the private network", nil)
	}
	d := urn.Latest
	if len(j.hop.chain) == 1 && j.request.URN.IsValid() { // only the name that the user has typed is in the dialect of the request
		d = j.request.URN
	}
	q, err := question(d, r.URI)
	if err != nil {
		return plan.Outcome{}, err
	}
	q.Service, q.Accept, q.Languages = nomen.I2Ls, j.request.Accept, j.request.Languages
	j.watch.pause() // the resolver has its own limits
	a, err := resolver.Resolve(ctx, q)
	if err != nil {
		return plan.Outcome{}, err
	}
	targets := locations(a)
	if len(targets) == 0 {
		return plan.Outcome{}, &nomen.Error{Kind: nomen.NoResult, Name: r.URI.String(), Service: nomen.I2Ls, Message: "the name has no location of a supported scheme"}
	}
	return plan.Outcome{Locators: targets}, nil
}

func (j *retrieval) resolver() nomen.Resolver {
	if o := j.fetcher.o; !j.hop.trusted && !o.AllowPrivate {
		return o.Guarded
	}
	return j.fetcher.o.Resolver
}

func question(d urn.Dialect, u uri.URI) (nomen.Question, error) {
	spelling := u.String()
	q := nomen.Question{Subject: u}
	if s, _ := u.Scheme(); strings.EqualFold(s, "urn") {
		parsed, err := d.Parse(spelling)
		if err != nil {
			return q, err
		}
		q = nomen.Requested(parsed)
		spelling = parsed.Assigned().String()
	}
	n, err := name.Parse(spelling)
	if err != nil {
		return q, err
	}
	q.Name = n
	if q.Subject, err = uri.Parse(spelling); err != nil {
		return q, err
	}
	return q, nil
}

const maxLocations = 16

// locations returns the locations of the resource in the order in which to try them. Copies come
// after other locations. Locations that are unavailable come last.
func locations(a *nomen.Answer) []uri.URI {
	if a.Redirect != "" {
		if u, err := uri.Parse(a.Redirect); err == nil {
			return []uri.URI{u}
		}
		return nil
	}
	rank := func(l nomen.Location) int {
		switch {
		case l.Down:
			return 2
		case nomen.RelationOf(l.Rel) == nomen.Copied:
			return 1
		}
		return 0
	}
	items := slices.DeleteFunc(slices.Clone(a.Locations), func(l nomen.Location) bool {
		return nomen.RelationOf(l.Rel) > nomen.Copied
	})
	slices.SortStableFunc(items, func(a, b nomen.Location) int { return cmp.Compare(rank(a), rank(b)) })
	var us []uri.URI
	for _, l := range items {
		if u, err := uri.Parse(l.URL); err == nil && len(us) < maxLocations {
			us = append(us, u)
		}
	}
	return us
}
