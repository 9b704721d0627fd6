package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/urn"
)

// ForeignOptions configures a [ForeignResolver]. All fields but Timeout and Access are required.
type ForeignOptions struct {
	Inner       nomen.Resolver // resolves the names that are served here
	Authorities *store.Table   // the authorities that Inner uses
	Other       nomen.Resolver // resolves all other names. Must be guarded if Access permits all clients, and should not retry
	Access      *AccessControl // decides for which clients Other is asked; nil permits no client

	Timeout time.Duration // maximum time for a question to Other; default AskTimeout
}

// A ForeignResolver resolves all names. It asks Inner about names that have a record or an
// authority here. It asks Other about all other names, on behalf of a client that the
// [AccessControl] permits (draft of 1995, 4: Y95-63).
//
// It returns the errors of the two resolvers, which may also contain a [*LimitError]. A
// ForeignResolver does not pass on resources from other servers (I2R, I2Rs).
type ForeignResolver struct{ o ForeignOptions }

var _ nomen.Resolver = (*ForeignResolver)(nil)

// NewForeignResolver returns a resolver for all names, or an error if an option is missing.
func NewForeignResolver(o ForeignOptions) (*ForeignResolver, error) {
	if o.Inner == nil || o.Authorities == nil || o.Other == nil {
		return nil, errors.New("gateway: Inner, Authorities and Other are required")
	}
	if o.Timeout <= 0 {
		o.Timeout = AskTimeout
	}
	return &ForeignResolver{o}, nil
}

// Resolve implements [nomen.Resolver]. The context must carry the client (see [WithClient]).
func (w *ForeignResolver) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	n, ok := foreignName(q)
	if !ok || w.o.Access.Policy() == Off {
		return w.o.Inner.Resolve(ctx, q)
	}
	served, err := w.serves(ctx, n, q.At)
	if err != nil {
		return nil, err
	}
	// A name without an authority here may still have a record.
	a, err := w.o.Inner.Resolve(ctx, q)
	if served || !errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) {
		return a, err
	}
	return w.ask(ctx, q, n)
}

// serves reports whether a name belongs to an authority here, now or at the given time. An
// authority that exists now counts for any time, because no other resolver knows the earlier states
// of its names.
func (w *ForeignResolver) serves(ctx context.Context, n name.Name, at time.Time) (bool, error) {
	set, err := w.o.Authorities.Set(ctx, time.Time{})
	if err == nil && set.Of(n) == nil && !at.IsZero() {
		set, err = w.o.Authorities.Set(ctx, at)
	}
	return err == nil && set.Of(n) != nil, err
}

// foreignName returns the name in a question. The second result is false if only this server may
// answer the question.
func foreignName(q nomen.Question) (name.Name, bool) {
	n := q.Name
	if n.IsZero() {
		var err error
		if n, err = name.FromURI(q.Subject); err != nil {
			return n, false
		}
	}
	return n, isForeign(n)
}

// isForeign reports whether there are resolvers for the scheme of n. It returns false for http and
// https URLs such as PURLs, which do not need a resolver.
func isForeign(n name.Name) bool { return pid.Lookup(n.Scheme()).Resolved }

func (w *ForeignResolver) ask(ctx context.Context, q nomen.Question, n name.Name) (*nomen.Answer, error) {
	refuse := func(k nomen.Kind, message string) error {
		return &nomen.Error{Kind: k, Name: n.Key(), Service: q.Service, Message: message}
	}
	c := ClientOf(ctx)
	switch {
	case q.Hops >= nomen.MaxHops:
		return nil, fmt.Errorf("gateway: %s: %w", n, nomen.ErrLoop)
	case !w.o.Access.Admits(c) && c.misled() != "":
		return nil, refuse(nomen.Denied, "the name is not served here, and this server asks other resolvers only for its own users: "+c.misled())
	case !w.o.Access.Admits(c) && isRequest(n): // the authority of the request has no resolver here
		return nil, refuse(nomen.Unknown, "its naming authority is not served here, and this server asks other resolvers only for its own users")
	case !w.o.Access.Admits(c):
		return nil, refuse(nomen.Denied, "the name is not served here, and this server asks other resolvers only for its own users")
	case q.Service == nomen.I2R, q.Service == nomen.I2Rs:
		return nil, refuse(nomen.NoResult, "the name is not served here, and this server does not pass on resources from other servers; ask for the location (I2L)")
	}
	leave, err := w.o.Access.enter(c)
	if err != nil {
		return nil, err
	}
	defer leave()
	own, cancel := Asking(ctx)
	defer cancel()
	own, end := context.WithTimeout(own, w.o.Timeout)
	defer end()
	q.Hops++
	a, err := w.o.Other.Resolve(own, q)
	if err != nil {
		return nil, passedOn(ctx, n, q.Service, err)
	}
	if a = adopt(a, n); a.Service == nomen.I2L && a.Redirect == "" && len(a.Locations) == 0 {
		return nil, refuse(nomen.NoResult, "its resolver gave no location that can be passed on")
	}
	a.Private = a.Private || w.o.Access.Policy() == Own // a shared cache cannot know which clients are own users
	return a, nil
}

// passedOn converts an error from another resolver. It keeps what the error says about the name.
// Any other error becomes a failure of the other server.
func passedOn(ctx context.Context, n name.Name, s nomen.Service, err error) error {
	var e *nomen.Error
	if errors.As(err, &e) {
		own := *e
		own.Name, own.Err = n.Key(), err
		if own.Answer != nil {
			own.Answer = adopt(own.Answer, n)
		} else {
			own.Message = strings.TrimPrefix(own.Message+"; "+whose(n), "; ")
		}
		return &own
	}
	var lost interface { // for example client.RouteError
		error
		NoRoute() string
	}
	if errors.As(err, &lost) {
		return &nomen.Error{
			Kind: nomen.Unknown, Name: n.Key(), Service: s, Err: err,
			Message: "the name is not served here, and no other resolver was found: " + lost.NoRoute(),
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, nomen.ErrLoop), errors.Is(err, context.Canceled):
		return fmt.Errorf("gateway: %s: %w", n, err)
	}
	return fmt.Errorf("gateway: %w: %s: %w", nomen.ErrUpstream, n, err)
}

// whose returns a sentence for people that says which server answered about a name.
func whose(n name.Name) string {
	if host, ok := authorityID(n); ok {
		return "this answer comes from " + host + ", the naming authority, and not from this server"
	}
	return "this answer comes from another resolver that was found for the name, and not from this server"
}

// isRequest reports whether a name is a reserved request, which the resolver of its authority must
// answer (draft of 1995, 3.5).
func isRequest(n name.Name) bool {
	u, err := urn.Draft1995.Parse(n.Key())
	return err == nil && strings.HasPrefix(u.ElementID(), urn.ReservedPrefix)
}

// authorityID returns the host in a name of the draft of 1995. The result is false for other names.
func authorityID(n name.Name) (string, bool) {
	if n.NID() != "dns" {
		return "", false
	}
	host, _, ok := strings.Cut(strings.TrimPrefix(n.Key(), "urn:dns:"), ":")
	return host, ok && host != ""
}

// adopt returns a copy of an answer of another server for the clients of this server. The copy
// names its source, and lacks locations that are not allowed here.
func adopt(a *nomen.Answer, n name.Name) *nomen.Answer {
	own := *a
	store.Clean(&own)
	if own.Name.IsZero() {
		own.Name = n
	}
	own.Why = append([]string{whose(n)}, a.Why...)
	return &own
}
