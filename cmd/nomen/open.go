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

// An access is the way in which a command uses the store.
type access uint8

const (
	reads   access = iota // the store must exist
	changes               // the store must exist: a missing one means a wrong --data or --store
	creates               // the store is created if it does not exist, with a message
)

// unless returns reads if readOnly is true, and otherwise a.
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

// made prints that a store was created. The message helps users who have mistyped --data to notice
// the mistake.
func (c *cli) made(at string) { fmt.Fprintln(c.err, "nomen: "+printable(at)+": created a new store") }

// withStore calls f with the store, or with the server that has the store open. If the store does
// not exist and the command does not create it, the error is a [*noStoreError].
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

// keepOwner changes the owner of files that root has created in the data directory to the owner of
// the directory. Otherwise the server, which runs as this owner, could not use the files.
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

// through returns a server as a backend. It prints a warning if --clock-ok is set, because this
// option has no effect on a server.
func (c *cli) through(remote *adminapi.Client) backend {
	if c.clockOK {
		fmt.Fprintln(c.err, "nomen: warning: --clock-ok has no effect while a server is running; start the server with --clock-ok instead")
	}
	return remote
}

// elsewhere returns a client of the server whose URL is in the data directory. Call it only if no
// server on this machine has the store in the data directory open. The server then uses a database,
// or runs on another machine. The result is nil if the directory does not contain a URL, or if
// --store is set.
func (c *cli) elsewhere(ctx context.Context) (*adminapi.Client, error) {
	if _, err := os.Stat(filepath.Join(c.data, urlFile)); c.store != "" || err != nil {
		return nil, nil
	}
	return c.server(ctx)
}

// If a store is locked, another command is using the store, or a server is starting or stopping.
// Because this usually takes only a short time, a command retries.
const (
	patience = 5 * time.Second        // total time
	pause    = 20 * time.Millisecond  // between attempts
	sayAfter = 200 * time.Millisecond // before the wait is reported
)

// whenFree opens a store, and waits if another command has the store open. If a server has the
// store open, whenFree returns a client of the server instead.
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

// openOrEnd opens a store, and returns early if ctx is done. In this case, the store may be opened
// later and is not closed. This is harmless, because the process is about to exit.
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

// openStore opens the store in dir. If the store does not exist and the access is creates,
// openStore creates it.
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

// fatal exits the program if the storage engine cannot continue. All acknowledged changes are on
// disk at this time.
func (c *cli) fatal(err error) {
	fmt.Fprintln(c.failures(c.err), "nomen: "+words(err)+"; acknowledged changes are safe on disk")
	os.Exit(exitFailure)
}

// rekeyedSuffix is the suffix of the directory in which 'nomen rekey' writes a new store. If the
// command is killed before the new store replaces the old store, the next command that opens the
// store completes the replacement.
const rekeyedSuffix = ".rekeyed"

// storeThere returns an error that wraps fs.ErrNotExist if there is no store in dir. A store that
// 'nomen rekey' has not yet moved to dir counts as existing.
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

// ensureToken creates the administrator's token and writes it to a file in the data directory. It
// does nothing if the file already contains a valid token.
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

// tightenToken makes the token file readable only by its owner. It prints a warning if other users
// could read the file before.
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
