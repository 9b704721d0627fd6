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

// A servingStore is an open store of any kind, as a server needs it.
type servingStore interface {
	store.Store
	store.Tokens
}

// inDatabase reports whether the store is in a database, which several commands and servers can use
// at the same time, and not in a directory.
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

// openDatabase opens the store in a database. If the access is creates, it also creates a missing
// store.
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

// nodeCache is the default size in bytes of the cache in front of a database.
const nodeCache = 64 << 20

// openNode opens the store in a database for a server, with a cache in front of it. The database
// may be unavailable at that time; see [pgstore.Options].
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
