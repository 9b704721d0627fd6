package admin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// mint makes and reserves names, and reports each name as soon as it is stored. It rejects an
// invalid request before it reserves a name.
func (s *API) mint(c *call) error {
	body := adminapi.Minting{Count: 1}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	p, err := reserve.ReadPrefix(body.Prefix)
	if err != nil {
		return err
	}
	if body.Count < 1 || body.Count > mint.MaxRun {
		return &adminapi.RequestError{Field: "count", Message: fmt.Sprintf("must be between 1 and %d", mint.MaxRun)}
	}
	next, stop := iter.Pull2(reserve.Names(c.r.Context(), actorStore{s, c.actor}, reserve.Options{
		Prefix: p, Template: body.Template, Shoulder: body.Shoulder, Count: body.Count, DryRun: body.DryRun, Why: body.Why, Now: s.now,
	}))
	defer stop()
	n, err, more := next()
	if err != nil {
		return mintError(body.Template, err)
	}
	return s.report(c, func(ctx context.Context, tell func(adminapi.Report)) (adminapi.Report, error) {
		for ; more && err == nil && ctx.Err() == nil; n, err, more = next() {
			tell(adminapi.Report{Minted: n.Key()})
		}
		return adminapi.Report{}, mintError(body.Template, err)
	})
}

// mintError returns the error for a template that cannot make a name.
func mintError(template string, err error) error {
	refuse := func(offset int, rule, message string) error {
		return &registrar.RefusalError{Name: template, Field: "template", Offset: offset, Rule: rule, Message: message}
	}
	var bad *mint.Error
	if errors.As(err, &bad) {
		return refuse(bad.Offset, bad.Rule, bad.Message)
	}
	var shoulder *reserve.ShoulderError
	if errors.As(err, &shoulder) {
		return &registrar.RefusalError{Name: shoulder.Prefix, Field: "shoulder", Rule: "mint", Message: shoulder.Error()}
	}
	var refused *mint.RefusedError
	no := errors.As(err, &refused)
	exhausted := errors.As(err, new(*mint.ExhaustedError))
	long := errors.As(err, new(*mint.RunError))
	switch {
	case no && template == "":
		return refuse(0, "names", fmt.Sprintf("the existing names do not determine the next one: a template is required (%s)", refused.Err))
	case no:
		return refuse(0, "names", refused.Error())
	case exhausted, long, errors.Is(err, reserve.ErrCrowded):
		return refuse(0, "exhausted", err.Error())
	}
	return err
}

// An actorStore is a view of the store for an actor. It returns and changes only names for which
// the actor has rights.
type actorStore struct {
	s     *API
	actor registrar.Actor
}

var _ reserve.Backend = actorStore{}

func (m actorStore) Authorities(ctx context.Context) (all []*store.Authority, err error) {
	for a, err := range m.s.store.Authorities(ctx, time.Time{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// GetAt implements [reserve.Backend]. It returns an error if the actor has no rights for the name.
func (m actorStore) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	kept, err := m.s.registrar.Kept(ctx, n, at)
	if err != nil {
		return nil, err
	}
	if !m.actor.Reaches(kept) {
		return nil, m.actor.Denied(registrar.Editor, kept, n.Key())
	}
	return m.s.registrar.GetAt(ctx, kept, at)
}

func (m actorStore) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	return m.s.registrar.Put(ctx, m.actor, req, why)
}

func (m actorStore) Known(ctx context.Context, n name.Name) (bool, error) {
	return reserve.KnownIn(ctx, m.s.store, n)
}

// Keys implements [reserve.Backend]. It yields only names for which the actor has rights. The names
// that are made depend on the names that exist, and would otherwise disclose existing names to the
// actor.
func (m actorStore) Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return reserve.KeysOf(m.s.within(ctx, m.actor, store.Scan{Prefix: prefix}))
}
