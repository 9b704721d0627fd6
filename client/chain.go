package client

import (
	"context"
	"errors"

	"github.com/nomen-project/nomen"
)

// A Chain asks several resolvers, one after the other, until one of them knows the name. It is safe
// for concurrent use if its resolvers are.
type Chain struct {
	resolvers []nomen.Resolver
	next      func(error) bool
}

var _ nomen.Resolver = (*Chain)(nil)

// NewChain returns a Chain that asks the resolvers in order. If a resolver returns an error for
// which next returns true, the Chain asks the next resolver. If next is nil, [OnUnknown] is used.
func NewChain(next func(error) bool, resolvers ...nomen.Resolver) *Chain {
	if next == nil {
		next = OnUnknown
	}
	return &Chain{resolvers, next}
}

// OnUnknown is an argument of [NewChain]. It returns true if a resolver failed or does not know the
// name. Any other error about the name is final.
func OnUnknown(err error) bool {
	var e *nomen.Error
	return !errors.As(err, &e) || e.Kind == nomen.Unknown
}

// OnFailure is an argument of [NewChain]. It returns true only if a resolver failed.
func OnFailure(err error) bool { return !errors.As(err, new(*nomen.Error)) }

// Resolve implements [nomen.Resolver].
func (c *Chain) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	a, _, err := c.ResolveIf(ctx, q, Validators{})
	return a, err
}

// ResolveIf is like [Client.ResolveIf]. It sends the validators to every resolver, but only the
// resolver that issued them recognises them.
//
// If no resolver knows the name, the error is that of the first resolver. If some resolvers failed,
// ResolveIf returns their errors joined instead, because these resolvers may know the name.
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
		return nil, Validators{}, errors.New("client: the chain has no resolvers")
	}
	return nil, Validators{}, unknown
}

func resolveIf(ctx context.Context, r nomen.Resolver, q nomen.Question, have Validators) (*nomen.Answer, Validators, error) {
	if s, ok := r.(interface {
		ResolveIf(ctx context.Context, q nomen.Question, have Validators) (*nomen.Answer, Validators, error)
	}); ok {
		return s.ResolveIf(ctx, q, have)
	}
	a, err := r.Resolve(ctx, q)
	return a, Validators{}, err
}
