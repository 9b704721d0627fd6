// Package resolve answers questions about names from a store: the engine of the
// name service. It implements the services of RFC 2483 that need nothing but
// records: I2L, I2Ls, I2C, I2Cs, I2N and I2Ns.
//
// # How a question is answered
//
// The name is brought into canonical form by package name; where its authority
// folds the case of elements, the element is folded too (1995, 2: case rules of
// the ElementID come from the AuthorityID). The record of exactly that name
// decides:
//
//   - none, or a reserved one: Unknown;
//   - one as of an earlier time whose content was redacted: Denied, for legal
//     reasons;
//   - retired with exactly one successor, asked for a location: an answer whose
//     Redirect is the successor; otherwise Gone, with the tombstone;
//   - active: what the service asks for; a service for one thing of which there
//     is none is NoResult, a list may be empty.
//
// A service that the engine does not offer falls back to the default of the
// authority, and where there is none to I2L (2012, 2.3.1).
package resolve

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// Options configure an [Engine]. The zero value serves.
type Options struct {
	Now     func() time.Time // time.Now if nil
	Refresh time.Duration    // how old the table of authorities may be; 1 s if 0

	// Fetch opens a location for I2R and I2Rs; nil: no authority can offer them.
	Fetch func(ctx context.Context, location string) (*nomen.Resource, error)

	// Ask returns the resolver to which names are delegated: HOST or HOST:PORT of
	// an authority's address, an absolute URL (a template with {name}), or "" for
	// the one that discovery finds. Nil: a delegated name that has to be asked
	// elsewhere is NoResult.
	Ask func(to string) (nomen.Resolver, error)

	Pick    func(n int) int            // uniform in [0,n), for choice by weight; rand.IntN if nil
	Suggest func(name string) []string // what may have been meant by a name that is not known; of package namespace if nil
}

// MaxHops is how many resolvers may pass a question on before it is cut
// ([nomen.ErrLoop]).
const MaxHops = 8

const defaultRefresh = time.Second

// An Engine is a [nomen.Resolver] over a store. It is safe for concurrent use.
type Engine struct {
	records     store.Reader
	authorities *store.Table
	now         func() time.Time
}

var _ nomen.Resolver = (*Engine)(nil)

// New returns an engine that reads from r.
func New(r store.Reader, o Options) *Engine {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refresh == 0 {
		o.Refresh = defaultRefresh
	}
	return &Engine{records: r, authorities: store.NewTable(r, o.Now, o.Refresh), now: o.Now}
}

// Resolve implements [nomen.Resolver].
func (e *Engine) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, err := subject(q)
	if err != nil {
		return nil, err
	}
	set, err := e.authorities.Set(ctx, q.At)
	if err != nil {
		return nil, err
	}
	authority := set.Of(n)
	n = authority.Fold(n)
	service := offered(q.Service, authority)
	rec, err := e.records.Get(ctx, n, q.At)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, &nomen.Error{Kind: nomen.Unknown, Name: n.Key(), Service: service, Message: unknownMessage(authority)}
	case err != nil:
		return nil, err
	}
	switch {
	case rec.Status == nomen.Reserved:
		return nil, &nomen.Error{Kind: nomen.Unknown, Name: n.Key(), Service: service, Message: "not known here"}
	case rec.Redacted:
		return nil, &nomen.Error{
			Kind: nomen.Denied, Legal: true, Name: n.Key(), Service: service,
			Message: "what was known of the name at that time was removed",
		}
	case rec.Status == nomen.Retired:
		return e.retired(rec, service)
	}
	return e.active(rec, service, q)
}

func unknownMessage(a *store.Authority) string {
	if a == nil {
		return "not known here, and no authority of this service covers it"
	}
	return "not known here"
}

// subject returns the name that q asks about.
func subject(q nomen.Question) (name.Name, error) {
	if !q.Name.IsZero() {
		return q.Name, nil
	}
	n, err := name.FromURI(withoutFragment(q.Subject))
	var bad *name.Error
	if errors.As(err, &bad) {
		return name.Name{}, &nomen.Error{
			Kind: nomen.Malformed, Name: bad.Input, Service: q.Service,
			Offset: bad.Offset, Rule: bad.Rule, Message: bad.Message, Err: err,
		}
	}
	return n, err
}

// withoutFragment drops what a client should have kept for itself (2012, 2.4).
func withoutFragment(u uri.URI) uri.URI {
	if _, ok := u.Fragment(); !ok {
		return u
	}
	s, _, _ := strings.Cut(u.String(), "#")
	short, err := u.Dialect().Parse(s)
	if err != nil {
		return u
	}
	return short
}

// offered returns the service that is meant, among those that the engine has.
func offered(s nomen.Service, a *store.Authority) nomen.Service {
	switch s {
	case nomen.I2L, nomen.I2Ls, nomen.I2C, nomen.I2Cs, nomen.I2N, nomen.I2Ns:
		return s
	}
	if a != nil && a.Service != "" && a.Service != s {
		return offered(a.Service, nil)
	}
	return nomen.I2L
}

// retired answers for a tombstone.
func (e *Engine) retired(rec *store.Record, service nomen.Service) (*nomen.Answer, error) {
	a := e.describe(rec, service)
	if service == nomen.I2L && len(a.Successors) == 1 {
		a.Redirect = a.Successors[0].Key()
		a.MaxAge = successorAge
		return a, nil
	}
	message := rec.Reason
	if message == "" {
		message = "retired"
	}
	return nil, &nomen.Error{Kind: nomen.Gone, Name: rec.Name.Key(), Service: service, Message: message, Answer: a}
}

// successorAge bounds how long a client may remember that a name was replaced.
const successorAge = 24 * time.Hour

// active answers for a record that is in use.
func (e *Engine) active(rec *store.Record, service nomen.Service, q nomen.Question) (*nomen.Answer, error) {
	a := e.describe(rec, service)
	a.Locations = e.choose(a.Locations, q)
	if a.Narrow(service) {
		return a, nil
	}
	message := "no location is known"
	if service == nomen.I2N {
		message = "no other name is known"
	}
	return nil, &nomen.Error{Kind: nomen.NoResult, Name: rec.Name.Key(), Service: service, Message: message}
}

// describe returns all that is known of a record.
func (e *Engine) describe(rec *store.Record, service nomen.Service) *nomen.Answer {
	a := &nomen.Answer{
		Service:   service,
		Name:      rec.Name,
		Status:    rec.Status,
		Locations: rec.Locations,
		Metadata:  rec.Metadata,
		Names:     rec.SameAs,
		Reason:    rec.Reason,
		Modified:  rec.Modified,
		Revision:  rec.Revision,
	}
	if rec.Spelling != rec.Name.Key() {
		a.Spelling = rec.Spelling
	}
	for _, s := range rec.Successors {
		if n, err := name.Parse(s); err == nil {
			a.Successors = append(a.Successors, n)
		}
	}
	return a
}
