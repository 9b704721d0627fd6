package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The first write creates the tables for link checks, which are not part of the versioned schema.
const (
	makeLinks = `create table if not exists nomen_link (
	key   bytea not null primary key,
	value bytea not null
)`
	makeLinkGates = `create table if not exists nomen_link_gate (
	host  text        not null primary key,
	until timestamptz not null -- when the next request to the host may be sent
)`
	scanLinks   = "select key, value from nomen_link where key >= $1 and key < $2 order by key limit $3"
	getLinks    = "select key, value from nomen_link where key = any($1)"
	deleteLinks = "delete from nomen_link where key = any($1)"
	putLinks    = `insert into nomen_link (key, value) select * from unnest($1::bytea[], $2::bytea[])
	on conflict (key) do update set value = excluded.value`
	enterLinkGate = `insert into nomen_link_gate as g (host, until) values ($1, clock_timestamp() + $2::interval)
	on conflict (host) do update set until = excluded.until where g.until <= clock_timestamp()`
	waitLinkGate  = "select extract(epoch from until - clock_timestamp())::float8 from nomen_link_gate where host = $1"
	leaveLinkGate = "update nomen_link_gate set until = clock_timestamp() + $2::interval where host = $1"
	sweepGates    = "delete from nomen_link_gate where until < clock_timestamp() - interval '1 day'"
)

// linkLocks is the first key of the advisory locks that Octets uses.
const linkLocks = 0x6c696e6b

// Octets is an ordered map from byte strings to byte strings in the database, which all nodes
// share. It contains the results of link checks. Octets is not part of the log of changes.
type Octets struct{ s *Store }

// Octets returns the shared map of the database.
func (s *Store) Octets() *Octets { return &Octets{s} }

// An OctetsReader reads the map, in a transaction of [Octets.Update].
type OctetsReader struct {
	ctx context.Context
	tx  pgx.Tx
}

// Scan returns the entries with keys from <= key < to in the order of their keys, at most limit
// entries.
func (o *Octets) Scan(ctx context.Context, from, to []byte, limit int) (keys, values [][]byte, err error) {
	err = o.s.retryOnPrimary(ctx, "read links", func(ctx context.Context, c *pgx.Conn) error {
		keys, values, err = readOctets(c.Query(ctx, scanLinks, from, to, limit))
		return err
	})
	return keys, values, err
}

// Scan is like [Octets.Scan].
func (r *OctetsReader) Scan(from, to []byte, limit int) (keys, values [][]byte, err error) {
	return readOctets(r.tx.Query(r.ctx, scanLinks, from, to, limit))
}

// Get returns the entries that exist among these keys.
func (r *OctetsReader) Get(keys [][]byte) (found, values [][]byte, err error) {
	return readOctets(r.tx.Query(r.ctx, getLinks, keys))
}

func readOctets(rows pgx.Rows, err error) (keys, values [][]byte, _ error) {
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key, value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return nil, nil, err
		}
		keys, values = append(keys, key), append(values, value)
	}
	return keys, values, rows.Err()
}

// Update calls the function do, and then writes the entries that it returns, all or none. A nil
// value deletes the entry. Calls of Update with the same lock exclude each other, even on different
// nodes. If the connection breaks, Update calls the function again.
func (o *Octets) Update(ctx context.Context, lock int32, do func(*OctetsReader) (keys, values [][]byte, err error)) error {
	return o.s.retryOnPrimary(ctx, "write links", func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1, $2)", linkLocks, lock); err != nil {
				return err
			}
			keys, values, err := do(&OctetsReader{ctx, tx})
			if err != nil {
				return err
			}
			return writeOctets(ctx, tx, keys, values)
		})
	})
}

func writeOctets(ctx context.Context, tx pgx.Tx, keys, values [][]byte) error {
	last := make(map[string]int, len(keys))
	for i, k := range keys {
		last[string(k)] = i
	}
	var gone, put, with [][]byte
	for i, k := range keys {
		switch {
		case last[string(k)] != i: // written again later
		case values[i] == nil:
			gone = append(gone, k)
		default:
			put, with = append(put, k), append(with, values[i])
		}
	}
	if len(gone) > 0 {
		if _, err := tx.Exec(ctx, deleteLinks, gone); err != nil {
			return err
		}
	}
	if len(put) > 0 {
		if _, err := tx.Exec(ctx, putLinks, put, with); err != nil {
			return err
		}
	}
	return nil
}

// Clear removes all entries.
func (o *Octets) Clear(ctx context.Context) error {
	return o.s.retryOnPrimary(ctx, "delete links", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "delete from nomen_link")
		return err
	})
}

// Enter reserves a host for a request of this node, until the node calls Leave or the time hold is
// over. If the host cannot be reserved now, Enter returns the time after which the node should try
// again. The database measures the times with its own clock.
func (o *Octets) Enter(ctx context.Context, host string, hold time.Duration) (wait time.Duration, err error) {
	err = o.s.retryOnPrimary(ctx, "lock a host", func(ctx context.Context, c *pgx.Conn) error {
		tag, err := c.Exec(ctx, enterLinkGate, host, hold)
		if wait = 0; err != nil || tag.RowsAffected() > 0 {
			return err
		}
		var seconds float64
		err = c.QueryRow(ctx, waitLinkGate, host).Scan(&seconds)
		wait = max(time.Duration(seconds*float64(time.Second)), time.Millisecond)
		return err
	})
	return wait, err
}

// Leave records that a request to a host has ended. The parameter gap is the time after which the
// next request may be sent.
func (o *Octets) Leave(ctx context.Context, host string, gap time.Duration) error {
	return o.s.retryOnPrimary(ctx, "unlock a host", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, leaveLinkGate, host, gap)
		return err
	})
}

// Sweep removes the rows of hosts to which no node has sent requests for a day.
func (o *Octets) Sweep(ctx context.Context) error {
	return o.s.retryOnPrimary(ctx, "forget hosts", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, sweepGates)
		return err
	})
}
