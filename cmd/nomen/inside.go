package main

import (
	"context"
	"path/filepath"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/store"
)

// withAPI calls f with an admin API for a store that this process has open. A command without a
// server can thus give the same answers as a server. The function set can change the options of the
// API. It may be nil.
func withAPI[T any](ctx context.Context, l *local, set func(*admin.Options), f func(*admin.API) (T, error)) (out T, err error) {
	o := admin.Options{
		Store: l.store, Registrar: l.registrar, Resolver: resolve.New(l.store, resolve.Options{Now: clock}), Version: versionText(), Now: clock,
	}
	if l.missed != nil {
		if o.Misses, err = l.missed(); err != nil {
			return out, err
		}
	}
	if set != nil {
		set(&o)
	}
	api, err := admin.New(o)
	if err != nil {
		return out, err
	}
	defer api.Shutdown(ctx)
	return f(api)
}

func (c *cli) leftMisses() (*misses.Counter, error) {
	list, totals, err := misses.Load(filepath.Join(c.data, missesFile))
	if err != nil {
		return nil, err
	}
	return misses.Of(list, totals)
}

func (l *local) CheckAuthority(ctx context.Context, a *store.Authority) (adminapi.AuthorityCheck, error) {
	return withAPI(ctx, l, nil, func(api *admin.API) (adminapi.AuthorityCheck, error) {
		return api.CheckAuthority(ctx, registrar.Operator(), a)
	})
}

func (l *local) Statistics(ctx context.Context, _ bool) (adminapi.Statistics, error) {
	out, err := withAPI(ctx, l, nil, func(api *admin.API) (*adminapi.Statistics, error) { return api.CountNames(ctx, registrar.Operator()) })
	if err != nil {
		return adminapi.Statistics{}, err
	}
	return *out, nil
}

func (l *local) Activity(ctx context.Context, month string) (adminapi.Activity, error) {
	out, err := withAPI(ctx, l, nil, func(api *admin.API) (*adminapi.Activity, error) {
		return api.CountChanges(ctx, registrar.Operator(), month)
	})
	if err != nil {
		return adminapi.Activity{}, err
	}
	return *out, nil
}
