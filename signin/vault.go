package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/nomen-project/nomen/store"
)

// Time limits for a change in the vault. A change ends before its lease expires.
const (
	leaseTime  = 15 * time.Second
	changeTime = 8 * time.Second
	firstWait  = 2 * time.Millisecond
	longWait   = 100 * time.Millisecond
)

func (m *Manager) secret(ctx context.Context, key string) ([]byte, error) {
	text, err := m.o.Vault.Secret(store.Fresh(ctx), key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return text, err
}

// change replaces the value of a key by the result of edit. If the key has no value, old is nil.
// Changes of one key never overlap, even on several nodes. If edit returns an error, nothing
// changes.
func (m *Manager) change(ctx context.Context, key string, edit func(old []byte) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(ctx, changeTime)
	defer cancel()
	end, err := m.lease(ctx, key+".lease")
	if err != nil {
		return err
	}
	defer end()
	old, err := m.secret(ctx, key)
	if err != nil {
		return err
	}
	next, err := edit(old)
	if err != nil || string(next) == string(old) {
		return err
	}
	return m.o.Vault.PutSecret(ctx, key, next)
}

// lease waits until it gets a lease on a key. The caller must call end to release the lease.
func (m *Manager) lease(ctx context.Context, key string) (end func(), err error) {
	holder := rand.Text() // identifies this change, because a node may make several at once
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		mine, err := m.o.Vault.Lease(ctx, key, holder, leaseTime)
		if err != nil {
			return nil, err
		}
		if mine {
			break
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTime)
		defer cancel()
		_, _ = m.o.Vault.Lease(last, key, holder, 0) // otherwise it expires
	}, nil
}
