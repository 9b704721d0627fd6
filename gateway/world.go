package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/urn"
)

// WorldOptions configure a [World]. All are needed but the last.
type WorldOptions struct {
	Inner       nomen.Resolver // answers for the names that are served here
	Authorities *store.Table   // of Inner
	Other       nomen.Resolver // answers for the rest; guarded if Door lets strangers in, and best without repetitions
	Door        *Door          // before Other; nil is a shut one

	Timeout time.Duration // of a question to Other; 0 for AskTimeout
}

// A World is a resolver for names of everywhere: those that are known here, or are
// of an authority that is, are answered by one resolver, all others by another
// one, on behalf of who asks (1995, 4: Y95-63). Whether that is allowed is for the [Door] to say.
//
// Beside what the two resolvers return, the error may contain a [*LimitError].
// Resources of strangers (I2R, I2Rs) are not passed on: the gateway is for names.
type World struct{ o WorldOptions }

var _ nomen.Resolver = (*World)(nil)

// NewWorld returns a world.
func NewWorld(o WorldOptions) (*World, error) {
	if o.Inner == nil || o.Authorities == nil || o.Other == nil {
		return nil, errors.New("gateway: a world needs two resolvers and the authorities of the first")
	}
	if o.Timeout <= 0 {
		o.Timeout = AskTimeout
	}
	return &World{o}, nil
}

// Resolve implements [nomen.Resolver]. The address of the asker is that of the
// context, see [WithAsker].
func (w *World) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	n, ok := foreignName(q)
	if !ok || w.o.Door.Policy() == Off {
		return w.o.Inner.Resolve(ctx, q)
	}
	served, err := w.serves(ctx, n, q.At)
	if err != nil {
		return nil, err
	}
	// A name may be registered here without an authority.
	a, err := w.o.Inner.Resolve(ctx, q)
	if served || !errors.Is(err, &nomen.Error{Kind: nomen.Unknown}) {
		return a, err
	}
	return w.ask(ctx, q, n)
}

// serves reports whether an authority that is known here decides about a name now, or
// did at a time: nobody else knows what was before the authority came.
func (w *World) serves(ctx context.Context, n name.Name, at time.Time) (bool, error) {
	set, err := w.o.Authorities.Set(ctx, time.Time{})
	if err == nil && set.Of(n) == nil && !at.IsZero() {
		set, err = w.o.Authorities.Set(ctx, at)
	}
	return err == nil && set.Of(n) != nil, err
}

// foreignName returns the name that is asked about, if it is one that somebody
// else may answer for.
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

// isForeign reports whether resolvers answer for the scheme of n. A URL that is a
// name, which a PURL is, anybody can ask where it is.
func isForeign(n name.Name) bool { return pid.Lookup(n.Scheme()).Resolved }

// ask asks the other resolver.
func (w *World) ask(ctx context.Context, q nomen.Question, n name.Name) (*nomen.Answer, error) {
	refuse := func(k nomen.Kind, message string) error {
		return &nomen.Error{Kind: k, Name: n.Key(), Service: q.Service, Message: message}
	}
	asker := AskerOf(ctx)
	switch {
	case q.Hops >= nomen.MaxHops:
		return nil, fmt.Errorf("gateway: %s: %w", n, nomen.ErrLoop)
	case !w.o.Door.Admits(asker) && asker.misled() != "":
		return nil, refuse(nomen.Denied, "it is not served here, and this server asks others for its own users only: "+asker.misled())
	case !w.o.Door.Admits(asker) && isRequest(n): // which has no resolver here
		return nil, refuse(nomen.Unknown, "its naming authority is not served here, and this server asks others for its own users only")
	case !w.o.Door.Admits(asker):
		return nil, refuse(nomen.Denied, "it is not served here, and this server asks others for its own users only")
	case q.Service == nomen.I2R, q.Service == nomen.I2Rs:
		return nil, refuse(nomen.NoResult, "it is not served here, and this server passes on no resources of others; ask where it is (I2L)")
	}
	leave, err := w.o.Door.Enter(asker)
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
		return nil, refuse(nomen.NoResult, "its resolver knows no location that could be passed on")
	}
	a.Private = a.Private || w.o.Door.Policy() == Own // a shared cache knows no own users
	return a, nil
}

// passedOn returns the error of another resolver as one of ours: what it says of
// the name stays, and a failure is told as what it is.
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
	var lost *client.RouteError
	if errors.As(err, &lost) {
		return &nomen.Error{
			Kind: nomen.Unknown, Name: n.Key(), Service: s, Err: err,
			Message: "it is not served here, and no other resolver of it is known: " + lost.Reason,
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

// whose says whose an answer about a foreign name is.
func whose(n name.Name) string {
	if host, ok := authorityID(n); ok {
		return "this was asked of " + host + ", which looks after the name, and is not this server's own answer"
	}
	return "this was asked of another resolver, which was found for the name, and is not this server's own answer"
}

// isRequest reports whether a name is a reserved request to the resolver of its
// authority (1995, 3.5).
func isRequest(n name.Name) bool {
	u, err := urn.Draft1995.Parse(n.Key())
	return err == nil && strings.HasPrefix(u.ElementID(), urn.ReservedPrefix)
}

// authorityID returns the host that a name of 1995 has in it.
func authorityID(n name.Name) (string, bool) {
	if n.NID() != "dns" {
		return "", false
	}
	host, _, ok := strings.Cut(strings.TrimPrefix(n.Key(), "urn:dns:"), ":")
	return host, ok && host != ""
}

// adopt returns the answer of a stranger as it can be passed on, and says whose it
// is: without what no location of ours may be.
func adopt(a *nomen.Answer, n name.Name) *nomen.Answer {
	own := *a
	store.Clean(&own)
	if own.Name.IsZero() {
		own.Name = n
	}
	own.Why = append([]string{whose(n)}, a.Why...)
	return &own
}
