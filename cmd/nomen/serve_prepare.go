package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/rfcindex"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const prepareAgain = 500 * time.Millisecond

// prepareOrLater calls prepare. If the storage is unavailable, it retries in the background, and
// the server runs without being ready. If a retry fails for another reason, the error is sent to
// the returned channel, and the server shuts down.
func (c *cli) prepareOrLater(ctx context.Context, f serveFlags, s servingStore, reg *registrar.Registrar, log *slog.Logger) (<-chan error, error) {
	err := c.prepare(ctx, f, s, reg)
	if !store.IsAway(err) {
		return nil, err
	}
	log.Warn("starting although the storage is unavailable", "err", err)
	failed := make(chan error, 1)
	go func() {
		for store.IsAway(err) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(prepareAgain):
			}
			err = c.prepare(ctx, f, s, reg)
		}
		if err != nil && ctx.Err() == nil {
			failed <- err
		}
	}()
	return failed, nil
}

// nodeToken creates an administrator's token for a node of a database, and writes it to a file. The
// token is not stored in the database. It is therefore valid only at this node, and only until the
// node stops. For an embedded store, nodeToken does nothing.
func (c *cli) nodeToken() (*store.Token, error) {
	if !c.inDatabase() {
		return nil, nil
	}
	spelling, own := adminapi.NewToken(adminapi.AdministratorGrant(), clock())
	return own, durable.WriteFile(filepath.Join(c.data, tokenFile), spelling+"\n")
}

// prepare creates the administrator's token if necessary, and writes the authorities of the
// configuration file to the store. With --demo, it also loads the demonstration data. With
// --read-only, it does nothing.
func (c *cli) prepare(ctx context.Context, f serveFlags, s servingStore, reg *registrar.Registrar) error {
	if f.readOnly {
		return nil
	}
	if !c.inDatabase() {
		if err := c.ensureToken(ctx, s, reg); err != nil {
			return err
		}
	}
	if err := reg.LogRights(ctx); err != nil {
		return err
	}
	outs, err := c.putAuthorities(ctx, reg)
	if err != nil {
		return err
	}
	for _, out := range outs {
		c.warn(out.Warnings)
	}
	if !f.demo {
		return nil
	}
	return c.loadDemo(ctx, &local{store: s, registrar: reg})
}

// putAuthorities writes the authorities of the configuration file to the store in a single batch.
// If an authority is rejected, the error contains its position in the file.
func (c *cli) putAuthorities(ctx context.Context, reg *registrar.Registrar) ([]registrar.Outcome, error) {
	authorities := c.file.authorities()
	if len(authorities) == 0 {
		return nil, nil
	}
	outs, err := reg.PutAuthorities(ctx, registrar.Operator(), authorities, "configuration file")
	if err == nil {
		return outs, nil
	}
	var errs []error
	for i, out := range outs {
		if out.Err != nil {
			errs = append(errs, c.authorityError(i, out.Err))
		}
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("%s: %w", c.config, err)
	}
	return nil, c.file.sorted(errs)
}

func (c *cli) loadDemo(ctx context.Context, b backend) error {
	a := rfcindex.Authority()
	_, revision, err := current(ctx, b, a.Prefix)
	if err != nil {
		return err
	}
	if revision == 0 {
		if _, err := b.PutAuthority(ctx, a, 0, "demonstration"); err != nil {
			return err
		}
	}
	records, err := rfcindex.Open()
	if err != nil {
		return err
	}
	defer records.Close()
	in := &countingReader{r: records}
	bar, end := c.progress("RFC names", rfcindex.Size)
	sum, err := b.Import(ctx, in, bulk.ImportOptions{
		Why:      "demonstration",
		Progress: func(sum bulk.Summary) { bar(sum, in.n.Load()) },
		Refused:  func(r bulk.Refusal) { c.showRefusal("RFC names", r) },
	})
	end()
	fmt.Fprintf(c.err, "nomen: %d RFC names: %d created, %d changed, %d unchanged in %.2f s, %.0f per second\n",
		sum.Read, sum.Created, sum.Changed, sum.Unchanged, sum.Seconds, rate(sum.Read, sum.Seconds))
	return err
}
