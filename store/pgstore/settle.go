package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	lookStamp = "select max(stamp) from nomen_pending"
	lookUntil = "select count(*) from nomen_pending where stamp <= $1"
)

// errNotSealed is the error of Settle if another node has the lease but does not seal. The server
// log of that node may contain the reason.
var errNotSealed = errors.New("no node seals them")

// Settle implements [store.Settler]. If no other node seals the waiting changes, for example
// because the node that wrote them was killed, this store seals them. This applies even to a store
// that was opened read-only, because sealing does not modify records. If sealing does not succeed
// within the time that a call may wait, the error contains the number of waiting transactions.
func (s *Store) Settle(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	return failed("settle", ended(ctx, s.settle(ctx)))
}

func (s *Store) settle(ctx context.Context) error {
	var last *time.Time
	err := s.ask(ctx, func(ctx context.Context, c *pgx.Conn) error { return c.QueryRow(ctx, lookStamp).Scan(&last) })
	if err != nil || last == nil {
		return err
	}
	wait := cmp.Or(s.cluster.wait, defaultWait)
	for p, left := newPatience(wait), -1; ; {
		sealErr := s.sealNow(ctx)
		if sealErr != nil && !transient(sealErr) {
			return sealErr
		}
		before := left
		err := s.ask(ctx, func(ctx context.Context, c *pgx.Conn) error { return c.QueryRow(ctx, lookUntil, *last).Scan(&left) })
		if err != nil || left == 0 {
			return err
		}
		if left < before {
			p = newPatience(wait)
		}
		if !p.pause(ctx, true) {
			if sealErr == nil {
				sealErr = errNotSealed
			}
			return fmt.Errorf("%d committed transactions are not in the log of changes yet: %w", left, sealErr)
		}
	}
}

// ask calls f on the primary, or on another server if there is no primary.
func (s *Store) ask(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	return s.cluster.read(ctx, short, true, func(ctx context.Context, c *pgx.Conn, _ role) error { return f(ctx, c) })
}

// sealNow wakes the goroutine of the sealer. In a read-only store, which has no such goroutine,
// sealNow seals the changes.
func (s *Store) sealNow(ctx context.Context) error {
	if !s.readOnly {
		s.sealer.wake()
		return nil
	}
	s.settling.Lock()
	defer s.settling.Unlock()
	defer s.sealer.release(ctx)
	for more := true; more; {
		var err error
		if more, err = s.sealer.seal(ctx); err != nil {
			return err
		}
	}
	return nil
}
