package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/search"
	"github.com/nomen-project/nomen/store"
)

// searchDir is the subdirectory of the data directory for the search index. If the store is in
// another directory, searchSuffix is appended to the path of the store instead.
const (
	searchDir    = "search"
	searchSuffix = ".search"
)

func (c *cli) searchPath() (string, error) {
	if c.store == "" || c.inDatabase() {
		return filepath.Join(c.data, searchDir), nil
	}
	dir, err := c.storePath()
	return filepath.Clean(dir) + searchSuffix, err
}

// startSearch opens the search index of a server, and updates the index in the background until end
// is called. The index is nil if it is turned off or cannot be opened. A server can run without a
// search index.
func (c *cli) startSearch(ctx context.Context, f *serveFlags, s store.Store, log *slog.Logger) (_ *search.Index, end func()) {
	source, ok := s.(search.Source)
	if !f.search || f.readOnly || !ok {
		return nil, func() {}
	}
	dir, err := c.searchPath()
	var x *search.Index
	if err == nil {
		x, err = search.Open(search.Options{Dir: dir, Store: source, Pacer: c.pacer, Log: log})
	}
	if err != nil {
		log.Error("the search index cannot be opened: names cannot be found by words until the server is restarted", "err", err)
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() { x.Run(ctx) })
	return x, func() {
		cancel()
		following.Wait()
		if err := x.Close(); err != nil {
			log.Warn("the search index was not closed properly", "err", err)
		}
	}
}

// openSearch opens the search index for a command that does not use a server.
func (c *cli) openSearch(s store.Store) (*search.Index, error) {
	source, ok := s.(search.Source)
	if !ok {
		return nil, store.ErrNoIndex
	}
	dir, err := c.searchPath()
	if err != nil {
		return nil, err
	}
	return search.Open(search.Options{Dir: dir, Store: source, Log: c.logger()})
}

func (l *local) SearchNames(ctx context.Context, s adminapi.Search) (found adminapi.Found, err error) {
	if l.search == nil {
		return found, adminapi.SearchError(store.ErrNoIndex)
	}
	x, err := l.search(l.store)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := x.CatchUp(ctx); err != nil {
		return found, err
	}
	page, err := x.Search(ctx, store.Query{Text: s.Text, Spans: []string{s.Prefix}, Status: s.Statuses, After: s.After, Limit: s.Limit})
	return adminapi.Found{Names: page.Records, Next: page.Next, Index: adminapi.NewIndex(x.Status(), true)}, adminapi.SearchError(err)
}
