package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/ledger"
)

// ProveEntry implements [store.Prover].
func (s *Store) ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error) {
	return s.prove(ctx, size, func(src ledger.Source) ([][32]byte, error) { return ledger.ProveInclusion(src, size, seq) })
}

// ProveHead implements [store.Prover].
func (s *Store) ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error) {
	return s.prove(ctx, later, func(src ledger.Source) ([][32]byte, error) {
		return ledger.ProveConsistency(src, later, earlier)
	})
}

func (s *Store) prove(ctx context.Context, size uint64, prove func(ledger.Source) ([][32]byte, error)) (proof [][32]byte, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	err = s.snapshot(ctx, true, func(ctx context.Context, tx pgx.Tx, _ *bool) error {
		h, err := head(ctx, tx)
		if err == nil && size > h.Size {
			err = fmt.Errorf("the log has %d entries, fewer than %d", h.Size, size)
		}
		if err == nil {
			proof, err = prove(&source{ctx: ctx, c: tx})
		}
		return err
	})
	return proof, err
}
