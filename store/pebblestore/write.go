package pebblestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// ErrReadOnly is returned by Apply of a store that was opened for reading.
var ErrReadOnly = errors.New("pebblestore: opened for reading only")

// maxAhead is how many decided batches may wait for the disk.
const maxAhead = 1024

// A request is a batch on its way through decide and acknowledge.
type request struct {
	ctx     context.Context
	changes []store.Change // or
	entries []*store.Entry // of another store, which follow those that are here
	results []store.Result
	err     error
	batch   *pebble.Batch // what waits for the disk, if anything
	log     ledger.Log    // with what the batch has added to it
	scrub   []span        // where what the batch has redacted is still on disk
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
	r := &request{ctx: ctx, changes: changes}
	s.submit(r)
	return r.results, r.err
}

// submit has r decided and waits for the end of it.
func (s *Store) submit(r *request) {
	r.done = make(chan struct{})
	select {
	case s.requests <- r:
		<-r.done
	case <-r.ctx.Done():
		r.err = r.ctx.Err()
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
		if r.err = cmp.Or(s.failed(), s.logDamage, r.ctx.Err()); r.err == nil {
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
	w := s.writer(v)
	var steps []store.Step
	var refused error // the first entry that does not follow, and those after it
	if r.entries == nil {
		steps, r.results, err = store.Plan(r.changes, w.last)
	} else {
		steps, refused = w.follow(r.entries)
	}
	if err != nil || len(steps) == 0 {
		return cmp.Or(err, refused)
	}
	w.begin(s.db, steps)
	if err = w.fill(steps, r.entries); err == nil {
		err = s.db.ApplyNoSyncWait(w.batch, pebble.Sync)
	}
	if err != nil {
		return fmt.Errorf("pebblestore: %w", errors.Join(err, w.batch.Close()))
	}
	r.batch, r.log, r.scrub = w.batch, w.log, w.scrub
	s.log = w.log
	s.count.Store(w.count)
	return refused
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
		if r.batch != nil && s.failed() == nil {
			s.sealed.Store(&r.log)
			s.scrub(r.scrub)
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
