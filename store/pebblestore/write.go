package pebblestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// ErrReadOnly is returned by Apply of a store that was opened for reading.
var ErrReadOnly = store.ErrReadOnly

// maxAhead is how many decided batches may wait for the disk.
const maxAhead = 1024

// A request is a batch on its way through decide and acknowledge.
type request struct {
	ctx     context.Context
	changes []store.Change // or
	entries []*store.Entry // of another store, which follow those that are here
	results []store.Result
	err     error
	task    func() error  // or what decide is to do
	engine  *engine       // that has batch
	batch   *pebble.Batch // what waits for the disk, if anything
	log     ledger.Log    // with what the batch has added to it
	scrub   []span        // where what the batch has redacted is still on disk
	done    chan struct{} // told when results and err are final
	stage   atomic.Int32
}

// The stages of a request. Who submitted it can give it up while it waits, and nothing
// reads its changes afterwards: a disk that hangs must not keep anybody.
const (
	stageWaits   = iota
	stagePlanned // its changes are being read
	stageGivenUp
)

// begin begins to read the changes of a request, and reports false if it was given up.
func (r *request) begin() bool { return r.stage.CompareAndSwap(stageWaits, stagePlanned) }

// park ends that, for now or for good.
func (r *request) park() { r.stage.CompareAndSwap(stagePlanned, stageWaits) }

// await waits for the answer to r, and reports false if it was given up because the disk of
// e hangs. Then r belongs to decide and acknowledge.
func (r *request) await(e *engine) bool {
	select {
	case <-r.done:
		return true
	case <-e.disk.hung:
	}
	for !r.stage.CompareAndSwap(stageWaits, stageGivenUp) { // it is being read, which takes no time without the disk
		select {
		case <-r.done:
			return true
		case <-time.After(time.Millisecond):
		}
	}
	return false
}

// Apply implements [store.Store]. A context that ends while the batch is being
// written does not stop it.
func (s *Store) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	if err := s.refusal(s.engine.Load()); err != nil {
		return nil, err
	}
	if err := store.CheckBatch(changes); err != nil {
		return nil, err
	}
	return s.submit(ctx, changes, nil)
}

// submit has a batch, of changes or of entries, decided and waits for the end of it.
func (s *Store) submit(ctx context.Context, changes []store.Change, entries []*store.Entry) ([]store.Result, error) {
	r, ok := s.idle.Get().(*request)
	if !ok {
		r = &request{done: make(chan struct{}, 1)}
	}
	r.ctx, r.changes, r.entries = ctx, changes, entries
	e := s.engine.Load()
	select {
	case s.requests <- r:
		if !r.await(e) {
			return nil, e.failure()
		}
	case <-ctx.Done():
		r.err = ctx.Err()
	case <-e.disk.hung:
		r.err = e.failure()
	}
	results, err := r.results, r.err
	*r = request{done: r.done}
	s.idle.Put(r)
	return results, err
}

// decide works out what the requests lead to, one after the other, until there
// will be no more.
func (s *Store) decide() {
	defer close(s.decided)
	for r := range s.requests {
		e := s.engine.Load()
		if r.task != nil {
			r.err = r.task()
		} else if r.err = cmp.Or(s.refusal(e), r.ctx.Err()); r.err == nil && r.begin() {
			r.err = e.disk.timed(func() error { return s.write(e, r) })
			r.park()
		}
		s.decided <- r
	}
}

// write hands r to the write-ahead log, without waiting for the disk.
func (s *Store) write(e *engine, r *request) error {
	w := &s.writer
	w.request = r
	if err := w.view.open(e.db); err != nil {
		return err
	}
	defer w.view.close()
	defer w.reset()
	w.log, w.count = s.log, s.count.Load()
	var steps []store.Step
	var err, refused error // refused: the first entry that does not follow, and those after it
	if r.entries == nil {
		steps, r.results, err = w.plan.Plan(r.changes, w.last)
	} else {
		steps, refused = w.follow(r.entries)
	}
	if err != nil || len(steps) == 0 {
		return cmp.Or(err, refused)
	}
	if err := r.waiting(func() error { return s.hasRoom(e) }); err != nil {
		return err
	}
	w.begin(e.db.DB, steps)
	if err = w.fill(steps, r.entries); err == nil {
		s.look.since += w.batch.Len()
		r.park()
		err = e.db.ApplyNoSyncWait(w.batch, pebble.Sync)
	}
	if err != nil {
		return fmt.Errorf("pebblestore: %w", errors.Join(err, w.batch.Close()))
	}
	r.engine, r.batch, r.log, r.scrub = e, w.batch, w.log, w.scrub
	s.log = w.log
	s.count.Store(w.count)
	return refused
}

// waiting makes a call that can wait for the disk while the changes of r are planned. If
// r was given up meanwhile they must not be read any more, which is the error.
func (r *request) waiting(call func() error) error {
	r.park()
	err := call()
	if !r.begin() {
		return awayError(errHung)
	}
	return err
}

// hasRoom returns an error if the disk has too little room for a change.
func (s *Store) hasRoom(e *engine) error {
	was := s.look.err
	err := s.look.check(time.Now(), e.lookAtRoom)
	switch {
	case err != nil:
		s.away(err)
		return awayError(err)
	case was != nil:
		s.back(e)
	}
	return nil
}

// records returns how many records there are after c: one or none.
func records(c *store.Change) int64 {
	if c == nil || c.Record == nil {
		return 0
	}
	return 1
}

// acknowledge answers the requests in their order when all that was decided up
// to them is on disk. Once the disk has failed every answer of its engine is the
// failure, since the state that it would speak of may be lost.
func (s *Store) acknowledge() {
	defer close(s.answered)
	for r := range s.decided {
		if e := r.engine; e != nil {
			if err := r.batch.SyncWait(); err != nil {
				e.disk.fail(err)
			}
			_ = r.batch.Close() // of a batch that is applied
			if err := e.disk.err(); err != nil {
				r.err = awayError(err)
			} else {
				s.sealed.set(&r.log)
				e.scrub(r.scrub)
			}
		}
		if r.err != nil {
			r.results = nil
		}
		r.done <- struct{}{}
	}
}

// A sealed is the log as far as it is on disk, for all goroutines.
type sealed struct {
	mu  sync.RWMutex
	log ledger.Log
}

func (s *sealed) set(log *ledger.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = *log
}

func (s *sealed) size() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.log.Size()
}

func (s *sealed) head() store.Head {
	s.mu.RLock()
	log := s.log
	s.mu.RUnlock()
	return log.Head()
}
