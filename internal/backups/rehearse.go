package backups

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// How many names a rehearsal resolves: the first names of the backup, and names in its last
// changes.
const (
	firstNames = 5
	lastNames  = 5
)

type rehearsal struct {
	records  int64
	changes  uint64
	resolved int // how many names were resolved
}

// rehearse checks a backup without writing anything. It compares the files with the manifest,
// verifies the hashes of the log, and resolves some names. It also checks that the log of the live
// store begins with the log of the backup.
func (k *Scheduler) rehearse(ctx context.Context, dir string) (rehearsal, error) {
	var r rehearsal
	first := ""
	res, err := pebblestore.Restore(ctx, pebblestore.RestoreOptions{
		From: dir, Verify: true,
		Damage: func(d pebblestore.Damage) {
			if first == "" {
				first = d.File + ": " + d.Problem
				if d.Fault != nil {
					first = d.Fault.Subject.Key + ": " + d.Problem
				}
			}
		},
		Use: func(s *pebblestore.Store) error {
			var err error
			r.resolved, err = resolveSome(ctx, s)
			return err
		},
	})
	if first != "" {
		err = fmt.Errorf("%w; the first one is %s", err, first)
	}
	if err == nil {
		err = k.continues(ctx, res.Head)
	}
	r.records, r.changes = res.Records, res.Head.Size
	return r, err
}

// continues returns an [*otherLogError] unless the log of the live store begins with the log of the
// backup.
func (k *Scheduler) continues(ctx context.Context, backup store.Head) error {
	live, err := k.Source.Head(ctx)
	if err != nil {
		return err
	}
	if live.Size < backup.Size {
		return &otherLogError{fmt.Sprintf("the store has %d changes, fewer than the %d of its backup", live.Size, backup.Size)}
	}
	proof, err := k.Source.ProveHead(ctx, live.Size, backup.Size)
	if err == nil && ledger.CheckConsistency(proof, live, backup) != nil {
		err = &otherLogError{"the log of the store does not begin with the log of its backup"}
	}
	return err
}

func resolveSome(ctx context.Context, s *pebblestore.Store) (n int, err error) {
	var some []*store.Record
	for rec, err := range s.List(ctx, store.Scan{}) {
		if err != nil {
			return 0, err
		}
		if some = append(some, rec); len(some) == firstNames {
			break
		}
	}
	head, err := s.Head(ctx)
	if err != nil {
		return 0, err
	}
	for e, err := range s.Changes(ctx, head.Size-min(lastNames, head.Size)) {
		if err != nil {
			return 0, err
		}
		if e.Change.Record != nil {
			some = append(some, e.Change.Record)
		}
	}
	engine := resolve.New(s, resolve.Options{})
	for _, rec := range some {
		now, err := s.Get(ctx, rec.Name, time.Time{})
		if err != nil || now.Status != nomen.Active {
			continue // a later change has deleted or retired the name
		}
		_, err = engine.Resolve(ctx, nomen.Question{Name: rec.Name, Service: nomen.I2C})
		if no := (*nomen.Error)(nil); err != nil && (!errors.As(err, &no) || no.Kind == nomen.Unknown) {
			return n, fmt.Errorf("%s cannot be resolved: %w", rec.Name, err)
		}
		n++
	}
	return n, nil
}
