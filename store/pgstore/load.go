package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

// Limits on the entries that are loaded in one transaction.
const (
	loadEntries = 32 << 10
	loadBytes   = 32 << 20
)

// Load implements [store.Loader]. It uses COPY.
func (s *Store) Load(ctx context.Context, entries iter.Seq2[*store.Entry, error]) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.readOnly {
		return store.ErrReadOnly
	}
	server, err := s.cluster.forWriting()
	if err == nil {
		err = server.long.with(ctx, func(c *pgx.Conn) error {
			l := &loader{ctx: ctx, c: c, store: s}
			return l.load(entries)
		})
	}
	return failed("load", ended(ctx, err))
}

type loader struct {
	ctx   context.Context
	c     *pgx.Conn
	store *Store
	edge  *edge
	fence int64

	given  uint64 // number of entries received so far
	batch  []*store.Entry
	weight int // size of the changes in batch, in bytes
	buf    []byte
}

func (l *loader) load(entries iter.Seq2[*store.Entry, error]) error {
	var err error
	if l.edge, l.fence, err = readState(l.ctx, l.c); err != nil {
		return err
	}
	compare := &comparer{loader: l}
	for e, err := range entries {
		if err == nil {
			err = l.ctx.Err()
		}
		if err == nil && e.Seq != l.given+1 {
			err = &store.EntryError{Seq: e.Seq, Reason: fmt.Sprintf("expected change %d", l.given+1)}
		}
		switch {
		case err != nil:
		case e.Seq <= l.edge.log.Size():
			err = compare.same(e)
		default:
			err = l.add(e)
		}
		if err != nil {
			return l.giveUp(err)
		}
		l.given++
	}
	if size := l.edge.log.Size(); size > l.given {
		return &store.EntryError{Seq: l.given + 1, Reason: "the store has more changes than were given"}
	}
	return l.flush()
}

// giveUp writes the entries that precede the error err, and returns err.
func (l *loader) giveUp(err error) error {
	if l.ctx.Err() != nil {
		return err
	}
	return errors.Join(err, l.flush())
}

func readState(ctx context.Context, c queryer) (*edge, int64, error) {
	var fence int64
	var size uint64
	if err := c.QueryRow(ctx, "select fence, size from nomen_head where id = 1").Scan(&fence, &size); err != nil {
		return nil, 0, err
	}
	e, err := readEdge(ctx, c, size)
	return e, fence, err
}

func (l *loader) add(e *store.Entry) error {
	l.batch = append(l.batch, e)
	if e.Change != nil {
		l.buf = codec.Append(l.buf[:0], e.Change)
		l.weight += len(l.buf)
	}
	if len(l.batch) < loadEntries && l.weight < loadBytes {
		return nil
	}
	return l.flush()
}

// flush writes the batch. It stops at the first entry that cannot follow the previous entries.
func (l *loader) flush() error {
	batch := l.batch
	l.batch, l.weight = nil, 0
	if len(batch) == 0 {
		return nil
	}
	wrong, err := l.try(batch, false)
	if state(err) == uniqueViolation { // a first revision of a subject that already exists
		wrong, err = l.try(batch, true)
	}
	return cmp.Or(err, wrong)
}

// try writes the entries before the first entry that cannot follow the previous entries. The result
// wrong is the error about this entry. The parameter ask is passed to plan as search.
func (l *loader) try(batch []*store.Entry, ask bool) (wrong, err error) {
	steps, wrong, err := l.plan(batch, ask)
	if err != nil {
		return nil, err
	}
	if err := l.write(steps, batch[:len(steps)]); err != nil {
		return nil, err
	}
	l.store.recent.wrote(steps)
	return wrong, nil
}

// plan returns the steps for the entries before the first wrong entry. If an entry is the first
// revision of its subject, plan assumes that the subject is not in the store. If search is true,
// plan reads such subjects from the store, too.
func (l *loader) plan(batch []*store.Entry, search bool) (steps []store.Step, wrong, err error) {
	subjects := map[store.Kind][]string{}
	seen := map[store.Subject]bool{}
	for _, e := range batch {
		if e.Change == nil || e.Change.Token != nil {
			continue // Follow reports the error below
		}
		if s := e.Change.Subject(); !seen[s] && printable(s.Key) {
			seen[s] = true
			if search || e.Change.Expected > 0 {
				subjects[s.Kind] = append(subjects[s.Kind], s.Key)
			}
		}
	}
	last, err := load(l.ctx, l.c, subjects, "")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range batch {
		step, err := store.Follow(e, func(s store.Subject) (*store.Change, error) { return last[s], nil })
		if err == nil {
			l.buf, err = codec.CheckDigest(l.buf, e, step.Next)
		}
		if err != nil {
			return steps, err, nil
		}
		last[step.Subject] = step.Next
		steps = append(steps, step)
	}
	return steps, nil, nil
}

// write writes the steps in one transaction. The transaction locks the head of the log, so that no
// other changes are sealed meanwhile.
func (l *loader) write(steps []store.Step, given []*store.Entry) error {
	if len(steps) == 0 {
		return nil
	}
	entries := make([]*store.Entry, len(given))
	for i, e := range given {
		entries[i] = &store.Entry{Change: steps[i].Next, Salt: e.Salt, Digest: e.Digest}
	}
	w, edge := newRowWriter(&pgx.Batch{}), l.edge.clone()
	var rows []logRow
	names := 0
	err := w.steps(l.ctx, l.c, steps, entries, func(row *changeRow, step store.Step, e *store.Entry) {
		entry := entryOf(row.subject, e)
		rows = edge.add(rows, &entry)
		names += int(step.Next.Records() - step.Last.Records())
	})
	if err != nil {
		return err
	}
	w.queueChanges()
	if slices.ContainsFunc(steps, func(s store.Step) bool { return s.Subject.Kind == store.KindUser }) {
		w.batch.Queue(lockUsers, usersVersion)
	}
	defer rollback(l.c)
	if err := l.raise(edge, names); err != nil {
		return err
	}
	if err := l.c.SendBatch(l.ctx, w.batch).Close(); err != nil {
		return err
	}
	if err := l.copy(w, edge.open(rows)); err != nil {
		return err
	}
	if err := commit(l.ctx, l.c); err != nil {
		return err
	}
	l.edge, l.fence = edge, l.fence+1
	return nil
}

// raise begins a transaction, and changes the head of the log. It returns a [*store.EntryError] if
// the store has changes that were not loaded.
func (l *loader) raise(e *edge, names int) error {
	head := e.log.Head()
	batch := &pgx.Batch{}
	batch.Queue(begin)
	var raised int64
	batch.Queue(raiseHead, l.fence, l.edge.log.Size(), head.Size, names, head.Hash[:], l.store.sealer.node, sealLease.Milliseconds()).Exec(affected(&raised))
	var waiting bool
	batch.Queue("select exists(select 1 from nomen_pending)").QueryRow(func(r pgx.Row) error { return r.Scan(&waiting) })
	if err := l.c.SendBatch(l.ctx, batch).Close(); err != nil {
		return err
	}
	if raised != 1 || waiting {
		return &store.EntryError{Seq: l.edge.log.Size() + 1, Reason: "the store has changes that were not loaded: another client is writing to it"}
	}
	return nil
}

func (l *loader) copy(w *rowWriter, rows []logRow) error {
	for table, rows := range map[string][]changeRow{"nomen_present": w.fresh, "nomen_past": w.past} {
		err := copyRows(l, table, rows, func(r *changeRow) []any {
			return []any{r.time, r.revision, int16(r.subject.Kind), r.subject.Key, r.salt, r.value}
		}, "time", "revision", "kind", "key", "salt", "value")
		if err != nil {
			return err
		}
	}
	err := copyRows(l, "nomen_place", w.come, func(p *place) []any {
		return []any{[]byte(p.head), p.mark(), p.key, []byte(p.rest)}
	}, "head", "mark", "key", "rest")
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, row := range rows {
		batch.Queue(putLog, row.chunk, row.entries, row.hashes)
	}
	return l.c.SendBatch(l.ctx, batch).Close()
}

// copyRows writes rows to a table. The function columnsOf returns the columns of a row.
func copyRows[T any](l *loader, table string, rows []T, columnsOf func(*T) []any, columns ...string) error {
	_, err := l.c.CopyFrom(l.ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		return columnsOf(&rows[i]), nil
	}))
	return err
}

type comparer struct {
	loader *loader
	page   []*store.Entry
}

func (c *comparer) same(e *store.Entry) error {
	if len(c.page) == 0 {
		var err error
		if c.page, err = readFeed(c.loader.ctx, c.loader.c, c.loader.given, c.loader.edge.log.Size()); err != nil {
			return err
		}
	}
	there := c.page[0]
	c.page = c.page[1:]
	return codec.CheckSame(e, there)
}
