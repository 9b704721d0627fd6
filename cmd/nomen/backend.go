package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A backend is where store commands do their work: in the store itself, or
// through the server that has it open.
type backend interface {
	Get(ctx context.Context, n name.Name) (*store.Record, error)
	Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error)
	Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error)
	Authority(ctx context.Context, p name.Prefix) (*store.Authority, error)
	Authorities(ctx context.Context) ([]*store.Authority, error)
	PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error)
	Import(ctx context.Context, r io.Reader, o bulk.ImportOptions) (bulk.Summary, error)
	Export(ctx context.Context, w io.Writer, o bulk.ExportOptions) (bulk.Summary, error)
}

// local works on an open store.
type local struct {
	store     store.Store
	registrar *registrar.Registrar
}

func (l *local) Get(ctx context.Context, n name.Name) (*store.Record, error) {
	return l.registrar.Get(ctx, n)
}

func (l *local) Put(ctx context.Context, req registrar.Request, why string) (registrar.Outcome, error) {
	return l.registrar.Put(ctx, registrar.Operator(), req, why)
}

func (l *local) Retire(ctx context.Context, n name.Name, r registrar.Retirement, why string) (registrar.Outcome, error) {
	return l.registrar.Retire(ctx, registrar.Operator(), n, r, why)
}

func (l *local) Authority(ctx context.Context, p name.Prefix) (*store.Authority, error) {
	return l.store.Authority(ctx, p, time.Time{})
}

func (l *local) Authorities(ctx context.Context) ([]*store.Authority, error) {
	var all []*store.Authority
	for a, err := range l.store.Authorities(ctx, time.Time{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func (l *local) PutAuthority(ctx context.Context, a *store.Authority, expected uint64, why string) (registrar.Outcome, error) {
	return l.registrar.PutAuthority(ctx, registrar.Operator(), a, expected, why)
}

func (l *local) Import(ctx context.Context, r io.Reader, o bulk.ImportOptions) (bulk.Summary, error) {
	return bulk.Import(ctx, l.registrar, registrar.Operator(), r, o)
}

func (l *local) Export(ctx context.Context, w io.Writer, o bulk.ExportOptions) (bulk.Summary, error) {
	return bulk.Export(ctx, l.store, w, o)
}

// current returns the authority of a prefix and its revision, or an empty one
// and 0.
func current(ctx context.Context, b backend, p name.Prefix) (*store.Authority, uint64, error) {
	a, err := b.Authority(ctx, p)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &store.Authority{Prefix: p}, 0, nil
	case err != nil:
		return nil, 0, err
	}
	return a, a.Revision, nil
}
