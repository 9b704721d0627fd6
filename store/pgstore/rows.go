package pgstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

const (
	maxRows      = 5000     // maximum number of rows in a statement
	maxRowsBytes = 16 << 20 // maximum size of the values in a statement, in bytes
	maxEntries   = 2000     // maximum number of entries in a row of nomen_pending
)

const (
	moveToPast = `insert into nomen_past (time, revision, kind, key, salt, value)
	select time, revision, kind, key, salt, value from nomen_present where kind = $1 and key = any($2)`
	changeRows    = "unnest($2::bigint[], $3::bigint[], $4::text[], $5::bytea[], $6::bytea[]) as u(time, revision, key, salt, value)"
	updatePresent = `update nomen_present as p set time = u.time, revision = u.revision, salt = u.salt, value = u.value
	from ` + changeRows + " where p.kind = $1 and p.key = u.key"
	updatePast = `update nomen_past as p set salt = u.salt, value = u.value
	from ` + changeRows + " where p.kind = $1 and p.key = u.key and p.time = u.time and p.revision = u.revision"
	insertRows    = " (time, revision, kind, key, salt, value) select u.time, u.revision, $1::smallint, u.key, u.salt, u.value from " + changeRows
	insertPresent = "insert into nomen_present" + insertRows
	insertPast    = "insert into nomen_past" + insertRows
	// raiseFormat locks the row only if it changes the row, so that writers usually do not wait for
	// each other.
	raiseFormat = "update nomen_meta set format = $1 where id = 1 and format < $1"
	upsertToken = `insert into nomen_token (id, value) values ($1, $2)
	on conflict (id) do update set value = excluded.value`
	insertPending = "insert into nomen_pending (part, names, id, entries) values ($1, $2, $3, $4)"
	insertPlaces  = `insert into nomen_place (head, mark, key, rest)
	select u.head, u.mark, u.key, u.rest from unnest($1::bytea[], $2::bytea[], $3::text[], $4::bytea[]) as u(head, mark, key, rest)`
	deletePlaces = `delete from nomen_place where (head, mark, key) in (
	select u.head, u.mark, u.key from unnest($1::bytea[], $2::bytea[], $3::text[]) as u(head, mark, key))`
	readRevisions = `select time, revision, salt, value from nomen_present where kind = $1 and key = $2 and revision = any($3)
	union all
	select time, revision, salt, value from nomen_past where kind = $1 and key = $2 and revision = any($3)`
)

// queueStatements queues the statements for the steps of a plan. It reads the revisions that the
// steps redact from c. A later attempt can use the salt in the result to find out whether the
// changes were committed. If nothing is written, the salt is nil.
func queueStatements(ctx context.Context, c queryer, batch *pgx.Batch, p *plan) (doubt, error) {
	salts := make([]byte, store.SaltSize*len(p.steps))
	_, _ = rand.Read(salts) // Read never fails
	entries := make([]*store.Entry, len(p.steps))
	for i, step := range p.steps {
		entries[i] = &store.Entry{Change: step.Next}
		copy(entries[i].Salt[:], salts[i*store.SaltSize:])
	}
	d := doubt{plan: p}
	w := newRowWriter(batch)
	err := w.steps(ctx, c, p.steps, entries, func(row *changeRow, step store.Step, e *store.Entry) {
		d.subject, d.revision, d.salt = row.subject, row.revision, row.salt // the last step, because nothing in the plan redacts its salt
		w.pend(entryOf(row.subject, e), int(step.Next.Records()-step.Last.Records()))
	})
	w.flush()
	w.queueChanges()
	for _, kind := range changeKinds {
		w.rows(insertPast, kind, w.past)
		w.rows(insertPresent, kind, w.fresh)
	}
	for c := range slices.Chunk(w.come, maxRows) {
		heads, marks, keys, rests := placeColumns(c)
		w.batch.Queue(insertPlaces, heads, marks, keys, rests)
	}
	return d, err
}

var changeKinds = [...]store.Kind{store.KindName, store.KindAuthority, store.KindUser, store.KindTokenRights}

type rowWriter struct {
	batch *pgx.Batch
	id    [16]byte
	part  int

	moved                []store.Subject // subjects whose changes are copied from nomen_present to nomen_past
	past, changed, fresh []changeRow
	redacted             []changeRow // rows of nomen_past to be redacted
	gone, come           []place
	entries              []byte
	count, names         int // number of entries, and change of the number of names
}

func newRowWriter(batch *pgx.Batch) *rowWriter {
	w := &rowWriter{batch: batch}
	_, _ = rand.Read(w.id[:]) // Read never fails
	return w
}

func (w *rowWriter) steps(ctx context.Context, c queryer, steps []store.Step, entries []*store.Entry, show func(*changeRow, store.Step, *store.Entry)) error {
	if slices.ContainsFunc(steps, func(s store.Step) bool { return s.Next.HasValues() }) {
		w.batch.Queue(raiseFormat, valuesVersion)
	}
	if slices.ContainsFunc(steps, func(s store.Step) bool { return s.Subject.Kind == store.KindTokenRights }) {
		w.batch.Queue(raiseFormat, rightsVersion)
	}
	if slices.ContainsFunc(steps, func(s store.Step) bool { return s.Next.Split }) {
		w.batch.Queue(raiseFormat, splitVersion)
	}
	final := map[store.Subject]int{}
	for i, step := range steps {
		final[step.Subject] = i
	}
	first := map[store.Subject]*store.Change{}
	for i, step := range steps {
		s := step.Subject
		if s.Kind == store.KindToken {
			if final[s] == i {
				w.batch.Queue(upsertToken, []byte(s.Key), codec.Append(nil, step.Next))
			}
			continue
		}
		row := makeRow(s, entries[i])
		show(&row, step, entries[i])
		if err := w.redact(ctx, c, step); err != nil {
			return err
		}
		if _, ok := first[s]; !ok {
			if first[s] = step.Last; step.Last != nil {
				w.moved = append(w.moved, s)
			}
		}
		switch {
		case final[s] != i:
			w.past = append(w.past, row)
		case first[s] == nil:
			w.fresh = append(w.fresh, row)
			w.place(s, nil, step.Next)
		default:
			w.changed = append(w.changed, row)
			w.place(s, first[s], step.Next)
		}
	}
	return nil
}

// pend adds an entry that is not sealed yet.
func (w *rowWriter) pend(e entry, names int) {
	w.entries = e.appendTo(w.entries, len(e.leaf))
	w.count++
	w.names += names
	if w.count == maxEntries {
		w.flush()
	}
}

func (w *rowWriter) flush() {
	if w.count == 0 {
		return
	}
	w.batch.Queue(insertPending, w.part, w.names, w.id[:], w.entries)
	w.part++
	w.entries, w.count, w.names = nil, 0, 0
}

// redact removes the content of the revisions that a step redacts. A revision is in the database,
// or in the rows that the same transaction writes.
func (w *rowWriter) redact(ctx context.Context, c queryer, step store.Step) error {
	if len(step.Next.Redacts) == 0 {
		return nil
	}
	for i := range w.past {
		r := &w.past[i]
		if r.subject == step.Subject && slices.Contains(step.Next.Redacts, uint64(r.revision)) {
			if err := r.redact(); err != nil {
				return err
			}
		}
	}
	found, err := collect(ctx, c, func(r pgx.CollectableRow) (row changeRow, err error) {
		row.subject = step.Subject
		if err := r.Scan(&row.time, &row.revision, &row.salt, &row.value); err != nil {
			return row, err
		}
		return row, row.redact()
	}, readRevisions, step.Subject.Kind, step.Subject.Key, step.Next.Redacts)
	w.redacted = append(w.redacted, found...)
	return err
}

// place records the places that a change removes from the index, and those that it adds.
func (w *rowWriter) place(s store.Subject, before, after *store.Change) {
	if s.Kind == store.KindAuthority {
		return
	}
	was, is := places(before), places(after)
	for _, p := range was {
		if !slices.Contains(is, p) {
			w.gone = append(w.gone, p)
		}
	}
	for _, p := range is {
		if !slices.Contains(was, p) {
			w.come = append(w.come, p)
		}
	}
}

func (w *rowWriter) queueChanges() {
	for _, kind := range changeKinds {
		var keys []string
		for _, s := range w.moved {
			if s.Kind == kind {
				keys = append(keys, s.Key)
			}
		}
		for keys := range slices.Chunk(keys, maxRows) {
			w.batch.Queue(moveToPast, kind, keys)
		}
		w.rows(updatePast, kind, w.redacted)
		w.rows(updatePresent, kind, w.changed)
	}
	for c := range slices.Chunk(w.gone, maxRows) {
		heads, marks, keys, _ := placeColumns(c)
		w.batch.Queue(deletePlaces, heads, marks, keys)
	}
}

// rows queues a statement that writes the rows of a kind in the order of their keys. In different
// orders, transactions that create the same names could deadlock.
func (w *rowWriter) rows(sql string, kind store.Kind, all []changeRow) {
	rows := slices.DeleteFunc(slices.Clone(all), func(r changeRow) bool { return r.subject.Kind != kind })
	slices.SortStableFunc(rows, func(a, b changeRow) int { return cmp.Compare(a.subject.Key, b.subject.Key) })
	for len(rows) > 0 {
		n := someRows(rows)
		times, revisions := make([]int64, n), make([]int64, n)
		keys, salts, values := make([]string, n), make([][]byte, n), make([][]byte, n)
		for i, r := range rows[:n] {
			times[i], revisions[i], keys[i], salts[i], values[i] = r.time, r.revision, r.subject.Key, r.salt, r.value
		}
		w.batch.Queue(sql, kind, times, revisions, keys, salts, values)
		rows = rows[n:]
	}
}

func someRows(rows []changeRow) int {
	bytes := 0
	for i := range rows[:min(len(rows), maxRows)] {
		if bytes += len(rows[i].value); bytes > maxRowsBytes {
			return max(i, 1)
		}
	}
	return min(len(rows), maxRows)
}

// affected returns a callback that sets *n to the number of rows that a statement has changed.
func affected(n *int64) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		*n = tag.RowsAffected()
		return nil
	}
}
