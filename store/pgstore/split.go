package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// States of the setting for split digests, as far as this node knows.
const (
	splitUnknown = iota
	splitNo
	splitYes
)

// splits reports whether the store computes split digests. It reads the version of the format once.
// If another node enables split digests later, this node need not notice, because every change
// records whether its digest is split.
func (s *Store) splits(ctx context.Context, c *pgx.Conn) (bool, error) {
	if s.split.Load() == splitUnknown {
		var format, rules uint64
		if err := c.QueryRow(ctx, readMeta).Scan(&format, &rules); err != nil {
			return false, err
		}
		is := uint32(splitNo)
		if format >= splitVersion {
			is = splitYes
		}
		s.split.CompareAndSwap(splitUnknown, is)
	}
	return s.split.Load() == splitYes, nil
}

// SplitDigests implements [store.Splitter].
func (s *Store) SplitDigests(ctx context.Context) error {
	err := s.retryOnPrimary(ctx, "change the version of the format", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, raiseFormat, splitVersion)
		return err
	})
	if err == nil {
		s.split.Store(splitYes)
	}
	return err
}
