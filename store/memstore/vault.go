package memstore

import (
	"bytes"
	"context"
	"time"

	"github.com/nomen-project/nomen/store"
)

// Secret implements [store.Vault].
func (s *Store) Secret(ctx context.Context, key string) ([]byte, error) {
	if err := store.CheckSecret(key, nil); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if value, ok := s.secrets[key]; ok {
		return bytes.Clone(value), nil
	}
	return nil, store.ErrNotFound
}

// PutSecret implements [store.Vault].
func (s *Store) PutSecret(ctx context.Context, key string, value []byte) error {
	if err := store.CheckSecret(key, value); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if len(value) == 0 {
		delete(s.secrets, key)
		return nil
	}
	s.secrets[key] = bytes.Clone(value)
	return nil
}

// SwapSecret implements [store.Vault].
func (s *Store) SwapSecret(ctx context.Context, key string, old, new []byte) (bool, error) {
	if err := store.CheckSecret(key, new); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return false, err
	}
	if !bytes.Equal(s.secrets[key], old) {
		return bytes.Equal(s.secrets[key], new), nil
	}
	s.secrets[key] = bytes.Clone(new)
	if len(new) == 0 {
		delete(s.secrets, key)
	}
	return true, nil
}

// Lease implements [store.Vault].
func (s *Store) Lease(ctx context.Context, key, holder string, d time.Duration) (bool, error) {
	if err := store.CheckSecret(key, nil); err != nil {
		return false, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return false, err
	}
	return s.leases.Lease(key, holder, d, time.Now()), nil
}
