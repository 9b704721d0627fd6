package cachestore

import (
	"context"

	"github.com/nomen-project/nomen/store"
)

// Jobs implements [store.JobStore] if the underlying store does. Jobs are not cached.
func (s *Store) Jobs(ctx context.Context, after uint64) ([]store.JobRow, uint64, error) {
	k, err := store.JobStoreOf(s.Backing)
	if err != nil {
		return nil, 0, err
	}
	return k.Jobs(ctx, after)
}

// PutJobs implements [store.JobStore] if the underlying store does.
func (s *Store) PutJobs(ctx context.Context, after uint64, rows ...store.JobRow) (uint64, error) {
	k, err := store.JobStoreOf(s.Backing)
	if err != nil {
		return 0, err
	}
	return k.PutJobs(ctx, after, rows...)
}

// PutJobPart implements [store.JobStore] if the underlying store does.
func (s *Store) PutJobPart(ctx context.Context, id, file string, part int, data []byte) error {
	k, err := store.JobStoreOf(s.Backing)
	if err != nil {
		return err
	}
	return k.PutJobPart(ctx, id, file, part, data)
}

// JobPart implements [store.JobStore] if the underlying store does.
func (s *Store) JobPart(ctx context.Context, id, file string, part int) ([]byte, error) {
	k, err := store.JobStoreOf(s.Backing)
	if err != nil {
		return nil, err
	}
	return k.JobPart(ctx, id, file, part)
}

// DropJobFile implements [store.JobStore] if the underlying store does.
func (s *Store) DropJobFile(ctx context.Context, id, file string) error {
	k, err := store.JobStoreOf(s.Backing)
	if err != nil {
		return err
	}
	return k.DropJobFile(ctx, id, file)
}
