package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
)

// secretsDir is the subdirectory of the store for secrets, with a file for each key. The secrets
// are not in the database, so that backups do not contain them, and so that a removed secret does
// not remain in the files of the database.
const secretsDir = "secrets"

// Secret implements [store.Vault].
func (s *Store) Secret(ctx context.Context, key string) (value []byte, err error) {
	if err := store.CheckSecret(key, nil); err != nil {
		return nil, err
	}
	err = s.using(ctx, func(*engine) error {
		value, err = s.readSecret(key)
		return err
	})
	return value, err
}

func (s *Store) readSecret(key string) ([]byte, error) {
	f, err := s.fs.Open(s.secretPath(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("pebblestore: secret %s: %w", key, err)
	}
	value, err := io.ReadAll(io.LimitReader(f, store.MaxSecret+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("pebblestore: secret %s: %w", key, err)
	}
	return value, nil
}

func (s *Store) secretPath(key string) string { return s.fs.PathJoin(s.dir, secretsDir, key) }

// PutSecret implements [store.Vault].
func (s *Store) PutSecret(ctx context.Context, key string, value []byte) error {
	return s.changeSecret(ctx, key, value, func() (bool, error) { return true, nil })
}

// SwapSecret implements [store.Vault].
func (s *Store) SwapSecret(ctx context.Context, key string, old, new []byte) (ok bool, err error) {
	err = s.changeSecret(ctx, key, new, func() (bool, error) {
		is, err := s.readSecret(key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
		same := bytes.Equal(is, old)
		ok = same || bytes.Equal(is, new)
		return same, nil
	})
	return ok && err == nil, err
}

// changeSecret sets a secret if the function wanted returns true. Changes of secrets are
// serialized.
func (s *Store) changeSecret(ctx context.Context, key string, value []byte, wanted func() (bool, error)) error {
	if err := store.CheckSecret(key, value); err != nil {
		return err
	}
	return s.using(ctx, func(e *engine) error {
		if err := s.refusal(e); err != nil {
			return err
		}
		s.secrets.Lock()
		defer s.secrets.Unlock()
		yes, err := wanted()
		if err != nil || !yes {
			return err
		}
		err = s.writeSecret(key, value)
		switch {
		case err == nil:
			return nil
		case isUnwritable(err):
			return awayError(err)
		}
		return fmt.Errorf("pebblestore: secret %s: %w", key, err)
	})
}

func (s *Store) writeSecret(key string, value []byte) error {
	path := s.secretPath(key)
	if len(value) == 0 {
		if err := s.fs.Remove(path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return syncDir(s.fs, s.fs.PathJoin(s.dir, secretsDir))
	}
	dir := s.fs.PathJoin(s.dir, secretsDir)
	there, err := isThere(s.fs, dir)
	if err == nil && !there {
		err = errors.Join(s.fs.MkdirAll(dir, durable.PrivateDir), syncDir(s.fs, s.dir))
	}
	if err != nil {
		return err
	}
	return durable.Write(disk{s.fs}, path, bytes.Clone(value)) // a copy, because vfs.File.Write may change its argument
}

func copySecrets(files vfs.FS, from, to string) error {
	from, to = files.PathJoin(from, secretsDir), files.PathJoin(to, secretsDir)
	if there, err := isThere(files, from); err != nil || !there {
		return err
	}
	names, err := files.List(from)
	if err == nil {
		err = files.MkdirAll(to, durable.PrivateDir)
	}
	for _, key := range names {
		if err == nil && store.CheckSecret(key, nil) == nil {
			_, err = copyFile(files, files.PathJoin(from, key), files.PathJoin(to, key))
		}
	}
	if err == nil {
		err = errors.Join(syncDir(files, to), syncDir(files, files.PathDir(to)))
	}
	return err
}

// Lease implements [store.Vault]. It keeps leases in memory, because only one process can have the
// store open.
func (s *Store) Lease(ctx context.Context, key, holder string, d time.Duration) (ok bool, err error) {
	if err := store.CheckSecret(key, nil); err != nil {
		return false, err
	}
	err = s.using(ctx, func(e *engine) error {
		if err := s.refusal(e); err != nil {
			return err
		}
		ok = s.leases.Lease(key, holder, d, s.now())
		return nil
	})
	return ok, err
}
