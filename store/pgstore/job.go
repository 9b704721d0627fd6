package pgstore

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/store"
)

// The tables of jobs and of secrets are not part of the versioned schema. Each write of jobs locks
// the only row of nomen_job_head until the write is committed. Writes are therefore committed in
// the order of their numbers. A server that reads the jobs after a certain number misses no job.
const (
	makeJobHead = `create table if not exists nomen_job_head (
	id   smallint not null primary key check (id = 1),
	seq  bigint   not null, -- number of the last write
	born bigint   not null  -- number of the last write that added a job
)`
	makeJobs = `create table if not exists nomen_job (
	id   text   not null primary key,
	seq  bigint not null, -- number of the write that stored it
	body bytea  not null
)`
	makeJobParts = `create table if not exists nomen_job_part (
	job  text    not null references nomen_job (id) on delete cascade,
	file text    not null,
	part integer not null,
	data bytea   not null,
	primary key (job, file, part)
)`
	firstJobHead = "insert into nomen_job_head (id, seq, born) values (1, 0, 0) on conflict (id) do nothing"
	nextJobHead  = "update nomen_job_head set seq = seq + 1 where id = 1 returning seq, born"
	bearJob      = "update nomen_job_head set born = seq where id = 1"
	readJobs     = `select j.id, j.seq, case when j.seq > $1 then j.body end, h.seq
	from nomen_job_head h left join nomen_job j on true where h.id = 1 order by j.id`
	readJob     = "select seq, body from nomen_job where id = $1"
	putJob      = "insert into nomen_job (id, seq, body) values ($1, $2, $3) on conflict (id) do update set seq = excluded.seq, body = excluded.body"
	deleteJob   = "delete from nomen_job where id = $1"
	putJobPart  = "insert into nomen_job_part (job, file, part, data) values ($1, $2, $3, $4) on conflict (job, file, part) do update set data = excluded.data"
	readJobPart = "select data from nomen_job_part where job = $1 and file = $2 and part = $3"
	dropJobFile = "delete from nomen_job_part where job = $1 and file = $2"
)

// Jobs implements [store.JobStore]. It reads from the primary, because a replica may be behind.
func (s *Store) Jobs(ctx context.Context, after uint64) (rows []store.JobRow, head uint64, err error) {
	err = s.retryOnPrimary(ctx, "read jobs", func(ctx context.Context, c *pgx.Conn) error {
		rows, head = nil, 0
		found, err := c.Query(ctx, readJobs, int64(after))
		if err != nil {
			return err
		}
		var id *string
		var seq *int64
		var body []byte
		_, err = pgx.ForEachRow(found, []any{&id, &seq, &body, &head}, func() error {
			if id != nil {
				rows = append(rows, store.JobRow{ID: *id, Seq: uint64(*seq), Body: bytes.Clone(body)})
			}
			return nil
		})
		return err
	})
	return rows, head, err
}

// PutJobs implements [store.JobStore].
func (s *Store) PutJobs(ctx context.Context, after uint64, rows ...store.JobRow) (seq uint64, err error) {
	if err := store.CheckJobs(rows); err != nil {
		return 0, err
	}
	err = s.retryOnPrimary(ctx, "write jobs", func(ctx context.Context, c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			var born uint64
			err := tx.QueryRow(ctx, nextJobHead).Scan(&seq, &born)
			if errors.Is(err, pgx.ErrNoRows) {
				if _, err = tx.Exec(ctx, firstJobHead); err == nil {
					err = tx.QueryRow(ctx, nextJobHead).Scan(&seq, &born)
				}
			}
			for i := 0; i < len(rows) && err == nil; i++ {
				err = putRow(ctx, tx, rows[i], seq, born > after)
			}
			return err
		})
	})
	return seq, err
}

// putRow stores or removes a job in a transaction. The parameter added reports whether another
// server has added jobs.
func putRow(ctx context.Context, tx pgx.Tx, r store.JobRow, seq uint64, added bool) error {
	var was uint64
	var body []byte
	err := tx.QueryRow(ctx, readJob, r.ID).Scan(&was, &body)
	switch exists := !errors.Is(err, pgx.ErrNoRows); {
	case exists && err != nil:
		return err
	case exists && was != r.Seq && !bytes.Equal(body, r.Body),
		!exists && r.Body != nil && (r.Seq != 0 || added):
		return store.ErrJobChanged
	case r.Body == nil:
		_, err = tx.Exec(ctx, deleteJob, r.ID)
		return err
	case !exists:
		if _, err := tx.Exec(ctx, bearJob); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, putJob, r.ID, int64(seq), r.Body)
	return err
}

// PutJobPart implements [store.JobStore].
func (s *Store) PutJobPart(ctx context.Context, id, file string, part int, data []byte) error {
	if err := store.CheckJobPart(id, file, part, data); err != nil {
		return err
	}
	err := s.retryOnPrimary(ctx, "write the file of a job", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, putJobPart, id, file, part, append([]byte{}, data...))
		return err
	})
	if state(err) == foreignKeyViolation {
		return store.ErrNotFound
	}
	return err
}

// JobPart implements [store.JobStore].
func (s *Store) JobPart(ctx context.Context, id, file string, part int) (data []byte, err error) {
	if err := store.CheckJobPart(id, file, part, nil); err != nil {
		return nil, err
	}
	err = s.retryOnPrimary(ctx, "read the file of a job", func(ctx context.Context, c *pgx.Conn) error {
		err := c.QueryRow(ctx, readJobPart, id, file, part).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return store.ErrNotFound
		}
		return err
	})
	return data, err
}

// DropJobFile implements [store.JobStore].
func (s *Store) DropJobFile(ctx context.Context, id, file string) error {
	if err := store.CheckJobKey(id, file); err != nil {
		return err
	}
	return s.retryOnPrimary(ctx, "remove the file of a job", func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, dropJobFile, id, file)
		return err
	})
}
