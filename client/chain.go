package client

import (
	"context"
	"errors"

	"github.com/nomen-project/nomen"
)

// A Chain asks several resolvers one after the other until one knows. It is safe
// for concurrent use if they are.
type Chain struct {
	resolvers []nomen.Resolver
	next      func(error) bool
}

var _ nomen.Resolver = (*Chain)(nil)

// NewChain returns a chain of resolvers, the first one to be asked first. The rule
// says after which errors the next one is asked; nil for [OnUnknown].
func NewChain(rule func(error) bool, resolvers ...nomen.Resolver) *Chain {
	if rule == nil {
		rule = OnUnknown
	}
	return &Chain{resolvers, rule}
}

// OnUnknown is the rule that the next resolver is asked when one does not know the
// name, or fails. What else it says about the name has to be believed.
func OnUnknown(err error) bool {
	var e *nomen.Error
	return !errors.As(err, &e) || e.Kind == nomen.Unknown
}

// OnFailure is the rule that the next resolver is asked only when one fails.
func OnFailure(err error) bool {
	var e *nomen.Error
	return !errors.As(err, &e)
}

// Resolve implements [nomen.Resolver].
func (c *Chain) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	a, _, err := c.ResolveIf(ctx, q, Validators{})
	return a, err
}

// ResolveIf is like [Client.ResolveIf]: the validators go to each of the resolvers,
// and only the one that gave them knows them.
//
// If nobody knows, the error is that of the first resolver that did not know the
// name; but if some failed, theirs, for they might have known.
func (c *Chain) ResolveIf(ctx context.Context, q nomen.Question, have Validators) (*nomen.Answer, Validators, error) {
	if err := ctx.Err(); err != nil {
		return nil, Validators{}, err
	}
	var unknown error
	var failed []error
	for _, r := range c.resolvers {
		a, v, err := resolveIf(ctx, r, q, have)
		switch {
		case err == nil, errors.Is(err, ErrUnchanged):
			return a, v, err
		case ctx.Err() != nil:
			return nil, Validators{}, ctx.Err()
		case !c.next(err):
			return nil, Validators{}, err
		case OnFailure(err):
			failed = append(failed, err)
		case unknown == nil:
			unknown = err
		}
	}
	switch {
	case len(failed) == 1:
		return nil, Validators{}, failed[0]
	case failed != nil:
		return nil, Validators{}, errors.Join(failed...)
	case unknown == nil:
		return nil, Validators{}, errors.New("client: a chain without resolvers")
	}
	return nil, Validators{}, unknown
}

// resolveIf asks a resolver, conditionally if it knows how.
func resolveIf(ctx context.Context, r nomen.Resolver, q nomen.Question, have Validators) (*nomen.Answer, Validators, error) {
	if s, ok := r.(interface {
		ResolveIf(ctx context.Context, q nomen.Question, have Validators) (*nomen.Answer, Validators, error)
	}); ok {
		return s.ResolveIf(ctx, q, have)
	}
	a, err := r.Resolve(ctx, q)
	return a, Validators{}, err
}
