package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/pgstore"
)

// A keeper is an open store of any engine.
type keeper interface {
	store.Store
	store.Tokens
}

// inDatabase reports whether --store names a database, which many commands and
// servers can use at once, and not a directory.
func (c *cli) inDatabase() bool {
	return strings.HasPrefix(c.store, "postgres://") || strings.HasPrefix(c.store, "postgresql://")
}

// withDatabase calls f with the store in a database. For a command that only
// reads, the store must exist.
func (c *cli) withDatabase(ctx context.Context, write bool, f func(backend) error) error {
	s, err := pgstore.Open(ctx, pgstore.Options{URL: c.store, Log: c.logger(), ReadOnly: !write})
	if err != nil {
		return err
	}
	return errors.Join(f(&local{s, registrar.New(s, registrar.Options{Now: clock, Log: c.logger()})}), s.Close())
}

// openNode opens the store in a database for a server, with a cache of so many
// MiB in front, 0 for the default.
func (c *cli) openNode(ctx context.Context, cache int, log *slog.Logger) (keeper, error) {
	s, err := pgstore.Open(ctx, pgstore.Options{URL: c.store, Log: log})
	if err != nil {
		return nil, err
	}
	node, err := cachestore.New(ctx, s, cachestore.Options{Bytes: int64(cache) << 20, Log: log})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return node, nil
}
