package resolve

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// Options configure an [Engine]. The zero Options are usable.
type Options struct {
	Now     func() time.Time // returns the current time; nil means time.Now
	Refresh time.Duration    // maximum age of the table of authorities; 0 means 1 s

	// Authorities is the table of authorities in the engine's store. Engines and servers with the
	// same store can share a table. nil means a new table.
	Authorities *store.Table

	// Fetch opens a location for I2R and I2Rs. If it is nil, no authority can offer these services.
	Fetch func(ctx context.Context, location string) (*nomen.Resource, error)

	// Ask returns a client for the resolver of a delegation. The target has one of these forms:
	//
	//   - HOST:PORT, HOST:PORT/full or HOST:PORT/element: a resolver with the protocol of
	//     draft-ietf-uri-yaurn-00
	//   - an absolute URL: a URI template with the variable {+name}
	//   - "": the resolver that package discover finds
	//
	// If Ask is nil, the engine can only redirect to other resolvers. If a delegation requires that
	// the engine ask the other resolver, the result is then NoResult.
	Ask func(target string) (nomen.Resolver, error)

	// Dead reports which locations are dead. If Dead is nil, no location is dead.
	Dead DeadLocations

	Pick func(n int) int // returns a random number from 0 to n-1, for the choice by weight; nil means rand.IntN

	NoSuggestions bool // do not suggest similar names for an unknown name
}

const defaultRefresh = time.Second

// DeadLocations reports the locations that the link checker has found to be dead. Its methods must
// be safe for concurrent use. They are called for each location of an answer, so they should be
// fast.
type DeadLocations interface {
	// Key returns the key under which [store.Invalidations] counts changes to the results of Dead
	// for a location.
	Key(location string) string

	// Dead reports whether a location is dead. It also returns the time since which the location
	// has failed, and the time at which this result last changed. A time is zero if it is unknown.
	Dead(location string) (since, changed time.Time, dead bool)
}

// An Engine is a [nomen.Resolver] that answers from a store. It is safe for concurrent use.
type Engine struct {
	records     store.Reader
	authorities *store.Table
	o           Options
}

var _ nomen.Resolver = (*Engine)(nil)

// New returns an Engine that reads from r.
func New(r store.Reader, o Options) *Engine {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refresh == 0 {
		o.Refresh = defaultRefresh
	}
	if o.Authorities == nil {
		o.Authorities = store.NewTable(r, o.Now, o.Refresh)
	}
	if o.Pick == nil {
		o.Pick = rand.IntN
	}
	return &Engine{records: r, authorities: o.Authorities, o: o}
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
	d := decision{Engine: e, ctx: ctx, q: q, set: set, policy: &noPolicy, depends: store.DependenciesOf(ctx)}
	d.depends.Vouch(set)
	d.about(n)
	m := d.interpret()
	if err := d.admit(); err != nil {
		return nil, d.explained(err)
	}
	var a *nomen.Answer
	if m.Offered {
		a, err = d.answer()
	} else {
		a, err = d.withoutService()
	}
	stale := store.StalenessOf(ctx).Since()
	if err != nil {
		var e *nomen.Error
		if errors.As(err, &e) && e.Answer != nil {
			e.Answer.StaleSince = stale
		}
		return nil, d.explained(err)
	}
	a.StaleSince = stale
	if d.authority != nil {
		a.RedirectStatus = d.authority.Redirect
		if d.ruling != nil {
			a.RedirectStatus = cmp.Or(d.ruling.Status, a.RedirectStatus)
		}
		a.Direct = d.consults.Fields || d.ruling != nil && d.ruling.Status != 0
		a.ByAgent = d.consults.UserAgent
		if len(a.Dead) > 0 {
			a.RedirectStatus, a.MaxAge = temporary(a.RedirectStatus), 0
		} else {
			a.MaxAge = cmp.Or(a.MaxAge, d.maxAge())
		}
	}
	a.Why = append(d.why, a.Why...)
	return a, nil
}

// noPolicy is the policy of names without an authority. It must not be modified.
var noPolicy store.Policy

func subject(q nomen.Question) (name.Name, error) {
	if !q.Name.IsZero() {
		return q.Name, nil
	}
	return nameOf(q.Subject, q.Service)
}

func nameOf(u uri.URI, service nomen.Service) (name.Name, error) {
	n, err := name.FromURI(withoutFragment(u))
	var bad *name.Error
	if errors.As(err, &bad) {
		return name.Name{}, &nomen.Error{
			Kind: nomen.Malformed, Name: bad.Input, Service: service,
			Offset: bad.Offset, Rule: bad.Rule, Message: bad.Message, Suggestions: suggest(bad.Input), Err: err,
		}
	}
	return n, err
}

// withoutFragment removes the fragment, which clients should not send (draft of 2012, section 2.4).
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

// A decision has the state of a call of [Engine.Resolve].
type decision struct {
	*Engine
	ctx context.Context

	q         nomen.Question
	set       *store.AuthoritySet
	authority *store.Authority // authority of the name, or nil
	policy    *store.Policy    // policy of the authority, or the zero Policy
	name      name.Name
	service   nomen.Service // the service that the answer is for

	validity     validity // when the set of valid locations changes
	countryGiven bool     // the country comes from the r-component instead of the client

	depends *store.Dependencies // whether a cache may keep the answer; nil if there is no cache

	ruling   *rule.Result // the rule from which the answer comes, or nil
	consults rule.Consulted

	why []string // the explanation, if requested
}

// about sets the name of the decision to n, in the spelling that its authority prescribes.
func (d *decision) about(n name.Name) {
	d.authority = d.set.Of(n)
	if d.name = n; d.authority != nil {
		d.name = d.authority.Fold(n)
		d.policy = &d.authority.Policy
	}
	if d.q.Explain {
		if d.authority == nil {
			d.explain("%s is under no authority of this service", d.name)
		} else {
			d.explain("%s is under %s", d.name, d.authority.Prefix)
		}
	}
}

// interpret applies the authority's policy to the question, for example the default service.
func (d *decision) interpret() store.Meaning {
	named := d.q.Service
	m := d.authority.Interpret(&d.q, d.o.Fetch != nil)
	if named != "" && d.isRequest() { // the policy of the authority does not apply to reserved requests
		d.q.Service, m.Service, m.Offered = named, named, true
	}
	d.service, d.countryGiven = m.Service, m.Country
	if !d.q.Explain {
		return m
	}
	if m.Directives != "" {
		d.explain("the r-component %q means %q", d.q.R, m.Directives)
	}
	if m.Ignored != "" {
		d.explain("the component %q has no meaning for this authority", m.Ignored)
	}
	if m.Service != named {
		d.explain("the service %q is missing or not offered; using %s", string(named), m.Service)
	}
	return m
}

// withoutService answers a strict question for a service that the authority does not offer. An
// error about the name, for example that it is unknown or retired, takes precedence over the error
// about the service (RFC 2483, section 4). If the name is delegated, withoutService returns the
// redirect, because the other resolver may offer the service.
func (d *decision) withoutService() (*nomen.Answer, error) {
	wanted := d.service
	d.service = nomen.I2C
	a, err := d.answer()
	d.service = wanted
	switch {
	case err == nil && a.Redirect != "" && a.Service == wanted:
		return a, nil
	case err != nil && !errors.Is(err, &nomen.Error{Kind: nomen.NoResult}):
		return nil, err
	}
	return nil, d.refuse(nomen.NoResult, "this service is not offered for the name")
}

// admit returns an error if access to the name is restricted. Current restrictions also apply to
// questions about an earlier time at which the name was public.
func (d *decision) admit() error {
	e := d.authority.Refuses(d.name.Key())
	if e == nil && !d.q.At.IsZero() {
		now, err := d.authorities.Set(d.ctx, time.Time{})
		if err != nil {
			return err
		}
		e = now.Of(d.name).Refuses(d.name.Key())
	}
	if e == nil {
		return nil
	}
	e.Service = d.service
	return e
}

func (d *decision) refuse(k nomen.Kind, message string) *nomen.Error {
	return &nomen.Error{Kind: k, Name: d.name.Key(), Service: d.service, Message: message}
}

// unknown returns the error for a name without a public record. Reserved names have the same error,
// so that the error does not reveal them.
func (d *decision) unknown() *nomen.Error {
	e := d.notFound()
	e.Suggestions = d.near()
	return e
}

func (d *decision) notFound() *nomen.Error {
	message := "not found"
	if d.authority == nil {
		message = "not found, and no authority of this service covers it"
	} else if d.authority.Contact != "" {
		message += "; contact for " + d.authority.Prefix.String() + ": " + strings.TrimPrefix(d.authority.Contact, "mailto:")
	}
	return d.refuse(nomen.Unknown, message)
}

func (d *decision) maxAge() time.Duration { return time.Duration(d.policy.MaxAge) * time.Second }
