package cachestore

import (
	"context"
	"time"

	"github.com/nomen-project/nomen/store"
)

// Secret implements [store.Vault] if the underlying store does. Secrets are not cached.
func (s *Store) Secret(ctx context.Context, key string) ([]byte, error) {
	v, err := store.VaultOf(s.Backing)
	if err != nil {
		return nil, err
	}
	return v.Secret(ctx, key)
}

// PutSecret implements [store.Vault] if the underlying store does.
func (s *Store) PutSecret(ctx context.Context, key string, value []byte) error {
	v, err := store.VaultOf(s.Backing)
	if err != nil {
		return err
	}
	return v.PutSecret(ctx, key, value)
}

// SwapSecret implements [store.Vault] if the underlying store does.
func (s *Store) SwapSecret(ctx context.Context, key string, old, new []byte) (bool, error) {
	v, err := store.VaultOf(s.Backing)
	if err != nil {
		return false, err
	}
	return v.SwapSecret(ctx, key, old, new)
}

// Lease implements [store.Vault] if the underlying store does.
func (s *Store) Lease(ctx context.Context, key, holder string, d time.Duration) (bool, error) {
	v, err := store.VaultOf(s.Backing)
	if err != nil {
		return false, err
	}
	return v.Lease(ctx, key, holder, d)
}
