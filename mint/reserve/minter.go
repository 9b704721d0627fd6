package reserve

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Minter is a [Backend] that accesses a store directly, with the rights of an actor.
type Minter struct {
	actor     registrar.Actor
	registrar *registrar.Registrar
	store     store.Reader
	table     *store.Table
}

var _ Backend = (*Minter)(nil)

// NewMinter returns a Minter for an actor. The table must have the authorities of the store.
func NewMinter(actor registrar.Actor, r *registrar.Registrar, s store.Reader, table *store.Table) *Minter {
	return &Minter{actor, r, s, table}
}

// Authorities implements [Backend].
func (m *Minter) Authorities(ctx context.Context) ([]*store.Authority, error) {
	set, err := m.table.Set(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	return set.All(), nil
}

// GetAt implements [Backend].
func (m *Minter) GetAt(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	return m.registrar.GetAt(ctx, n, at)
}

// Put implements [Backend].
func (m *Minter) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	return m.registrar.Put(ctx, m.actor, req, why)
}

// Keys implements [Backend].
func (m *Minter) Keys(ctx context.Context, prefix string) iter.Seq2[name.Name, error] {
	return KeysOf(m.store.List(ctx, store.Scan{Prefix: prefix}))
}

// Known implements [Backend].
func (m *Minter) Known(ctx context.Context, n name.Name) (bool, error) {
	return KnownIn(ctx, m.store, n)
}

// TemplateOf returns the authority's template that begins with the given literal text, or "".
func TemplateOf(a *store.Authority, begin string) string {
	for _, text := range a.Mint {
		t, err := mint.Parse(a.Prefix, text)
		if err == nil && (t.Shoulder() == begin || a.FoldCase && ascii.EqualFold(t.Shoulder(), begin)) {
			return text
		}
	}
	return ""
}

// CannotMint reports whether an error of [Names] is about the template, for example because all its
// names are taken.
func CannotMint(err error) bool {
	return errors.Is(err, ErrCrowded) || errors.As(err, new(*mint.Error)) || errors.As(err, new(*mint.RefusedError)) ||
		errors.As(err, new(*mint.ExhaustedError)) || errors.As(err, new(*mint.RunError))
}
