package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Whether a store splits the digests of changes.
const (
	splitUnknown = iota
	splitNo
	splitYes
)

// splits reports whether the store splits the digests of changes. It reads the version of the format
// once. If another node has raised the version since, this node goes on as before, which is correct:
// each change says whether its digest is split.
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
