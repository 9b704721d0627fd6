package pgstore

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/store"
)

// The first write creates the tables of secrets and leases. The tables are not part of the
// versioned schema, because programs that do not support them ignore them.
const (
	makeSecrets = `create table if not exists nomen_secret (
	key   text  not null primary key,
	value bytea not null
)`
	makeLeases = `create table if not exists nomen_lease (
	key    text        not null primary key,
	holder text        not null,
	until  timestamptz not null -- when another holder can have it
)`
	readSecret   = "select value from nomen_secret where key = $1"
	putSecret    = "insert into nomen_secret (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value"
	deleteSecret = "delete from nomen_secret where key = $1"
	addSecret    = "insert into nomen_secret (key, value) values ($1, $2) on conflict (key) do nothing"
	swapSecret   = "update nomen_secret set value = $3 where key = $1 and value = $2"
	dropSecret   = "delete from nomen_secret where key = $1 and value = $2"
	takeLease    = `insert into nomen_lease (key, holder, until) values ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')
	on conflict (key) do update set holder = excluded.holder, until = excluded.until
	where nomen_lease.holder = excluded.holder or nomen_lease.until <= clock_timestamp()`
	dropLease = "delete from nomen_lease where key = $1 and holder = $2"
	seeLease  = "select holder from nomen_lease where key = $1 and until > clock_timestamp()"
)

// Secret implements [store.Vault]. It prefers the primary, because a replica may be behind.
func (s *Store) Secret(ctx context.Context, key string) ([]byte, error) {
	if err := store.CheckSecret(key, nil); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	value, err := s.value(ctx, true, readSecret, key)
	switch {
	case state(err) == undefinedTable, err == nil && value == nil:
		return nil, store.ErrNotFound
	case err != nil:
		return nil, failed("read a secret", err)
	}
	return value, nil
}

// PutSecret implements [store.Vault].
func (s *Store) PutSecret(ctx context.Context, key string, value []byte) error {
	if err := store.CheckSecret(key, value); err != nil {
		return err
	}
	return s.retryOnPrimary(ctx, "write a secret", func(ctx context.Context, c *pgx.Conn) error {
		var err error
		if len(value) == 0 {
			_, err = c.Exec(ctx, deleteSecret, key)
		} else {
			_, err = c.Exec(ctx, putSecret, key, value)
		}
		return err
	})
}

// SwapSecret implements [store.Vault].
func (s *Store) SwapSecret(ctx context.Context, key string, old, new []byte) (ok bool, err error) {
	if err := store.CheckSecret(key, new); err != nil {
		return false, err
	}
	err = s.retryOnPrimary(ctx, "write a secret", func(ctx context.Context, c *pgx.Conn) error {
		sql, args := swapSecret, []any{key, old, new}
		switch {
		case len(old) == 0 && len(new) == 0:
			sql, args = dropSecret, []any{key, []byte{}} // matches no row
		case len(old) == 0:
			sql, args = addSecret, []any{key, new}
		case len(new) == 0:
			sql, args = dropSecret, []any{key, old}
		}
		tag, err := c.Exec(ctx, sql, args...)
		if err != nil {
			return err
		}
		if ok = tag.RowsAffected() == 1; ok {
			return nil
		}
		// This call can repeat a call whose result was lost.
		var is []byte
		if err := c.QueryRow(ctx, readSecret, key).Scan(&is); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		ok = bytes.Equal(is, new)
		return nil
	})
	return ok && err == nil, err
}

// Lease implements [store.Vault] with the clock of the database.
func (s *Store) Lease(ctx context.Context, key, holder string, d time.Duration) (ok bool, err error) {
	if err := store.CheckSecret(key, nil); err != nil {
		return false, err
	}
	err = s.retryOnPrimary(ctx, "take a lease", func(ctx context.Context, c *pgx.Conn) error {
		if d == 0 {
			if _, err := c.Exec(ctx, dropLease, key, holder); err != nil {
				return err
			}
			ok, err = isFree(ctx, c, key)
			return err
		}
		tag, err := c.Exec(ctx, takeLease, key, holder, d.Milliseconds())
		ok = tag.RowsAffected() == 1
		return err
	})
	return ok, err
}

func isFree(ctx context.Context, c *pgx.Conn, key string) (bool, error) {
	var other string
	err := c.QueryRow(ctx, seeLease, key).Scan(&other)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	return false, err
}

// retryOnPrimary calls f with a connection to the primary server. If f fails because a table is
// missing, retryOnPrimary creates the tables and calls f again. It also retries after transient
// errors, such as a failover, for as long as the connection string or the context allows. The
// function f must be idempotent.
func (s *Store) retryOnPrimary(ctx context.Context, what string, f func(context.Context, *pgx.Conn) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.readOnly {
		return store.ErrReadOnly
	}
	for p := newPatience(max(s.cluster.wait, store.PatienceOf(ctx))); ; {
		err := s.onPrimary(ctx, f)
		if err == nil || !transient(err) || !p.pause(ctx, !s.cluster.condition().NoWrites) {
			return failed(what, ended(ctx, full(err)))
		}
	}
}

func (s *Store) onPrimary(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	server, err := s.cluster.forWriting()
	if err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	call, release := server.while(call)
	defer release()
	err = server.short.with(call, func(c *pgx.Conn) error {
		err := f(call, c)
		if state(err) == undefinedTable {
			if err = makeTables(call, c); err == nil {
				err = f(call, c)
			}
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.cluster.fail(server, err)
	}
	return err
}

func makeTables(ctx context.Context, c *pgx.Conn) error {
	for _, sql := range []string{makeSecrets, makeLeases, makeJobHead, makeJobs, makeJobParts, makeCounts, makeCountBatches, makeLinks, makeLinkGates} {
		if _, err := c.Exec(ctx, sql); err != nil && state(err) != uniqueViolation && state(err) != duplicateObject && state(err) != duplicateTable {
			return err
		}
	}
	return nil
}
