package pebblestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/quiet"
	"github.com/nomen-project/nomen/store"
)

// The interval at which a store checks its directory, and the maximum time between two attempts to
// open a new engine. The time between attempts grows, because each attempt may replay a long
// write-ahead log.
const (
	watchEvery = time.Second
	maxReopen  = time.Minute

	damageAfter = time.Hour // if the store is damaged, it must be restored first
)

const causeDamage = "the store is damaged"

// A state records whether a store rejects changes at present, and why.
type state struct {
	mu     sync.Mutex
	err    error // why changes are rejected; nil if they are accepted
	cause  string
	since  time.Time
	lasted time.Duration // how long the last period of rejection lasted
	told   bool          // changes of the state are logged; set once the store is open

	logged  string // the cause that was last logged; "" if the last line said that changes are accepted
	changes int    // number of changes of the state since that line
	failed  uint64 // how often the store has begun to reject changes
	lines   quiet.Lines
}

// Condition implements [store.Watched].
func (s *Store) Condition() store.Condition {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	e := s.engine.Load()
	switch failed := e.disk.cause.Load(); {
	case s.state.err != nil:
		return away(s.state.err, s.state.since)
	case failed != nil: // the disk has failed, and away was not called yet
		return away(failed.err, failed.since)
	case e.damage != nil:
		return store.Condition{NoReads: e.missing == nil, NoWrites: true, Cause: causeDamage, Since: e.since}
	default:
		return store.Condition{NoWrites: s.readOnly}
	}
}

func away(err error, since time.Time) store.Condition {
	return store.Condition{NoReads: errors.Is(err, errGone), NoWrites: true, Full: errors.Is(err, syscall.ENOSPC), Cause: causeOf(err), Since: since}
}

// Damaged reports whether the store was damaged when it was opened. A damaged store rejects
// changes.
func (s *Store) Damaged() bool { return s.engine.Load().damage != nil }

func (s *state) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = true
}

func (s *Store) away(err error) {
	s.state.mu.Lock()
	cause := causeOf(err)
	if s.state.err == nil {
		s.state.since = time.Now()
		s.state.failed++
	}
	if cause != s.state.cause {
		s.state.changes++
	}
	s.state.err, s.state.cause = err, cause
	s.state.mu.Unlock()
	s.logState()
}

// back records that the store accepts changes again, with the engine e.
func (s *Store) back(e *engine) {
	s.state.mu.Lock()
	if s.state.err == nil || e.disk.err() != nil {
		s.state.mu.Unlock()
		return
	}
	s.state.lasted = time.Since(s.state.since)
	s.state.err, s.state.cause, s.state.since = nil, "", time.Time{}
	s.state.changes++
	s.state.mu.Unlock()
	s.logState()
}

// logState logs a change of the state. If too many such lines were logged recently, a later call
// logs the change.
func (s *Store) logState() {
	s.state.mu.Lock()
	err, cause, lasted := s.state.err, s.state.cause, s.state.lasted
	news := cause != s.state.logged
	if news = news && (!s.state.told || s.state.lines.Take(time.Now())); news {
		s.state.logged = cause
	}
	skipped, told := s.state.changes-1, s.state.told
	if news {
		s.state.changes = 0
	}
	s.state.mu.Unlock() // unlock first, because the log may be on the same disk
	if !news || !told || s.report == nil {
		return
	}
	log := s.report
	if skipped > 0 {
		log = log.With("suppressed", skipped)
	}
	if err != nil {
		log.Error("storage is unavailable: names are answered, changes are rejected until it can be written again", "cause", cause, "err", err)
	} else {
		log.Info("storage is back: changes are accepted", "away", lasted.Round(time.Millisecond))
	}
}

func (s *Store) noteRoom(e *engine) {
	if err := e.lookAtRoom(); err != nil {
		s.away(err)
	} else {
		s.back(e)
	}
}

// causeOf describes err in one line that may be shown to any client.
func causeOf(err error) string {
	full := (*FullError)(nil)
	switch {
	case errors.Is(err, errGone), errors.Is(err, errLost), errors.Is(err, ErrLocked), errors.Is(err, errHung):
		return firstOf(err, errGone, errLost, ErrLocked, errHung).Error()
	case errors.As(err, &full) && full.Inodes:
		return "the disk has no inodes left"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	case errors.Is(err, syscall.EDQUOT):
		return "the disk quota is exhausted"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	case errors.Is(err, syscall.EIO):
		return "the disk has an I/O error"
	default:
		return "the disk cannot be written"
	}
}

// firstOf returns the first of the given errors that err wraps. There must be such an error.
func firstOf(err error, of ...error) error {
	return of[slices.IndexFunc(of, func(e error) bool { return errors.Is(err, e) })]
}

// isUnwritable reports whether err means that a directory cannot be written, even if it can be
// read.
func isUnwritable(err error) bool {
	for _, no := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ESHUTDOWN, errHung} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

func (s *Store) refusal(e *engine) error {
	if s.readOnly {
		return store.ErrReadOnly
	}
	if e.damage != nil {
		return &store.AwayError{Cause: causeDamage, After: damageAfter, Err: e.damage}
	}
	if !e.readOnly && e.disk.err() == nil {
		return nil
	}
	s.state.mu.Lock()
	err := s.state.err
	s.state.mu.Unlock()
	if err == nil {
		err = e.disk.err()
	}
	return awayError(err)
}

func (e *engine) failure() error {
	if err := e.disk.err(); err != nil {
		return awayError(err)
	}
	return nil
}

func awayError(err error) error {
	return &store.AwayError{Cause: causeOf(err), After: 5 * watchEvery, Err: err}
}

// unreadable converts the error err of reading a key. For damaged data it returns a
// [*CorruptError], and for a failed disk an [*store.AwayError].
func unreadable(key string, err error) error {
	if pebble.IsCorruptionError(err) {
		return &CorruptError{Key: key, Reason: "cannot be read: " + firstLine(err)}
	}
	err = fmt.Errorf("pebblestore: %q cannot be read: %w", key, err)
	if isUnwritable(err) || errors.Is(err, fs.ErrNotExist) {
		return &store.AwayError{Cause: "the disk cannot be read", After: 5 * watchEvery, Err: err}
	}
	return err
}

// watch checks the directory of the store until ctx ends. It detects that the directory is missing
// or cannot be written. When the directory can be written again, watch requests that another engine
// is opened.
func (s *Store) watch(ctx context.Context) {
	every, pause, next := s.options.watch, time.Duration(0), time.Time{}
	if every == 0 {
		every = watchEvery
	}
	for wait(ctx, every) {
		s.reads.expire()
		s.logState()
		e := s.engine.Load()
		if !e.readOnly && e.disk.timed(func() error { return s.inspect(e) }) == nil {
			if time.Since(next) > maxReopen {
				pause = 0
			}
			continue
		}
		if time.Now().Before(next) {
			continue
		}
		err := s.tryWrites(e)
		if err == nil {
			err = s.submitReopen()
			pause = min(max(2*pause, every), maxReopen)
			next = time.Now().Add(pause)
		}
		if err != nil {
			s.away(err)
		}
	}
}

func (s *Store) inspect(e *engine) error {
	if err := e.disk.check(); err != nil {
		s.away(err)
		return err
	}
	if e.disk.first != nil {
		if files, err := statfs(s.dir); err != nil {
			e.disk.fail(err)
		} else if files.readOnly {
			e.disk.fail(syscall.EROFS)
		}
	}
	if err := e.disk.err(); err != nil {
		return err
	}
	if e.damage == nil {
		s.noteRoom(e)
	}
	return nil
}

func (s *Store) tryWrites(e *engine) error {
	if !e.disk.same() {
		return errGone
	}
	if err := e.disk.err(); err != nil && e.disk.isBusy() {
		return err
	}
	return e.disk.timed(func() error { return cmp.Or(e.lookAtRoom(), tryWrite(s.fs, s.dir)) })
}

// errLost is the reason why the store still rejects changes after its directory has become
// writable.
var errLost = errors.New("acknowledged changes are missing in the directory: restore a backup, or restart the server to accept what is there")

// submitReopen makes the goroutine decide open another engine, and waits for the result.
func (s *Store) submitReopen() error {
	r := &request{ctx: context.Background(), task: s.reopen, done: make(chan struct{}, 1)}
	s.requests <- r
	<-r.done
	return r.err
}

// reopen replaces an engine whose disk has failed. The new engine recovers the data on disk, which
// must include every acknowledged change. Only the goroutine decide may call reopen.
func (s *Store) reopen() error {
	barrier := &request{ctx: context.Background(), done: make(chan struct{}, 1)}
	s.decided <- barrier
	<-barrier.done // wait until everything passed to the old engine is answered
	old := s.engine.Load()
	s.lock.lenient = false
	if old.readOnly { // the old engine may not have the lock if the file system was read-only
		if _, err := s.lock.take(s.fs, s.fs.PathJoin(s.dir, lockFile)); err != nil {
			return err
		}
	}
	e, err := s.openEngine(false)
	if err != nil {
		return err
	}
	if err := e.extends(s.sealed.head()); err != nil {
		return errors.Join(err, e.close())
	}
	s.install(e)
	e.run(s, s.options.Warm)
	s.back(e)
	old.scrubs.Wait() // the compactions stopped when the disk failed
	e.scrub(old.unscrubbed)
	s.retired.Go(func() {
		old.gate.Close()
		_ = old.close() // an error does not matter: its disk has failed
	})
	return nil
}

// extends returns errLost unless the log of e begins with the log that has the head h.
func (e *engine) extends(h store.Head) error {
	if e.damage != nil || e.log.Size() < h.Size {
		return errLost
	}
	log, err := ledger.Open(h.Size, source{e.db})
	if err != nil {
		return err
	}
	if log.Head() != h {
		return errLost
	}
	return nil
}
