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
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
)

const maxAhead = 1024

// A request is a batch of changes, or a task, for the goroutines decide and acknowledge.
type request struct {
	ctx     context.Context
	changes []store.Change // the changes passed to Apply; exactly one of changes, entries and task is set
	entries []*store.Entry // entries of another store, which continue this store's log
	results []store.Result
	err     error
	task    func() error  // a task for decide
	engine  *engine       // the engine that the batch is for
	batch   *pebble.Batch // the batch to sync; nil if there is nothing to write
	log     ledger.Log    // the log after the batch
	scrub   []span        // ranges of keys whose redacted content is still on disk
	done    chan struct{} // receives when results and err are final
	stage   atomic.Int32
}

// Stages of a request. If the disk hangs, the caller of Apply can give up a request, and may then
// reuse the changes. The writing goroutines must not read the changes of such a request.
const (
	stageWaits   = iota
	stagePlanned // the changes of the request are being read
	stageGivenUp
)

// begin marks the changes as being read. It returns false if the caller has given up the request.
func (r *request) begin() bool { return r.stage.CompareAndSwap(stageWaits, stagePlanned) }

// park marks the changes as not being read. The reading can continue after another call of begin.
func (r *request) park() { r.stage.CompareAndSwap(stagePlanned, stageWaits) }

// await waits for the result of the request. If the disk of e hangs, await gives up the request and
// returns false. From then on, only the goroutines decide and acknowledge may use the request.
func (r *request) await(e *engine) bool {
	select {
	case <-r.done:
		return true
	case <-e.disk.hung:
	}
	for !r.stage.CompareAndSwap(stageWaits, stageGivenUp) { // the changes are being read: wait for park, or for the result
		select {
		case <-r.done:
			return true
		case <-time.After(time.Millisecond):
		}
	}
	return false
}

// Apply implements [store.Store]. Cancelling the context does not stop a batch that is being
// written.
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

// SplitDigests implements [store.Splitter].
func (s *Store) SplitDigests(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	r := &request{ctx: ctx, done: make(chan struct{}, 1)}
	r.task = func() error {
		e, w := s.engine.Load(), &s.writer
		if err := cmp.Or(s.refusal(e), w.readFormat(e.db)); err != nil || w.format >= formatVersion {
			return err
		}
		w.format = 0 // until the disk has it
		return e.db.Set([]byte(metaFormat), encodeNumber(formatVersion), pebble.Sync)
	}
	select {
	case s.requests <- r:
		<-r.done
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) decide() {
	defer close(s.decided)
	for r := range s.requests {
		e := s.engine.Load()
		if r.task != nil {
			r.err = r.task()
		} else if r.err = cmp.Or(s.refusal(e), r.ctx.Err()); r.err == nil && r.begin() {
			r.err = e.disk.watched(func(watch *stopwatch) error { return s.write(e, r, watch) })
			r.park()
		}
		s.decided <- r
	}
}

// write writes the request r to the write-ahead log, without waiting for the sync. A large batch
// can take long, so the time limit applies to each change separately.
func (s *Store) write(e *engine, r *request, watch *stopwatch) error {
	w := &s.writer
	w.reads = &s.reads
	w.request, w.watch, w.turn = r, watch, pacer.Begin(r.ctx)
	if err := w.view.open(e.db); err != nil {
		return err
	}
	defer w.view.close()
	defer w.reset()
	w.log, w.count = s.log, s.count.Load()
	var steps []store.Step
	var err, refused error // refused is the error of the first entry that does not continue the log; steps are for the entries before it
	if r.entries == nil {
		if steps, r.results, err = w.plan.Plan(r.changes, w.last); err == nil {
			err = cmp.Or(store.CheckSubjects(r.changes, steps, e.owner), w.split(e.db, steps))
		}
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
	if err = cmp.Or(w.fill(steps, r.entries), w.raise(e.db, steps)); err == nil {
		s.look.since += w.batch.Len()
		r.park()
		watch.stop() // a slow flush has stopwatches of its own
		err = e.db.ApplyNoSyncWait(w.batch, pebble.Sync)
		s.reads.forget(steps)
		s.invalidations.InvalidateSteps(steps)
	}
	if err != nil {
		return fmt.Errorf("pebblestore: %w", errors.Join(err, w.batch.Close()))
	}
	r.engine, r.batch, r.log, r.scrub = e, w.batch, w.log, w.scrub
	s.log = w.log
	s.count.Store(w.count)
	return refused
}

// waiting calls a function that may wait for the disk. It is called while the changes of the request
// are planned. If the client has given up the request when the call ends, waiting returns an error,
// and the caller of waiting must not read the changes any more.
func (r *request) waiting(call func() error) error {
	r.park()
	err := call()
	if !r.begin() {
		return awayError(errHung)
	}
	return err
}

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

// acknowledge returns the results of requests in order, as soon as the requests are on disk. After
// a disk failure, all later requests of the same engine fail too, because they are based on changes
// that may be lost.
func (s *Store) acknowledge() {
	defer close(s.answered)
	for r := range s.decided {
		if e := r.engine; e != nil {
			if err := r.batch.SyncWait(); err != nil {
				e.disk.fail(err)
			}
			_ = r.batch.Close() // the batch was applied, so this only frees memory
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

type sealedLog struct {
	mu  sync.RWMutex
	log ledger.Log
}

func (s *sealedLog) set(log *ledger.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = *log
}

func (s *sealedLog) size() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.log.Size()
}

func (s *sealedLog) head() store.Head {
	s.mu.RLock()
	log := s.log
	s.mu.RUnlock()
	return log.Head()
}
