package pebblestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/store"
)

// ErrReadOnly is returned by Apply of a store that was opened for reading.
var ErrReadOnly = errors.New("pebblestore: opened for reading only")

// maxAhead is how many decided batches may wait for the disk.
const maxAhead = 1024

// A request is a batch on its way through decide and acknowledge.
type request struct {
	ctx     context.Context
	changes []store.Change
	results []store.Result
	err     error
	batch   *pebble.Batch // what waits for the disk, if anything
	done    chan struct{} // closed when results and err are final
}

// Apply implements [store.Store]. A context that ends while the batch is being
// written does not stop it.
func (s *Store) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if err := s.gate.enter(); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	if s.readOnly {
		return nil, ErrReadOnly
	}
	if err := store.CheckBatch(changes); err != nil {
		return nil, err
	}
	r := &request{ctx: ctx, changes: changes, done: make(chan struct{})}
	select {
	case s.requests <- r:
		<-r.done
		return r.results, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fail ends all writing. The first failure is the one that is told.
func (s *Store) fail(err error) {
	err = fmt.Errorf("pebblestore: the disk failed, nothing more is written: %w", err)
	s.failure.CompareAndSwap(nil, &err)
}

// failed returns the failure that ended all writing, if there was one.
func (s *Store) failed() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// decide works out what the requests lead to, one after the other, until there
// will be no more.
func (s *Store) decide() {
	defer close(s.decided)
	for r := range s.requests {
		if r.err = cmp.Or(s.failed(), r.ctx.Err()); r.err == nil {
			r.err = s.write(r)
		}
		s.decided <- r
	}
}

// write hands r to the write-ahead log, without waiting for the disk.
func (s *Store) write(r *request) error {
	v, err := newView(s.db)
	if err != nil {
		return err
	}
	defer v.close()
	steps, results, err := store.Plan(r.changes, v.last)
	if err != nil {
		return err
	}
	r.results = results
	if len(steps) == 0 {
		return nil
	}
	batch := s.db.NewBatch()
	count, err := s.fill(batch, steps)
	if err == nil {
		err = s.db.ApplyNoSyncWait(batch, pebble.Sync)
	}
	if err != nil {
		return fmt.Errorf("pebblestore: %w", err)
	}
	r.batch = batch
	s.count.Store(count)
	return nil
}

// fill puts steps into batch: what was the last change goes into the history. It
// returns how many records there will be.
func (s *Store) fill(batch *pebble.Batch, steps []store.Step) (int64, error) {
	count := s.count.Load()
	for _, step := range steps {
		count += records(step.Next) - records(step.Last)
		if err := s.put(batch, step); err != nil {
			return 0, err
		}
	}
	if count == s.count.Load() {
		return count, nil
	}
	return count, batch.Set([]byte(metaCount), encodeNumber(uint64(count)), nil)
}

// put writes one step. The buffers are those of decide's goroutine.
func (s *Store) put(batch *pebble.Batch, step store.Step) error {
	s.key = appendKey(s.key[:0], step.Subject)
	s.value = appendValue(s.value[:0], step.Next)
	if err := batch.Set(s.key, s.value, nil); err != nil {
		return err
	}
	if step.Last == nil || step.Subject.Kind == store.KindToken {
		return nil
	}
	s.key = appendStamp(appendHistory(s.key[:0], step.Subject), step.Last.Time, step.Last.Expected+1)
	s.value = appendValue(s.value[:0], step.Last)
	return batch.Set(s.key, s.value, nil)
}

// records returns how many records there are after c: one or none.
func records(c *store.Change) int64 {
	if c == nil || c.Record == nil {
		return 0
	}
	return 1
}

// acknowledge answers the requests in their order when all that was decided up
// to them is on disk. Once the disk has failed every answer is the failure, since
// the state that it would speak of may be lost.
func (s *Store) acknowledge() {
	defer close(s.answered)
	for r := range s.decided {
		if r.batch != nil {
			if err := r.batch.SyncWait(); err != nil {
				s.fail(err)
			}
			_ = r.batch.Close() // of a batch that is applied
		}
		if err := s.failed(); err != nil {
			r.err = err
		}
		if r.err != nil {
			r.results = nil
		}
		close(r.done)
	}
}
