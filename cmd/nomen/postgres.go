package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/pgstore"
)

// A servingStore is a store that a server can use.
type servingStore interface {
	store.Store
	store.Tokens
}

// inDatabase reports whether the store is in a database, as opposed to a directory. Several
// commands and servers can use a database at the same time.
func (c *cli) inDatabase() bool {
	return strings.HasPrefix(c.store, "postgres://") || strings.HasPrefix(c.store, "postgresql://")
}

func (c *cli) withDatabase(ctx context.Context, how access, f func(backend) error) error {
	s, err := c.openDatabase(ctx, pgstore.Options{URL: c.store, Now: clock, Log: c.logger(), ReadOnly: how == reads}, how)
	if err != nil {
		return err
	}
	return errors.Join(f(&local{s, c.newRegistrar(s, c.logger(), nil), c.openSearch, c.leftMisses, c.leftCounts}), s.Close())
}

// openDatabase opens the store in a database. If the store does not exist and the access is
// creates, openDatabase creates it.
func (c *cli) openDatabase(ctx context.Context, o pgstore.Options, how access) (*pgstore.Store, error) {
	o.MustExist = true
	s, err := pgstore.Open(ctx, o)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return s, err
	case how != creates:
		return nil, &noStoreError{at: "the database"}
	}
	o.MustExist = false
	if s, err = pgstore.Open(ctx, o); err == nil {
		c.made("the database")
	}
	return s, err
}

// nodeCache is the default size of the cache in front of a database, in bytes.
const nodeCache = 64 << 20

// openNode opens the store in a database for a server, with a cache in front of the database. It
// succeeds even if the database is temporarily unavailable (see [pgstore.Options]).
func (c *cli) openNode(ctx context.Context, f *serveFlags, log *slog.Logger) (servingStore, error) {
	s, err := c.openDatabase(ctx, pgstore.Options{URL: c.store, Log: log, Node: true, ReadOnly: f.readOnly}, creates.unless(f.readOnly))
	if err != nil {
		return nil, err
	}
	node, err := cachestore.New(ctx, s, cachestore.Options{Bytes: c.cacheSize, StaleIfError: f.staleIfError, Log: log})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return node, nil
}
