package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/store"
)

// Confirm implements [store.Confirmer]. On the server that has been the primary since the given
// time, it commits a transaction that changes no data, and waits until the transaction is
// replicated. If this succeeds, no other server was promoted since that time. Without synchronous
// replication, Confirm notices a promotion only when the former primary has become a standby.
func (s *Store) Confirm(ctx context.Context, since time.Time) (bool, error) {
	if err := s.enter(ctx); err != nil {
		return false, err
	}
	defer s.gate.Leave()
	if s.readOnly {
		return false, store.ErrReadOnly
	}
	for p := newPatience(max(s.cluster.wait, store.PatienceOf(ctx))); ; {
		server, err := s.cluster.forWriting()
		if err == nil {
			err = s.cluster.readOn(ctx, server, short, func(ctx context.Context, c *pgx.Conn, _ role) error { return barrier(ctx, c) })
		}
		switch {
		case err == nil:
			return server.hasRoleSince(since), nil
		case ctx.Err() != nil || !transient(err) || !p.pause(ctx, !s.cluster.condition().NoWrites):
			return false, failed("confirm", ended(ctx, err))
		}
	}
}

func (s *server) hasRoleSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.After(t)
}
