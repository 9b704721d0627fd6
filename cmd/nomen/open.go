package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// The files of a data directory beside the store.
const (
	storeDir  = "store"
	tokenFile = "admin.token" // the administrator's token, mode 0600
	urlFile   = "admin.url"   // of the running server's admin listener
	jobsDir   = "jobs"        // of the server: what its jobs did, and bodies that they read
)

// storePath returns the directory of the store that --store and --data name.
func (c *cli) storePath() (string, error) {
	if c.store == "" {
		return filepath.Join(c.data, storeDir), nil
	}
	dir, ok := strings.CutPrefix(c.store, "pebble:")
	if !ok || dir == "" {
		return "", usagef("--store %q: want pebble:DIR, or postgres://... where a database will do", c.store)
	}
	return dir, nil
}

// An access is what a command does with the store.
type access uint8

// The kinds of access.
const (
	reads   access = iota // the store must exist
	changes               // it must exist too: who changes what is there is wrong about the place
	creates               // it is made if it does not exist, and that is said
)

// A noStoreError says that a command needs a store that does not exist.
type noStoreError struct{ at string }

func (e *noStoreError) Error() string {
	return e.at + ": no store is there yet; 'nomen serve', 'put', 'import' or 'mint' makes one: " + fs.ErrNotExist.Error()
}

func (e *noStoreError) Unwrap() error { return fs.ErrNotExist }

// made says that a store was made, which is not always what was meant.
func (c *cli) made(at string) { fmt.Fprintln(c.err, "nomen: "+printable(at)+": made a new store") }

// withStore calls f with the store, or with the server that has it open. The error
// is a [*noStoreError] if there is none and the access does not make one.
func (c *cli) withStore(ctx context.Context, how access, f func(backend) error) error {
	if c.inDatabase() {
		return c.withDatabase(ctx, how, f)
	}
	dir, err := c.storePath()
	if err != nil {
		return err
	}
	if errors.Is(storeThere(dir), fs.ErrNotExist) {
		remote, err := c.elsewhere(ctx)
		switch {
		case remote != nil:
			return f(c.through(remote))
		case err != nil:
			return fmt.Errorf("%s: the server of this data directory cannot be asked, and keeps its names elsewhere: %w; remove the file if there is no such server any more", filepath.Join(c.data, urlFile), err)
		}
	}
	s, remote, err := c.whenFree(ctx, func() (*pebblestore.Store, error) { return c.openStore(dir, how) })
	switch {
	case err != nil:
		return err
	case remote != nil:
		return f(c.through(remote))
	}
	if remote, _ := c.elsewhere(ctx); remote != nil { // one that cannot be asked was killed, and the store is free
		return errors.Join(s.Close(), usagef("%s: the server of this data directory, at %s, does not have this store open: give its --store too, restart the server if the store was replaced while it ran, or remove %s if this is a copy of its directory",
			dir, remote.URL, filepath.Join(c.data, urlFile)))
	}
	return errors.Join(f(&local{s, c.newRegistrar(s, c.logger(), nil)}), s.Close())
}

// through returns the server by which a command works, and says which options are
// those of the server.
func (c *cli) through(remote *adminapi.Client) backend {
	if c.clockOK {
		fmt.Fprintln(c.err, "nomen: warning: --clock-ok has no effect while a server is running: give it to the server")
	}
	return remote
}

// elsewhere returns a client of a server that runs on the data directory without
// having its store open: one of a database, or on another machine. It is nil where
// the directory names no server, and to who names the store.
func (c *cli) elsewhere(ctx context.Context) (*adminapi.Client, error) {
	if _, err := os.Stat(filepath.Join(c.data, urlFile)); c.store != "" || err != nil {
		return nil, nil
	}
	return c.server(ctx)
}

// How long a store that is locked is tried again, and how often. Without a
// server that answers, another command has it, or a server that is just
// starting or ending: neither takes long.
const (
	patience = 5 * time.Second
	pause    = 20 * time.Millisecond
	sayAfter = 200 * time.Millisecond // commands wait for each other that long without a word
)

// whenFree opens a store that nobody else has open, or returns a client of the
// server that has.
func (c *cli) whenFree(ctx context.Context, open func() (*pebblestore.Store, error)) (*pebblestore.Store, *adminapi.Client, error) {
	for last, said := clock().Add(patience), false; ; {
		s, err := c.openOrEnd(ctx, open)
		if !errors.Is(err, pebblestore.ErrLocked) {
			return s, nil, err
		}
		remote, rerr := c.server(ctx)
		if rerr == nil {
			return nil, remote, nil
		}
		if clock().After(last) {
			return nil, nil, fmt.Errorf("%w, and a server of it cannot be reached: %w", err, rerr)
		}
		if !said && clock().After(last.Add(sayAfter-patience)) {
			fmt.Fprintf(c.err, "nomen: %s; waiting for it, at most %v\n", words(err), patience)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// openOrEnd opens a store, unless ctx ends before. What is opened then is left as it is:
// the process ends, and a store is made for that.
func (c *cli) openOrEnd(ctx context.Context, open func() (*pebblestore.Store, error)) (*pebblestore.Store, error) {
	type result struct {
		s   *pebblestore.Store
		err error
	}
	opened := make(chan result, 1)
	go func() {
		s, err := open()
		opened <- result{s, err}
	}()
	select {
	case r := <-opened:
		return r.s, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// openStore opens the store in dir, and makes it if that is what the command is for.
func (c *cli) openStore(dir string, how access) (*pebblestore.Store, error) {
	missing := errors.Is(storeThere(dir), fs.ErrNotExist)
	if missing && how != creates {
		return nil, &noStoreError{dir}
	}
	if missing {
		if err := c.makeData(); err != nil {
			return nil, err
		}
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, CacheSize: c.cacheSize, Log: c.logger(), Fatal: c.fatal, Keep: how == reads, Now: clock, Program: versionText()})
	if err != nil {
		return nil, err
	}
	if missing {
		c.made(dir)
	}
	if cause := s.Condition().Cause; cause != "" && how == reads {
		fmt.Fprintf(c.err, "nomen: %s: opened read-only: %s\n", printable(dir), cause)
	}
	return s, nil
}

// fatal ends the program when the engine of a store cannot go on. What was
// acknowledged is on disk.
func (c *cli) fatal(err error) {
	fmt.Fprintln(c.err, "nomen: "+words(err)+"; what was acknowledged is on disk")
	os.Exit(exitFailure)
}

// rekeyedSuffix ends the name of a store that rekey has made and that a crash has
// kept from taking the place of the old one: who opens that ends it.
const rekeyedSuffix = ".rekeyed"

// storeThere returns fs.ErrNotExist if there is no store in dir, nor one that only
// has to take its place.
func storeThere(dir string) error {
	err := pebblestore.Exists(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, rekeyed := os.Stat(filepath.Clean(dir) + rekeyedSuffix); rekeyed == nil {
		return nil
	}
	return err
}

// makeData makes the data directory, for its owner alone: it has names that are not
// public yet. One that exists stays as it is, since it may have other files too; the
// store in it is private by itself.
func (c *cli) makeData() error { return os.MkdirAll(c.data, durable.PrivateDir) }

// server returns a client of the server that runs on the data directory.
func (c *cli) server(ctx context.Context) (*adminapi.Client, error) {
	url, err := os.ReadFile(filepath.Join(c.data, urlFile))
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(c.data, tokenFile))
	if err != nil {
		return nil, err
	}
	api := &adminapi.Client{URL: strings.TrimSpace(string(url)), Token: strings.TrimSpace(string(token)), HTTP: adminapi.Direct()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := api.Version(ctx); err != nil {
		return nil, err
	}
	return api, nil
}

// firstStart is why the history has the administrator's token.
const firstStart = "first start"

// ensureToken makes the administrator's token of a data directory, unless there
// is one that the store knows.
func (c *cli) ensureToken(ctx context.Context, s store.Tokens, reg *registrar.Registrar) error {
	file := filepath.Join(c.data, tokenFile)
	if text, err := os.ReadFile(file); err == nil && tokenKnown(ctx, s, strings.TrimSpace(string(text))) {
		return c.tightenToken(file)
	}
	spelling, token := adminapi.NewToken(adminapi.AdministratorGrant(), clock())
	if err := reg.PutToken(ctx, registrar.Operator(), token, firstStart); err != nil {
		return err
	}
	return durable.WriteFile(file, spelling+"\n")
}

// tightenToken takes a token from other users whom a copy or an editor has let in.
func (c *cli) tightenToken(file string) error {
	was, err := durable.Tighten(file)
	switch {
	case err != nil:
		fmt.Fprintf(c.err, "nomen: warning: %s: %v\n", file, err)
	case was != 0:
		fmt.Fprintf(c.err, "nomen: warning: %s: other users could read the administrator's token (mode %04o), now only its owner can; 'nomen token list' shows its ID, and 'nomen token revoke' ends it\n", file, was)
	}
	return nil
}

func tokenKnown(ctx context.Context, s store.Tokens, text string) bool {
	id, secret, _ := adminapi.SplitToken(text)
	t, err := s.Token(ctx, id)
	return err == nil && !t.Revoked && !t.Expired(clock()) && adminapi.Matches(t, secret)
}
