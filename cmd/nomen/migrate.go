package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
)

const migrateLong = `Migrate copies one store into another, empty one: all changes with their times, reasons
and digests, and the tokens. At the end it compares the two: the heads of their
histories, which cover every change in order, and the numbers of records and tokens. The
source is not changed.

A store is pebble:DIR or postgres://USER@HOST/DATABASE. Stop the server of a pebble store
first. Servers may keep using a database: migrate copies the changes made before it started.
These include changes that a killed server had committed but not yet added to the log.

If migrate is interrupted, run it again: it compares what is already copied and continues.

With --repair-times, each change that a wrong clock dated in the future gets the time of the
change before it. ('nomen verify' reports such changes.) Everything else is copied
unchanged. If times were repaired, the copy has a different head.`

func (c *cli) migrateCommand() *cobra.Command {
	var from, to string
	var repair bool
	cmd := &cobra.Command{
		Use:   "migrate --from STORE --to STORE",
		Short: "copy everything into another store",
		Long:  migrateLong,
		Example: `  nomen migrate --from pebble:/var/lib/nomen/store --to postgres://nomen@db.example.org/names
  nomen migrate --from postgres://nomen@db.example.org/names --to pebble:/srv/names/store
  nomen migrate --from pebble:store --to pebble:store.repaired --repair-times`,
		Args: noArguments,
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "store to copy (required)")
	f.StringVar(&to, "to", "", "empty store to copy to (required)")
	f.BoolVar(&repair, "repair-times", false, "give changes dated in the future the time of the change before them")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case from == "" || to == "":
			return usagef("migrate: --from and --to are required")
		case from == to:
			return usagef("migrate: --from and --to are the same store")
		}
		return c.migrateStores(cmd.Context(), from, to, repair)
	}
	return cmd
}

func (c *cli) migrateStores(ctx context.Context, from, to string, repair bool) error {
	source, err := c.openAt(ctx, from, true)
	if err != nil {
		return err
	}
	target, err := c.openAt(ctx, to, false)
	if err != nil {
		return errors.Join(err, source.Close())
	}
	return errors.Join(c.migrate(ctx, source, target, repair), target.Close(), source.Close())
}

// openAt opens a store. The parameter spec is pebble:DIR or a postgres:// URL.
func (c *cli) openAt(ctx context.Context, spec string, readOnly bool) (store.Store, error) {
	dir, isPebble := strings.CutPrefix(spec, "pebble:")
	switch {
	case isPebble && dir != "":
		s, err := pebblestore.Open(pebblestore.Options{Dir: dir, Log: c.logger(), ReadOnly: readOnly, Now: clock})
		if errors.Is(err, pebblestore.ErrLocked) {
			return nil, fmt.Errorf("%w; stop the server, or wait for the other command to end", err)
		}
		if err != nil {
			return nil, err
		}
		return s, nil
	case strings.HasPrefix(spec, "postgres://"), strings.HasPrefix(spec, "postgresql://"):
		s, err := pgstore.Open(ctx, pgstore.Options{URL: spec, Log: c.logger(), ReadOnly: readOnly})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil, usagef("invalid store %q: must be pebble:DIR or postgres://USER@HOST/DATABASE", spec)
}

type migration struct {
	Changes uint64  `json:"changes"`
	Records int64   `json:"records"`
	Tokens  int     `json:"tokens"`
	Head    string  `json:"head"`
	Seconds float64 `json:"seconds"`
	Retimed *uint64 `json:"retimed,omitempty"` // changes whose time was repaired
}

// migrate copies a store into another store, and then compares the stores. If repair is true, it
// also corrects the times of changes that are dated in the future.
func (c *cli) migrate(ctx context.Context, from, to store.Store, repair bool) error {
	start := clock()
	head, err := settledHead(ctx, from)
	if err != nil {
		return err
	}
	entries, tokens := store.Changes(ctx, from, 0), store.TokenChanges(ctx, from)
	var times *retimer
	if repair {
		if times, err = newRetimer(ctx, from, clock().Add(store.ClockTolerance)); err != nil {
			return err
		}
		entries, tokens = times.entries(entries), times.tokens(tokens)
	}
	bar, end := c.counting("changes")
	err = store.Load(ctx, to, upTo(head.Size, bar, entries))
	end()
	if err != nil {
		return fmt.Errorf("%w; run the same command again to continue", err)
	}
	m := migration{Changes: head.Size}
	if m.Tokens, err = copyTokens(ctx, tokens, to); err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	retimed := times != nil && times.changed > 0
	if head, m.Records, err = c.compareStores(ctx, from, to, head, retimed); err != nil {
		return err
	}
	m.Head, m.Seconds = head.String(), clock().Sub(start).Seconds()
	if !retimed {
		return c.say(m, "%s\nthe heads are equal: %s", m.summary(), m.Head)
	}
	m.Retimed = &times.changed
	return c.say(m, "%s\n%s\nhead %s", m.summary(), times.summary(), m.Head)
}

func (m *migration) summary() string {
	return fmt.Sprintf("%s of %s and %s in %.2f s, %.0f changes per second", count(int64(m.Changes), "change"),
		count(m.Records, "record"), count(int64(m.Tokens), "token"), m.Seconds, rate(int64(m.Changes), m.Seconds))
}

func upTo(last uint64, show func(done, total uint64), entries iter.Seq2[*store.Entry, error]) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		if last == 0 {
			return
		}
		for e, err := range entries {
			if !yield(e, err) || err != nil || e.Seq == last {
				return
			}
			if e.Seq%1024 == 0 {
				show(e.Seq, last)
			}
		}
	}
}

const tokenBatch = 1000

func copyTokens(ctx context.Context, tokens iter.Seq2[*store.Change, error], to store.Store) (int, error) {
	n := 0
	var batch []store.Change
	write := func() error {
		if len(batch) == 0 {
			return nil
		}
		_, err := to.Apply(ctx, batch)
		batch = batch[:0]
		return err
	}
	for c, err := range tokens {
		if err != nil {
			return n, err
		}
		n++
		batch = append(batch, store.Change{Token: c.Token, Time: c.Time, Who: c.Who, Why: c.Why})
		if len(batch) == tokenBatch {
			if err := write(); err != nil {
				return n, err
			}
		}
	}
	return n, write()
}

// compareStores checks that a copy is complete. The copy must have the same tokens, the same number
// of records and the same history as the original. If times were repaired, the histories differ,
// and compareStores compares only the numbers of changes. It returns the head and the number of
// records of the copy.
func (c *cli) compareStores(ctx context.Context, from, to store.Store, want store.Head, retimed bool) (store.Head, int64, error) {
	got, err := settledHead(ctx, to)
	switch {
	case err != nil:
		return got, 0, err
	case got != want && !retimed:
		return got, 0, fmt.Errorf("the copy differs: its head is %s, expected %s", got, want)
	}
	there, err := exactCount(ctx, to)
	if err != nil {
		return got, 0, err
	}
	here, err := exactCount(ctx, from) // count before reading the head, so that the head also covers changes that are made after the count
	if err != nil {
		return got, 0, err
	}
	switch now, err := settledHead(ctx, from); {
	case err != nil:
		return got, 0, err
	case retimed && (got.Size != want.Size || here != there):
		return got, 0, fmt.Errorf("the copy differs: it has %d changes and %d records, expected %d and %d; was the store changed meanwhile?", got.Size, there, want.Size, here)
	case now != want && !retimed:
		fmt.Fprintf(c.err, "nomen: warning: the store was changed meanwhile; changes not copied: %d\n", now.Size-want.Size)
	case here != there:
		return got, 0, fmt.Errorf("the copy differs: it has %d records, expected %d", there, here)
	}
	return got, there, sameTokens(ctx, from, to)
}

// settledHead waits until the log contains all acknowledged changes, and then returns the head of
// s.
func settledHead(ctx context.Context, s store.Reader) (store.Head, error) {
	if err := store.Settle(ctx, s); err != nil {
		return store.Head{}, err
	}
	return store.HeadOf(ctx, s)
}

// exactCount returns the exact number of records. If the store knows only an estimate, exactCount
// lists all records and counts them.
func exactCount(ctx context.Context, s store.Reader) (int64, error) {
	n, exact, err := store.Count(ctx, s)
	if err != nil || exact {
		return n, err
	}
	n = 0
	for _, err := range s.List(ctx, store.Scan{}) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func sameTokens(ctx context.Context, from, to store.Store) error {
	tokens, ok := to.(store.Tokens)
	if !ok {
		return fmt.Errorf("%T cannot store tokens: %w", to, errors.ErrUnsupported)
	}
	for t, err := range store.AllTokens(ctx, from) {
		if err != nil {
			return err
		}
		copied, err := tokens.Token(ctx, t.ID)
		if err != nil {
			return fmt.Errorf("token %s: %w", t.ID, err)
		}
		if !copied.SameContent(t) {
			return fmt.Errorf("the copy differs: token %s has other content", t.ID)
		}
	}
	return nil
}
