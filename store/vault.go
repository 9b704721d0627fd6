package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// The limits of a secret.
const (
	MaxSecretKey = 200      // length of a key, in bytes
	MaxSecret    = 64 << 10 // length of a value, in bytes
)

// A Vault is a store that also keeps small secrets that its servers share, such as the private keys
// of certificates. Secrets are not in the log, nor in listings, exports or backups. They have no
// history: a new value replaces the old value.
type Vault interface {
	// Secret returns the value of the secret with the given key, or ErrNotFound.
	Secret(ctx context.Context, key string) ([]byte, error)

	// PutSecret sets the value of the secret with the given key. An empty value removes the secret.
	// When PutSecret returns nil, the value is on disk. A key has 1 to MaxSecretKey letters, digits
	// and characters of ".+-_", and does not begin with ".".
	PutSecret(ctx context.Context, key string, value []byte) error

	// SwapSecret is an atomic compare-and-swap: if the secret has the old value, SwapSecret sets
	// the new value. An empty old value means that the secret must not exist. SwapSecret reports
	// whether the secret now has the new value. When it returns true, the value is on disk.
	SwapSecret(ctx context.Context, key string, old, new []byte) (bool, error)

	// Lease gives the lease with the given key to the holder for the time d, unless another holder
	// has the lease. It reports whether the holder has the lease now. A holder calls Lease again to
	// extend its lease, or with a d of 0 to end it. The store measures d with its own clock.
	Lease(ctx context.Context, key, holder string, d time.Duration) (bool, error)
}

// VaultOf returns r as a Vault. If r is not a Vault, the error wraps [errors.ErrUnsupported].
func VaultOf(r Reader) (Vault, error) {
	if v, ok := r.(Vault); ok {
		return v, nil
	}
	return nil, unable(r, "keep secrets")
}

var errSecretKey = errors.New(`store: invalid key of a secret: must be 1 to 200 letters, digits and ".+-_", not beginning with "."`)

// CheckSecret returns an error unless the key and the value have the form that a [Vault] accepts.
func CheckSecret(key string, value []byte) error {
	if key == "" || len(key) > MaxSecretKey || key[0] == '.' {
		return errSecretKey
	}
	for i := range len(key) {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '+', c == '-', c == '_':
		default:
			return errSecretKey
		}
	}
	if len(value) > MaxSecret {
		return fmt.Errorf("store: secret %s: %d bytes exceed the limit of %d", key, len(value), MaxSecret)
	}
	return nil
}

// Leases implements [Vault.Lease] for a store that only one process can open. The zero Leases
// contains no lease. A Leases is safe for concurrent use.
type Leases struct {
	mu   sync.Mutex
	held map[string]lease
}

type lease struct {
	holder string
	until  time.Time
}

// Lease implements [Vault.Lease] at the time now.
func (l *Leases) Lease(key, holder string, d time.Duration, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, ok := l.held[key]; ok && last.holder != holder && now.Before(last.until) {
		return false
	}
	if l.held == nil {
		l.held = map[string]lease{}
	}
	l.held[key] = lease{holder, now.Add(d)}
	if d == 0 {
		delete(l.held, key)
	}
	return true
}
