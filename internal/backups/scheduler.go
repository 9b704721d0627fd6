// Package backups makes backups of a store on a schedule. After a backup, it can check that the
// backup can be restored, run a command, and delete old backups.
package backups

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// Intervals and time limits of a [Scheduler].
const (
	firstRetry = time.Minute // wait after the first failure, which doubles after each other
	lastRetry  = time.Hour
	recheck    = time.Minute // how often to read the clock, because it can be set
)

// A Source is a store that can be backed up.
type Source interface {
	BackupLinked(ctx context.Context, dir, earlier string, progress func(done, total uint64)) error
	Head(ctx context.Context) (store.Head, error)
	ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error)
}

var _ Source = (*pebblestore.Store)(nil)

// A Tasks records the results of recurring tasks, for metrics.
type Tasks interface {
	Expect(task string, lastSuccess time.Time) // announces a task that has not run in this process
	Ran(task string, at time.Time, err error)  // reports the end of a task
}

// Names of the tasks of a [Scheduler].
const (
	TaskBackup    = "backup"
	TaskRehearsal = "rehearsal"
	TaskHook      = "hook"
)

// Options configure a [Scheduler]. All fields are required.
type Options struct {
	Source Source
	Data   string // data directory of the server, for the state
	Tasks  Tasks
	Now    func() time.Time
	Log    *slog.Logger
}

// A Scheduler makes the backups of a plan. It is safe for concurrent use.
type Scheduler struct {
	Options
	changed chan struct{} // signals that the plan was replaced, or that a failed backup should be repeated

	mu          sync.Mutex
	plan        *Plan
	state       State
	writeFailed bool // a failure to save the state was logged
	retry       bool // try again at once after a failure

	compared bool // disown was called; only for Run
}

// New returns a Scheduler without a plan. It reads the state of earlier runs.
func New(o Options) *Scheduler {
	k := &Scheduler{Options: o, changed: make(chan struct{}, 1)}
	var err error
	k.state, err = Read(o.Data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.Log.Warn("cannot read the state of earlier backups; no earlier backup will be deleted", "err", err, "moved", setAside(o.Data) == nil)
	}
	return k
}

// Set replaces the plan. The caller must have called [Plan.Complete] for the new plan. If p is nil,
// the Scheduler makes no more backups. A backup in progress still follows the old plan.
func (k *Scheduler) Set(p *Plan) {
	k.mu.Lock()
	same := k.plan.equal(p)
	k.plan = p
	k.mu.Unlock()
	if p != nil {
		k.expect(p)
	}
	if !same {
		k.wake()
	}
}

// Retry starts a new attempt at once if the last backup failed. It returns the reason for the
// failure. If the last backup succeeded, or if there is no plan, Retry does nothing and returns "".
func (k *Scheduler) Retry() (problem string) {
	k.mu.Lock()
	if k.plan != nil && k.state.Failures > 0 {
		k.retry, problem = true, k.state.Problem
	}
	k.mu.Unlock()
	if problem != "" {
		k.wake()
	}
	return problem
}

func (k *Scheduler) wake() {
	select {
	case k.changed <- struct{}{}:
	default: // a signal is pending
	}
}

// expect announces the tasks of a plan, with their last successes.
func (k *Scheduler) expect(p *Plan) {
	s, _ := k.State()
	var made, rehearsed, sent time.Time
	if b := s.Last(); b != nil {
		made = b.Made
	}
	if b := s.LastRehearsed(); b != nil {
		rehearsed = b.Rehearsed
	}
	if b := s.newest(func(b *Backup) bool { return !b.Sent.IsZero() }); b != nil {
		sent = b.Sent
	}
	k.Tasks.Expect(TaskBackup, made)
	if p.Rehearse > 0 {
		k.Tasks.Expect(TaskRehearsal, rehearsed)
	}
	if len(p.Hook) > 0 {
		k.Tasks.Expect(TaskHook, sent)
	}
}

// State returns the state of the backups. The result scheduled reports whether there is a plan.
func (k *Scheduler) State() (s State, scheduled bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state.clone(), k.plan != nil
}

// Run makes backups until ctx ends.
func (k *Scheduler) Run(ctx context.Context) {
	for {
		wait := k.step(ctx)
		var due <-chan time.Time
		if wait >= 0 {
			due = time.After(min(wait, recheck))
		}
		select {
		case <-ctx.Done():
			return
		case <-k.changed:
		case <-due:
		}
	}
}

// step does what is due, and returns how long to wait for the next step. If the result is negative,
// there is nothing to do until the plan changes.
func (k *Scheduler) step(ctx context.Context) time.Duration {
	k.mu.Lock()
	p := k.plan
	k.mu.Unlock()
	k.disown(ctx)
	if p == nil {
		k.update(func(s *State) {
			s.Plan, s.Next, s.Interval, s.Problem, s.Failures, s.Others = "", time.Time{}, 0, "", 0, 0
		})
		return -1
	}
	if next := k.due(p); next.After(k.Now()) {
		return next.Sub(k.Now())
	}
	err := k.attempt(ctx, p)
	k.countOthers(p)
	if ctx.Err() != nil { // after a shutdown, the next start continues the attempt
		return -1
	}
	k.update(func(s *State) {
		if s.Problem = ""; err != nil {
			s.Problem = err.Error()
			s.Failures++
		} else {
			s.Failures = 0
		}
	})
	next := k.due(p)
	if err != nil {
		k.Log.Error("backup failed", "to", p.To, "err", err, "retry", next.UTC().Truncate(time.Second))
	}
	return max(next.Sub(k.Now()), 0)
}

func (k *Scheduler) due(p *Plan) (next time.Time) {
	now := k.Now()
	k.update(func(s *State) {
		if plan := p.String(); s.Plan != plan { // a new plan may succeed where the old one failed
			s.Mount = s.Mount && s.To == p.To
			s.Plan, s.To, s.Interval, s.Failures, s.Problem = plan, p.To, p.Interval().Seconds(), 0, ""
		}
		last := time.Time{}
		if b := s.last(p.To); b != nil && b.Finished {
			last = b.Made
		}
		next = p.next(last, now)
		if s.Failures > 0 {
			wait := min(firstRetry<<min(s.Failures-1, 10), lastRetry, p.Interval())
			next = s.Attempted.Add(wait)
			switch {
			case k.retry:
				next = now
			case s.Attempted.After(now): // the clock was set back
				next = now.Add(wait)
			}
		}
		s.Next = next.UTC().Truncate(time.Second)
	})
	return next
}

// last returns the newest backup in a directory, good or not.
func (s *State) last(to string) *Backup {
	return s.newest(func(b *Backup) bool { return filepath.Dir(b.Dir) == to })
}

// attempt makes a backup. If the rehearsal or the hook of the last backup was interrupted, attempt
// finishes the last backup instead of making another one.
func (k *Scheduler) attempt(ctx context.Context, p *Plan) error {
	k.update(func(s *State) { s.Attempted, k.retry = k.Now().UTC(), false })
	unlock, err := k.lock(p)
	if err != nil {
		k.Tasks.Ran(TaskBackup, k.Now(), err)
		return err
	}
	defer unlock()
	if err := k.resume(ctx); err != nil {
		k.Tasks.Ran(TaskBackup, k.Now(), err)
		return err
	}
	k.forgetMissing(p)
	b := k.unfinished(p)
	if b == nil {
		b, err = k.back(ctx, p)
		if ctx.Err() == nil {
			k.Tasks.Ran(TaskBackup, k.Now(), err)
		}
		if err != nil {
			return err
		}
	}
	return k.finish(ctx, p, b)
}

// resume completes or removes a backup that a crash interrupted.
func (k *Scheduler) resume(ctx context.Context) error {
	s, _ := k.State()
	if s.Running == "" {
		return nil
	}
	ended := func(s *State) { s.Running = "" }
	if m, err := pebblestore.ReadManifest(s.Running); err == nil { // the backup was already complete
		if err = k.adopt(ctx, s.Running, m); err == nil {
			k.update(ended)
		}
		return err
	}
	k.update(ended)
	return durable.Unwritable(s.Running, pebblestore.RemoveUnfinished(s.Running))
}

// forgetMissing removes backups from the state that no longer exist on disk. A user may have
// deleted them, or the server was interrupted just after it had deleted them.
func (k *Scheduler) forgetMissing(p *Plan) {
	s, _ := k.State()
	for _, b := range s.Backups {
		if filepath.Dir(b.Dir) != p.To {
			continue
		}
		if _, err := os.Lstat(b.Dir); errors.Is(err, fs.ErrNotExist) && pebblestore.RemoveUnfinished(b.Dir) == nil {
			k.forget(b)
		}
	}
}

func (k *Scheduler) forget(b *Backup) {
	k.update(func(s *State) {
		s.Backups = slices.DeleteFunc(s.Backups, func(one *Backup) bool { return one.Dir == b.Dir })
	})
}

// unfinished returns the last backup if its rehearsal or hook was interrupted, and nil otherwise.
func (k *Scheduler) unfinished(p *Plan) *Backup {
	s, _ := k.State()
	if b := s.last(p.To); b != nil && !b.Finished {
		return b
	}
	return nil
}

const nameFormat = "nomen-20060102T150405Z"

func freeName(to string, now time.Time) (string, error) {
	base := filepath.Join(to, now.UTC().Format(nameFormat))
	for n, dir := 1, base; ; n, dir = n+1, fmt.Sprintf("%s-%d", base, n+1) {
		_, err := os.Lstat(dir)
		_, unfinished := os.Lstat(dir + ".new") // another server has begun a backup with this name
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		case err != nil && errors.Is(unfinished, fs.ErrNotExist):
			return dir, nil
		}
	}
}

func (k *Scheduler) back(ctx context.Context, p *Plan) (*Backup, error) {
	begun := k.Now()
	dir, err := freeName(p.To, begun)
	if err != nil {
		return nil, err
	}
	s, _ := k.State()
	earlier := ""
	if b := s.newest(func(b *Backup) bool { return b.good() && filepath.Dir(b.Dir) == p.To }); b != nil {
		earlier = b.Dir
	}
	k.update(func(s *State) { s.Running = dir })
	err = k.Source.BackupLinked(ctx, dir, earlier, nil)
	k.update(func(s *State) { s.Running = "" })
	if err != nil {
		return nil, durable.Unwritable(dir, err)
	}
	m, err := pebblestore.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	b := k.add(dir, m, begun, k.Now().Sub(begun))
	k.Log.Info("backup made", "dir", dir, "user", durable.CurrentUser(), "bytes", b.Bytes, "seconds", b.Seconds)
	return b, nil
}

func (k *Scheduler) add(dir string, m *pebblestore.Manifest, begun time.Time, took time.Duration) *Backup {
	b := &Backup{Dir: dir, Made: begun.UTC(), Seconds: max(took, 0).Seconds(), Bytes: m.Size(), Head: m.Head.String()}
	one := *b
	k.update(func(s *State) { s.Backups = append(s.Backups, &one) })
	return b
}

// finish rehearses a backup, runs the hook, and deletes old backups.
func (k *Scheduler) finish(ctx context.Context, p *Plan, b *Backup) error {
	if k.rehearsalDue(p, b) {
		found, err := k.rehearse(ctx, b.Dir)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.Tasks.Ran(TaskRehearsal, k.Now(), err)
		k.edit(b, func(b *Backup) {
			if b.Rehearsed, b.Problem = k.Now().UTC(), ""; err != nil {
				b.Rehearsed, b.Problem = time.Time{}, err.Error()
			}
		})
		if err != nil {
			k.edit(b, func(b *Backup) { b.Finished = true })
			return fmt.Errorf("%s: the rehearsal failed; earlier backups are kept: %w", b.Dir, err)
		}
		k.Log.Info("backup rehearsed", "dir", b.Dir, "changes", found.changes, "records", found.records, "resolved", found.resolved)
	}
	if len(p.Hook) > 0 {
		err := k.runHook(ctx, p, b.Dir)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.hookEnded(b, err)
	}
	k.edit(b, func(b *Backup) { b.Finished = true })
	k.deleteOld(p)
	return nil
}

func (k *Scheduler) hookEnded(b *Backup, err error) {
	k.Tasks.Ran(TaskHook, k.Now(), err)
	if err != nil {
		k.Log.Error("the hook of the backup failed", "dir", b.Dir, "err", err)
	}
	k.edit(b, func(b *Backup) {
		if b.Sent, b.HookError = k.Now().UTC(), ""; err != nil {
			b.Sent, b.HookError = time.Time{}, err.Error()
		}
	})
}

// rehearsalDue reports whether the backup must be rehearsed. After a failed rehearsal, every backup
// is rehearsed until a rehearsal succeeds.
func (k *Scheduler) rehearsalDue(p *Plan, b *Backup) bool {
	if p.Rehearse == 0 || !b.Rehearsed.IsZero() {
		return false
	}
	s, _ := k.State()
	since := 1
	for i := len(s.Backups) - 1; i >= 0; i-- {
		switch one := s.Backups[i]; {
		case one.Dir == b.Dir:
		case one.Problem != "":
			return true
		case !one.Rehearsed.IsZero():
			return since >= p.Rehearse
		default:
			since++
		}
	}
	return true
}

// deleteOld deletes the backups that the plan does not keep. It deletes only backups of this
// server: a backup must be in the state, and its manifest must have the head that the state
// records.
func (k *Scheduler) deleteOld(p *Plan) {
	s, _ := k.State()
	for _, b := range p.expired(s.Backups) {
		m, err := pebblestore.ReadManifest(b.Dir)
		if err == nil && m.Head.String() != b.Head {
			k.Log.Warn("another backup has replaced an old backup; the other backup is not deleted", "dir", b.Dir)
			k.forget(b)
			continue
		}
		if err == nil {
			err = pebblestore.RemoveBackup(b.Dir)
		}
		if err != nil {
			k.Log.Warn("cannot delete an old backup", "dir", b.Dir, "err", durable.Unwritable(b.Dir, err))
			continue
		}
		k.Log.Info("old backup deleted", "dir", b.Dir)
		k.forget(b)
	}
}

func (k *Scheduler) edit(b *Backup, change func(*Backup)) {
	change(b)
	k.update(func(s *State) {
		for _, one := range s.Backups {
			if one.Dir == b.Dir {
				change(one)
			}
		}
	})
}

// update calls change, and saves the state if it is different. Backups continue even if the state
// cannot be saved.
func (k *Scheduler) update(change func(*State)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.state.encode()
	change(&k.state)
	text := k.state.encode()
	if bytes.Equal(text, before) && !k.writeFailed {
		return
	}
	err := durable.Write(durable.Disk{Mode: durable.Private}, filepath.Join(k.Data, File), text)
	switch {
	case err != nil && !k.writeFailed:
		k.Log.Warn("cannot save the state of the backups", "err", err)
	case err == nil && k.writeFailed:
		k.Log.Info("the state of the backups is saved again")
	}
	k.writeFailed = err != nil
}
