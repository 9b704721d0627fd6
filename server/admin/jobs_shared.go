package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/store"
)

// Times of the lease that shows other servers that this server is running. A server that cannot
// extend its lease in time interrupts its jobs, because the other servers then mark them as
// interrupted.
const (
	jobLease   = 30 * time.Second
	renewLease = 5 * time.Second
	tendTime   = 10 * time.Second // maximum time of one step in the background
)

// maxJobConflicts limits the attempts to change jobs while other servers are changing jobs too.
const maxJobConflicts = 20

var errJobsBusy = &store.AwayError{Cause: "other servers are changing jobs", Err: store.ErrJobChanged}

// A sharedJobs stores the jobs of a jobTable in a store that several servers share. The table has a
// copy of all jobs. The server that runs a job is its owner. Until the job has ended, only the
// owner changes it, and other servers can only request its end. The mutex writing of the table
// guards all fields except the lists at the end, which mu guards.
type sharedJobs struct {
	jobStore store.JobStore
	run      string            // identifies this run of this server as the owner of jobs
	rows     map[string]uint64 // number of the last known write of each job
	head     uint64            // number of the last known write of all jobs
	again    bool              // read all jobs again after an abandoned change
	adopted  bool              // adopt has moved the jobs in the directory to the store
	renewed  time.Time         // when the lease was last extended
	tended   time.Time

	touched []*job
	removed []string
	dropped []string // IDs of jobs whose uploaded files are no longer needed
}

func (sh *sharedJobs) lease() string { return "jobs." + sh.run }

func (js *jobTable) owner() string {
	if js.shared == nil {
		return ""
	}
	return js.shared.run
}

func (js *jobTable) owns(j *job) bool { return j.Owner == js.owner() }

func (js *jobTable) runs(j *job) bool { return j.State == adminapi.JobRunning && js.owns(j) }

// touch marks a job of another server as changed. The caller must hold mu.
func (js *jobTable) touch(j *job) {
	if js.shared == nil {
		js.saveSoon(j)
	} else if !slices.Contains(js.shared.touched, j) {
		js.shared.touched = append(js.shared.touched, j)
	}
}

// change calls f with mu held. If jobs are shared, change first reads their current state, and then
// stores the jobs that f adds, touches or removes. If change returns an error, no job has changed.
// It may call f several times.
func (js *jobTable) change(ctx context.Context, f func() error) error {
	if js.shared == nil {
		js.mu.Lock()
		defer js.mu.Unlock()
		return f()
	}
	js.writing.Lock()
	defer js.writing.Unlock()
	for range maxJobConflicts {
		err := js.sync(ctx)
		if err == nil {
			err = js.attempt(ctx, f)
		}
		if !errors.Is(err, store.ErrJobChanged) {
			return err
		}
	}
	return errJobsBusy
}

// attempt makes one attempt at a change. The caller must hold js.writing.
func (js *jobTable) attempt(ctx context.Context, f func() error) error {
	sh := js.shared
	js.mu.Lock()
	sh.touched, sh.removed, sh.dropped = nil, nil, nil
	err := f()
	rows := js.encode(sh.touched)
	for _, id := range sh.removed {
		rows = append(rows, store.JobRow{ID: id, Seq: sh.rows[id]})
	}
	js.mu.Unlock()
	if err == nil {
		err = js.put(ctx, rows)
	}
	if err != nil {
		js.abandon()
		return err
	}
	for _, id := range sh.dropped {
		if err := sh.jobStore.DropJobFile(ctx, id, fileOf(uploadSuffix)); err != nil {
			js.log.Info("the file of a job remains until the job is removed", "job", id, "err", err)
		}
	}
	return nil
}

// abandon removes the jobs that a failed change has touched. They are restored by the next read.
func (js *jobTable) abandon() {
	js.mu.Lock()
	defer js.mu.Unlock()
	sh := js.shared
	for _, j := range sh.touched {
		delete(sh.rows, j.ID)
	}
	for _, id := range sh.removed {
		delete(sh.rows, id)
	}
	js.all = slices.DeleteFunc(js.all, func(j *job) bool { return slices.Contains(sh.touched, j) })
	sh.again = sh.again || len(sh.touched)+len(sh.removed) > 0
}

// encode converts jobs to rows of the store. The caller must hold mu.
func (js *jobTable) encode(all []*job) (rows []store.JobRow) {
	for _, j := range all {
		if slices.Contains(js.shared.removed, j.ID) {
			continue
		}
		b, err := json.Marshal(savedJobs{jobsVersion, []*job{j}})
		if err != nil {
			panic("admin: internal error: " + err.Error())
		}
		j.dirty = false
		rows = append(rows, store.JobRow{ID: j.ID, Seq: js.shared.rows[j.ID], Body: b})
	}
	return rows
}

// put stores rows. The caller must hold js.writing.
func (js *jobTable) put(ctx context.Context, rows []store.JobRow) error {
	if len(rows) == 0 {
		return nil
	}
	if err := js.hold(ctx); err != nil {
		return err
	}
	seq, err := js.shared.jobStore.PutJobs(ctx, js.shared.head, rows...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if js.shared.rows[r.ID] = seq; r.Body == nil {
			delete(js.shared.rows, r.ID)
		}
	}
	return nil
}

// hold renews the lease of this server if necessary. The caller must hold js.writing.
func (js *jobTable) hold(ctx context.Context) error {
	sh, now := js.shared, time.Now()
	if now.Sub(sh.renewed) < renewLease {
		return nil
	}
	if _, err := sh.jobStore.Lease(ctx, sh.lease(), sh.run, jobLease); err != nil {
		return err
	}
	sh.renewed = now
	return nil
}

// refresh reads the jobs that other servers have changed.
func (js *jobTable) refresh(ctx context.Context) error {
	if js.shared == nil {
		return nil
	}
	js.writing.Lock()
	defer js.writing.Unlock()
	return js.pull(ctx)
}

// sync reads the jobs that other servers have changed, and stores the jobs of this server. The
// caller must hold js.writing.
func (js *jobTable) sync(ctx context.Context) (err error) {
	for range maxJobConflicts {
		if err = js.pull(ctx); err != nil {
			return err
		}
		if err = js.push(ctx); !errors.Is(err, store.ErrJobChanged) {
			return err
		}
	}
	return errJobsBusy
}

// push stores the jobs that have changed on this server. The caller must hold js.writing.
func (js *jobTable) push(ctx context.Context) error {
	js.mu.Lock()
	var all []*job
	for _, j := range js.all {
		if j.dirty && js.owns(j) {
			all = append(all, j)
		}
	}
	js.shared.removed = nil
	rows := js.encode(all)
	js.mu.Unlock()
	err := js.put(ctx, rows)
	if err != nil {
		js.mu.Lock()
		for _, j := range all {
			j.dirty = true
		}
		js.mu.Unlock()
	}
	return err
}

// pull reads the jobs that other servers have changed. The caller must hold js.writing.
func (js *jobTable) pull(ctx context.Context) error {
	sh := js.shared
	if err := js.adopt(ctx); err != nil {
		return err
	}
	after := sh.head
	if sh.again {
		after = 0
	}
	rows, head, err := sh.jobStore.Jobs(ctx, after)
	if err != nil {
		return err
	}
	js.mu.Lock()
	js.merge(rows)
	js.mu.Unlock()
	sh.head, sh.again = head, false
	return js.bury(ctx)
}

// merge copies jobs from the store to the table. The caller must hold mu.
func (js *jobTable) merge(rows []store.JobRow) {
	sh, exists := js.shared, map[string]bool{}
	for _, r := range rows {
		if exists[r.ID] = true; r.Body == nil || sh.rows[r.ID] == r.Seq {
			continue
		}
		sh.rows[r.ID] = r.Seq
		var saved savedJobs
		if err := json.Unmarshal(r.Body, &saved); err != nil || saved.Version != jobsVersion || len(saved.Jobs) != 1 || saved.Jobs[0].ID != r.ID {
			js.log.Warn("cannot read a job of another server", "job", r.ID, "version", saved.Version, "err", err)
			continue
		}
		js.take(saved.Jobs[0])
	}
	js.all = slices.DeleteFunc(js.all, func(j *job) bool {
		if !exists[j.ID] {
			delete(sh.rows, j.ID)
		}
		return !exists[j.ID]
	})
	slices.SortStableFunc(js.all, func(a, b *job) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
}

// take copies a job from the store to the table. If this server runs the job, take copies only the
// request to end the job. The caller must hold mu.
func (js *jobTable) take(next *job) {
	next.ended = make(chan struct{})
	close(next.ended)
	i := slices.IndexFunc(js.all, func(j *job) bool { return j.ID == next.ID })
	if i < 0 {
		js.all = append(js.all, next)
		return
	}
	j := js.all[i]
	if !js.owns(j) || j.cancel == nil || !js.runs(j) && !j.dirty {
		js.all[i] = next
		return
	}
	j.dirty = true // makes push store the state of this server again
	switch {
	case !js.runs(j):
	case next.Stop:
		j.cancel(errJobCancelled)
	case next.State != adminapi.JobRunning || next.Owner != j.Owner:
		j.cancel(errJobInterrupted)
	}
}

// bury marks jobs as interrupted if the servers that ran them have ended. The caller must hold
// js.writing.
func (js *jobTable) bury(ctx context.Context) error {
	gone, err := js.gone(ctx)
	if err != nil || len(gone) == 0 {
		return err
	}
	js.mu.Lock()
	var dead []*job
	for _, j := range js.all {
		if j.State == adminapi.JobRunning && j.cancel == nil && gone[j.Owner] {
			next := *j
			next.end(js.now().UTC(), nil, errJobInterrupted)
			dead = append(dead, &next)
		}
	}
	js.shared.removed = nil
	rows := js.encode(dead)
	js.mu.Unlock()
	if err := js.put(ctx, rows); err != nil {
		if errors.Is(err, store.ErrJobChanged) {
			return nil // another server has recorded the end, or the owner is running
		}
		return err
	}
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, next := range dead {
		js.take(next)
	}
	return nil
}

// gone returns the servers that have ended while some of their jobs are still marked as running. If
// this server has stored a job that it could not start, gone also returns this server. The caller
// must hold js.writing.
func (js *jobTable) gone(ctx context.Context) (map[string]bool, error) {
	js.mu.Lock()
	owners := map[string]bool{}
	for _, j := range js.all {
		if j.State == adminapi.JobRunning && j.cancel == nil {
			owners[j.Owner] = js.owns(j)
		}
	}
	js.mu.Unlock()
	sh := js.shared
	for owner, own := range owners {
		if own {
			continue
		}
		free, err := sh.jobStore.Lease(ctx, "jobs."+owner, sh.run, 0)
		if err != nil {
			return nil, err
		}
		if owners[owner] = free; !free {
			delete(owners, owner)
		}
	}
	return owners, nil
}

// tend is called about once a second while this server runs a job. It stores the progress, reads
// which jobs other servers have cancelled, and renews the lease. If it cannot renew the lease, it
// interrupts the jobs.
func (js *jobTable) tend(ctx context.Context) {
	if js.shared == nil {
		return
	}
	js.writing.Lock()
	defer js.writing.Unlock()
	if time.Since(js.shared.tended) < checkEvery/2 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tendTime)
	defer cancel()
	err := js.hold(ctx)
	if err == nil {
		err = js.sync(ctx)
	}
	js.shared.tended = time.Now()
	if err != nil && time.Since(js.shared.renewed) > jobLease {
		js.interrupt()
	}
}

func (js *jobTable) interrupt() {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if js.runs(j) && j.cancel != nil {
			j.cancel(errJobInterrupted)
		}
	}
}

// leave releases the lease of this server. The jobs of the server must have been stored.
func (js *jobTable) leave(ctx context.Context) {
	js.writing.Lock()
	defer js.writing.Unlock()
	sh := js.shared
	if sh.renewed.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tendTime)
	defer cancel()
	err := js.sync(ctx)
	if err == nil {
		_, err = sh.jobStore.Lease(ctx, sh.lease(), sh.run, 0)
	}
	if err != nil {
		js.log.Warn("jobs cannot be saved; other servers will count those that run here as interrupted", "err", err)
	}
}

// launch calls f, which adds or resumes a job, and returns the job. It returns an error if the job
// must not run. Before f returns, it must call running.Add.
func (js *jobTable) launch(ctx context.Context, f func() (*job, error)) (*job, error) {
	var j *job
	abort := func() {
		if j != nil {
			js.running.Done()
			j = nil
		}
	}
	err := js.change(ctx, func() (err error) {
		abort()
		j, err = f()
		return err
	})
	if err != nil {
		abort()
	}
	return j, err
}
