package admin

import (
	"context"
	"errors"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// bearer returns the actor for the secret text of a token. Neither the error nor the response time
// discloses whether the ID or the secret is wrong.
func (s *API) bearer(ctx context.Context, spelling string) (registrar.Actor, error) {
	tokens, ok := s.store.(store.Tokens)
	if !ok {
		return registrar.Actor{}, adminapi.ErrUnauthorized
	}
	id, secret, ok := adminapi.SplitToken(spelling)
	if !ok {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	if s.nodeToken != nil && id == s.nodeToken.ID { // accepted even while the store is unavailable
		if !adminapi.Matches(s.nodeToken, secret) {
			return registrar.Actor{}, adminapi.ErrUnknownToken
		}
		return registrar.Bearer(s.nodeToken)
	}
	t, err := tokens.Token(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		t, err = &store.Token{Revoked: true}, nil
	}
	if err != nil {
		return registrar.Actor{}, err
	}
	switch now := s.now(); {
	case !adminapi.Matches(t, secret), t.Revoked:
		return registrar.Actor{}, adminapi.ErrUnknownToken
	case t.Expired(now):
		return registrar.Actor{}, adminapi.ErrExpiredToken
	default:
		s.uses.note(t, now)
	}
	return registrar.Bearer(t)
}

// Bearer returns the actor of the token with the given spelling. If the token is not valid, the
// error wraps [adminapi.ErrUnauthorized]. Each call counts towards the rate limit of the token. If
// the limit is exceeded, the error is an [*adminapi.RateError].
func (s *API) Bearer(ctx context.Context, spelling string) (registrar.Actor, error) {
	a, err := s.bearer(ctx, spelling)
	if err != nil {
		return a, err
	}
	id, _, _ := adminapi.SplitToken(spelling)
	return a, s.spend(a, id)
}

// Account returns the actor of a token with a given ID. If the ID is "", it returns the actor of
// the given user instead. The caller must have authenticated the client. If the token or the user
// does not exist or is no longer valid, the error wraps [adminapi.ErrUnauthorized]. The rate limit
// applies as in Bearer.
func (s *API) Account(ctx context.Context, token, user string) (registrar.Actor, error) {
	id := token
	if token == "" {
		id = insidePrefix + user
	}
	a, err := s.stored(ctx, id)
	switch {
	case errors.Is(err, errNotStored), errors.Is(err, errJobDisabled):
		return registrar.Actor{}, adminapi.ErrUnknownToken
	case err != nil:
		return registrar.Actor{}, err
	}
	return a, s.spend(a, id)
}

// spend returns an error if the token or user with this ID has made too many requests. The limit
// does not apply to administrators of all names.
func (s *API) spend(a registrar.Actor, id string) error {
	if a.MayAll(registrar.Administrator) {
		return nil
	}
	if wait := s.rates.Spend(id, s.now()); wait > 0 {
		return &adminapi.RateError{After: wait}
	}
	return nil
}
