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

const (
	storeDir  = "store"
	tokenFile = "admin.token" // the administrator's token, mode 0600
	urlFile   = "admin.url"   // the URL of the running server's admin listener
	jobsDir   = "jobs"        // the server's jobs: their logs and request bodies

	downloadsDir = "downloads" // batch downloads of EZID's clients
)

func (c *cli) storePath() (string, error) {
	if c.store == "" {
		return filepath.Join(c.data, storeDir), nil
	}
	dir, ok := strings.CutPrefix(c.store, "pebble:")
	if !ok || dir == "" {
		return "", usagef("--store %q: must be pebble:DIR, or postgres://HOST/DATABASE for commands that work on a database", hideSecrets(c.store))
	}
	return dir, nil
}

// An access says what a command does with the store.
type access uint8

const (
	reads   access = iota // the store must exist
	changes               // the store must exist: a missing one means a wrong --data or --store
	creates               // the store is created if it does not exist, with a message
)

// unless returns reads if readOnly is set, as in a dry run, and otherwise a.
func (a access) unless(readOnly bool) access {
	if readOnly {
		return reads
	}
	return a
}

type noStoreError struct{ at, hint string }

func (e *noStoreError) Error() string {
	return e.at + ": no store found; check --data and --store, or create a store with 'nomen serve', 'put', 'import' or 'mint'" + e.hint
}

func (e *noStoreError) Unwrap() error { return fs.ErrNotExist }

// made reports that a store was created, because a user who mistyped --data has a store already.
func (c *cli) made(at string) { fmt.Fprintln(c.err, "nomen: "+printable(at)+": created a new store") }

// withStore calls f with the store, or with the server that has it open. The error is a
// [*noStoreError] if the store does not exist and the command does not create it.
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
			return fmt.Errorf("%s: cannot reach the server of this data directory, and the directory itself has no store: %w; if that server no longer exists, remove the file", filepath.Join(c.data, urlFile), err)
		}
	}
	s, remote, err := c.whenFree(ctx, func() (*pebblestore.Store, error) { return c.openStore(dir, how) })
	switch {
	case err != nil:
		return err
	case remote != nil:
		return f(c.through(remote))
	}
	if remote, _ := c.elsewhere(ctx); remote != nil { // a server that cannot be reached was killed, so it no longer has the store open
		return errors.Join(s.Close(), usagef("%s: the server of this data directory, at %s, does not have this store open; pass the server's --store, or restart the server if the store was replaced while it ran, or remove %s if this is a copy of the server's directory",
			dir, remote.URL, filepath.Join(c.data, urlFile)))
	}
	defer c.keepOwner()
	return errors.Join(f(&local{s, c.newRegistrar(s, c.logger(), nil), c.openSearch, c.leftMisses, c.leftCounts}), s.Close())
}

// keepOwner makes the owner of the data directory the owner of the files in it that root has made.
// Otherwise the server, which runs as the owner, could not use them.
func (c *cli) keepOwner() {
	dirs := []string{c.data}
	if c.store != "" && !c.inDatabase() {
		dir, err := c.storePath()
		if err != nil {
			return
		}
		dirs = append(dirs, dir, dir+searchSuffix)
	}
	for _, dir := range dirs {
		if err := durable.KeepOwner(dir, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(c.err, "nomen: warning: %s: the files of this command still belong to root: %s\n", printable(dir), words(err))
		}
	}
}

// through returns a server as a backend. With --clock-ok it prints a warning, because only the
// process with the store can apply that option.
func (c *cli) through(remote *adminapi.Client) backend {
	if c.clockOK {
		fmt.Fprintln(c.err, "nomen: warning: --clock-ok has no effect while a server is running; start the server with --clock-ok instead")
	}
	return remote
}

// elsewhere returns a client of the server whose URL is in the data directory. That server serves a
// database, or runs on another machine: call elsewhere only if no server on this machine has the
// store in the data directory open. The result is nil if the directory has no URL, or if --store is
// set.
func (c *cli) elsewhere(ctx context.Context) (*adminapi.Client, error) {
	if _, err := os.Stat(filepath.Join(c.data, urlFile)); c.store != "" || err != nil {
		return nil, nil
	}
	return c.server(ctx)
}

// If a store is locked, another command has it open, or a server is starting or stopping. Neither
// takes long, so the command tries again.
const (
	patience = 5 * time.Second        // total time
	pause    = 20 * time.Millisecond  // between attempts
	sayAfter = 200 * time.Millisecond // before the wait is reported
)

// whenFree opens a store as soon as no other process has it open. If a server has it open, the
// result is a client of that server instead.
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
			return nil, nil, fmt.Errorf("%w, and its server cannot be reached: %w", err, rerr)
		}
		if !said && clock().After(last.Add(sayAfter-patience)) {
			fmt.Fprintf(c.err, "nomen: %s; waiting up to %v\n", words(err), patience)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// openOrEnd opens a store, unless ctx ends first. A store that opens after that is not closed. This
// does no damage, because the process is about to end.
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

// openStore opens the store in dir. If the access is creates, it also creates a missing store.
func (c *cli) openStore(dir string, how access) (*pebblestore.Store, error) {
	missing := errors.Is(storeThere(dir), fs.ErrNotExist)
	if missing && how != creates {
		return nil, &noStoreError{dir, c.defaultHint()}
	}
	if missing {
		if err := c.checkNew(systemData); err != nil {
			return nil, err
		}
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

// fatal ends the program when the engine of a store cannot continue. Acknowledged changes are on
// disk by then.
func (c *cli) fatal(err error) {
	fmt.Fprintln(c.failures(c.err), "nomen: "+words(err)+"; acknowledged changes are safe on disk")
	os.Exit(exitFailure)
}

// rekeyedSuffix ends the name of the directory in which rekey writes the new store. If rekey is
// killed before the new store replaces the old one, the next command that opens the store completes
// the replacement.
const rekeyedSuffix = ".rekeyed"

// storeThere returns fs.ErrNotExist if dir has no store, and no new store of rekey waits to be
// moved there.
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

func (c *cli) makeData() error { return os.MkdirAll(c.data, durable.PrivateDir) }

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

// ensureToken creates the token of the administrator in a file of the data directory, unless the
// file already has a valid token of the store.
func (c *cli) ensureToken(ctx context.Context, s store.Tokens, reg *registrar.Registrar) error {
	file := filepath.Join(c.data, tokenFile)
	if text, err := os.ReadFile(file); err == nil && tokenKnown(ctx, s, strings.TrimSpace(string(text))) {
		return c.tightenToken(file)
	}
	spelling, token := adminapi.NewToken(adminapi.AdministratorGrant(), clock())
	if err := reg.PutOwnToken(ctx, token); err != nil {
		return err
	}
	return durable.WriteFile(file, spelling+"\n")
}

// tightenToken makes the file of the token readable only by its owner again, after a copy or an
// editor has made it readable by others.
func (c *cli) tightenToken(file string) error {
	was, err := durable.Tighten(file)
	switch {
	case err != nil:
		fmt.Fprintf(c.err, "nomen: warning: %s: %s\n", file, words(err))
	case was != 0:
		fmt.Fprintf(c.err, "nomen: warning: %s: other users could read the administrator's token (mode %04o); now only its owner can. If it may have leaked, revoke it: 'nomen token list' shows its ID, 'nomen token revoke ID' revokes it\n", file, was)
	}
	return nil
}

func tokenKnown(ctx context.Context, s store.Tokens, text string) bool {
	id, secret, _ := adminapi.SplitToken(text)
	t, err := s.Token(ctx, id)
	return err == nil && !t.Revoked && !t.Expired(clock()) && adminapi.Matches(t, secret)
}
