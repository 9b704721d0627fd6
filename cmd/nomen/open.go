package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// The files of a data directory beside the store.
const (
	storeDir  = "store"
	tokenFile = "admin.token" // the administrator's token, mode 0600
	urlFile   = "admin.url"   // of the running server's admin listener
)

// storePath returns the directory of the store that --store and --data name.
func (c *cli) storePath() (string, error) {
	if c.store == "" {
		return filepath.Join(c.data, storeDir), nil
	}
	dir, ok := strings.CutPrefix(c.store, "pebble:")
	if !ok || dir == "" {
		return "", usagef("--store %q: want pebble:DIR", c.store)
	}
	return dir, nil
}

// withStore calls f with the store, or with the server that has it open. For a
// command that only reads, the store must exist.
func (c *cli) withStore(ctx context.Context, write bool, f func(backend) error) error {
	dir, err := c.storePath()
	if err != nil {
		return err
	}
	s, err := c.openStore(dir, write)
	if errors.Is(err, pebblestore.ErrLocked) {
		remote, rerr := c.server(ctx)
		if rerr != nil {
			return fmt.Errorf("%s: %w, and it cannot be reached: %w", dir, err, rerr)
		}
		return f(remote)
	}
	if err != nil {
		return err
	}
	return errors.Join(f(&local{s, registrar.New(s, registrar.Options{Now: clock, Log: c.logger()})}), s.Close())
}

// openStore opens the store in dir, and makes it if it is to be written.
func (c *cli) openStore(dir string, write bool) (*pebblestore.Store, error) {
	if !write {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no store is there yet; 'nomen serve', 'put' or 'import' makes one: %w", dir, err)
		}
	}
	return pebblestore.Open(pebblestore.Options{Dir: dir, Log: c.logger()})
}

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
	api := &adminapi.Client{URL: strings.TrimSpace(string(url)), Token: strings.TrimSpace(string(token))}
	_, err = api.Version(ctx)
	return api, err
}

// ensureToken makes the administrator's token of a data directory, unless there
// is one that the store knows.
func (c *cli) ensureToken(ctx context.Context, s *pebblestore.Store) error {
	file := filepath.Join(c.data, tokenFile)
	if text, err := os.ReadFile(file); err == nil && tokenKnown(ctx, s, strings.TrimSpace(string(text))) {
		return nil
	}
	spelling, token := adminapi.NewToken(adminapi.AdministratorGrant(), clock())
	if _, err := s.Apply(ctx, []store.Change{{Token: token, Time: clock(), Why: "first start"}}); err != nil {
		return err
	}
	return writePrivate(file, spelling+"\n")
}

func tokenKnown(ctx context.Context, s store.Tokens, text string) bool {
	id, secret, _ := adminapi.SplitToken(text)
	t, err := s.Token(ctx, id)
	return err == nil && !t.Revoked && adminapi.Matches(t, secret)
}

// writePrivate replaces a file by one that only its owner can read.
func writePrivate(file, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // after the rename there is nothing to remove
	_, err = tmp.WriteString(text)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
