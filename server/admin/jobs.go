package admin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
)

// Limits of jobs.
const (
	maxEnded    = 100                // number of ended jobs that are kept
	maxEndedAge = 7 * 24 * time.Hour // how long ended jobs are kept
	retryJob    = 10 * time.Second   // Retry-After for requests that are rejected because too many jobs run
	saveEvery   = time.Second
	checkEvery  = time.Second // interval for checking whether the token of a running job is still valid
	jobsVersion = 1           // version of the file format; see docs/reference/files.md
)

const (
	jobsFile    = "jobs.json"
	spoolSuffix = ".body" // suffix of the file with the body of an import that runs in the background
)

// Reasons for ending jobs early.
var (
	errJobCancelled   = errors.New("the job was cancelled")
	errJobInterrupted = errors.New("the server was stopped")
	errJobRevoked     = errors.New("the token that started the job was revoked")
	errJobExpired     = errors.New("the token that started the job has expired")
	errJobDisabled    = errors.New("the user who started the job was disabled")
)

// isCancelled reports whether a job that ended for this reason counts as cancelled. This is the
// case if a client cancelled the job, or if the token or user that started the job has become
// invalid.
func isCancelled(cause error) bool {
	return errors.Is(cause, errJobCancelled) || errors.Is(cause, errJobRevoked) || errors.Is(cause, errJobExpired) || errors.Is(cause, errJobDisabled)
}

// A jobTable contains the jobs of this server, including jobs of earlier runs. If several servers
// share a store, it contains the jobs of all of them.
type jobTable struct {
	dir    string      // directory in which the jobs are saved; if "", they are not saved
	shared *sharedJobs // stores the jobs instead if several servers share a store; may be nil
	now    func() time.Time
	log    *slog.Logger

	pacer *pacer.Pacer // pauses jobs while requests are answered; may be nil

	limits func() Limits // returns the limits, including default values

	// ends returns the reason for which the jobs of a token must end, or nil if they may continue.
	ends func(ctx context.Context, token string) error

	over func(*job) // called with mu held when a job has ended; may be nil

	mu       sync.Mutex
	all      []*job         // oldest first
	reserved map[string]int // number of jobs of each token that wait for the body of their request
	saving   bool           // a save is scheduled and has not begun
	changed  bool           // something has changed since the file was read
	failed   bool           // the last save failed
	closing  bool
	running  sync.WaitGroup
	writing  sync.Mutex // held while jobs are read or written; locked before mu
}

// newJobs returns a table with the jobs in a directory, or in jobStore if several servers share it.
// The parameter jobStore may be nil.
func newJobs(dir string, jobStore store.JobStore, now func() time.Time, log *slog.Logger) *jobTable {
	js := &jobTable{dir: dir, now: now, log: log}
	if jobStore != nil {
		js.shared = &sharedJobs{jobStore: jobStore, run: strings.ToLower(rand.Text()), rows: map[string]uint64{}}
	}
	if dir == "" {
		return js
	}
	spools, _ := filepath.Glob(filepath.Join(dir, "*"+spoolSuffix)) // no error, because the pattern is valid
	for _, file := range spools {
		_ = os.Remove(file) // left by an earlier run; if Remove fails, the next start tries again
	}
	if js.shared != nil {
		return js
	}
	var err error
	js.all, err = js.load()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("cannot read the jobs of earlier runs", "file", js.file(), "err", err)
	}
	js.sweep()
	return js
}

func (js *jobTable) run(ctx context.Context, j *job, work func(context.Context) error) (err error) {
	ctx = pacer.With(ctx, js.pacer)
	watched := js.watch(ctx, j)
	js.mu.Lock()
	cancel, ended := j.cancel, j.ended // copied, because approving a waiting job replaces both
	js.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			js.log.Error("panic", "job", j.ID, "kind", j.Kind, "panic", p)
		}
		watched()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		js.finish(j, err, context.Cause(ctx))
		if err != nil {
			level := slog.LevelInfo
			if j.State == adminapi.JobFailed {
				level = slog.LevelWarn
			}
			js.log.Log(context.Background(), level, "job ended early", "job", j.ID, "kind", j.Kind, "state", j.State, "who", j.Who, "done", j.Done, "err", err)
		}
		cancel(nil)
		close(ended)
		js.running.Done()
	}()
	return work(ctx)
}

// finish records the end of a job. The end of a shared job is stored before clients are notified,
// so that a client can continue at another server.
func (js *jobTable) finish(j *job, err, cause error) {
	if js.shared != nil {
		js.writing.Lock()
		defer js.writing.Unlock()
	}
	js.mu.Lock()
	j.end(js.now().UTC(), err, cause)
	if js.over != nil {
		js.over(j)
	}
	js.saveSoon(j)
	js.mu.Unlock()
	if js.shared != nil {
		ctx, cancel := context.WithTimeout(context.Background(), tendTime)
		defer cancel()
		_ = js.sync(ctx) // if sync fails, save tries again
	}
}

// watch regularly checks whether the token of a job is still valid, and cancels the job if it is
// not. It also keeps shared jobs up to date. The caller must call stop at the end of the job.
func (js *jobTable) watch(ctx context.Context, j *job) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		every := time.NewTicker(checkEvery)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			js.tend(ctx)
			if why := js.invalid(ctx, j); why != nil {
				js.mu.Lock()
				j.cancel(why)
				js.mu.Unlock()
				return
			}
		}
	}()
	return stop
}

func (js *jobTable) invalid(ctx context.Context, j *job) error {
	if js.ends == nil || j.Requester != nil && j.Requester.Node {
		return nil
	}
	return js.ends(ctx, j.Token)
}

func (js *jobTable) cancelJobsOf(token string) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.all {
		if j.Token == token && js.runs(j) && j.cancel != nil {
			j.cancel(errJobRevoked)
		}
	}
}

// end records the end of a job. The parameter cause is the reason for which the job was cancelled
// or interrupted, and err is the error of its work.
func (j *job) end(at time.Time, err, cause error) {
	j.Ended, j.Rate, j.Left = at, j.rate(at), 0
	switch {
	case isCancelled(cause):
		j.State = adminapi.JobCancelled
	case errors.Is(cause, errJobInterrupted):
		j.State, err = adminapi.JobInterrupted, cause
	case err != nil:
		j.State = adminapi.JobFailed
	case j.Approval != nil && !j.Approval.Decided():
		j.wait(at)
		return
	default:
		j.State, j.Complete = adminapi.JobDone, true
		return
	}
	j.Problem, j.Next = jobProblem(err), j.next()
}

func jobProblem(err error) *adminapi.Problem {
	switch {
	case errors.Is(err, errJobCancelled):
		err = &adminapi.StatusError{Kind: adminapi.KindJobEnded, Status: http.StatusConflict, Detail: "the job was cancelled; the changes it made remain"}
	case isCancelled(err):
		err = &adminapi.StatusError{Kind: adminapi.KindJobEnded, Status: http.StatusForbidden, Detail: err.Error() + "; the changes the job made remain"}
	case errors.Is(err, errJobInterrupted):
		err = &adminapi.StatusError{Kind: adminapi.KindJobEnded, Status: http.StatusServiceUnavailable, Detail: "the server was stopped before the job was complete; the changes it made remain"}
	}
	return adminapi.NewProblem(err)
}

// nextSteps has instructions for users whose job has ended early, by kind.
var nextSteps = map[string]string{
	adminapi.JobImport:   "import the same file again; records that were imported remain unchanged",
	adminapi.JobRelocate: "start it again; locations already changed are skipped",
	adminapi.JobUndo:     "start it again; changes already undone are skipped",
	adminapi.JobVerify:   "start it again from the beginning",
	adminapi.JobBackup:   "start it again with the same directory; files already copied are skipped",
	adminapi.JobRedact:   "request the redaction again",
}

func (j *job) next() string {
	if j.Approval != nil && j.Import == "" {
		return "make the request again"
	}
	s := nextSteps[j.Kind]
	if j.DryRunOf != "" {
		s = "apply the dry run " + j.DryRunOf + " again; what was already changed remains unchanged"
	}
	if j.Import != "" {
		s += "; or undo import " + j.Import
	}
	return s
}

// rate returns the speed of a job, in units per second.
func (j *job) rate(at time.Time) float64 {
	seconds := at.Sub(j.Started).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(j.Done) / seconds
}

func (js *jobTable) update(j *job, f func(*adminapi.Job, *adminapi.JobResult)) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if j.Result == nil {
		j.Result = &adminapi.JobResult{}
	}
	f(&j.Job, j.Result)
	js.saveSoon(j)
}

// begun returns a function for recording the batch ID of the changes of a job.
func (js *jobTable) begun(j *job) func(id string) {
	return func(id string) { js.update(j, func(j *adminapi.Job, _ *adminapi.JobResult) { j.Import = id }) }
}

func (js *jobTable) note(j *job, r adminapi.Report) {
	if (r.Moved != nil || r.Reverted != nil) && !j.DryRun {
		return
	}
	js.update(j, func(j *adminapi.Job, of *adminapi.JobResult) {
		switch {
		case r.Progress != nil:
			j.Done, j.Total = r.Progress.Done, r.Progress.Total
		case r.Fault != nil:
			if of.FaultCount++; len(of.Faults) < adminapi.MaxJobDetails {
				of.Faults = append(of.Faults, *r.Fault)
			}
		case r.Refused != nil:
			if len(of.Refused) < adminapi.MaxJobDetails {
				of.Refused = append(of.Refused, *r.Refused)
			}
		case r.Moved != nil:
			if len(of.Moved) < adminapi.MaxJobSamples {
				of.Moved = append(of.Moved, *r.Moved)
			}
		case r.Reverted != nil:
			if len(of.Reverted) < adminapi.MaxJobSamples {
				of.Reverted = append(of.Reverted, *r.Reverted)
			}
		case r.Relocated != nil:
			of.Relocated, j.Done = r.Relocated, uint64(r.Relocated.Names+r.Relocated.Refused)
		case r.Undone != nil:
			of.Undone, j.Done = r.Undone, uint64(r.Undone.Restored+r.Undone.Retired+r.Undone.Deleted+r.Undone.Unchanged+r.Undone.Refused)
		case r.Head != nil:
			of.Head = r.Head
		}
	})
}

// snapshot returns a copy of a job for clients. The caller must hold mu.
func (js *jobTable) snapshot(j *job) adminapi.Job {
	out := j.Job
	if out.State == adminapi.JobRunning {
		out.Rate = j.rate(js.now())
		if out.Total > out.Done && out.Rate > 0 {
			out.Left = float64(out.Total-out.Done) / out.Rate
		}
	}
	if j.Result != nil {
		r := *j.Result
		r.Faults, r.Refused, r.Refusals = slices.Clone(r.Faults), slices.Clone(r.Refused), slices.Clone(r.Refusals)
		r.Changes, r.Moved, r.Reverted = slices.Clone(r.Changes), slices.Clone(r.Moved), slices.Clone(r.Reverted)
		out.Result = &r
	}
	if j.Upload != nil {
		u := *j.Upload
		out.Upload = &u
	}
	if j.Approval != nil {
		a := *j.Approval
		a.Revisions = slices.Clone(a.Revisions)
		out.Approval = &a
	}
	return out
}

// tidy removes jobs that ended long ago. If there are still too many jobs, it removes the oldest of
// them. The caller must hold mu.
func (js *jobTable) tidy() {
	js.lapse()
	ended := 0
	for _, j := range js.all {
		if j.HasEnded() {
			ended++
		}
	}
	js.all = slices.DeleteFunc(js.all, func(j *job) bool {
		if !j.HasEnded() || j.unsaved(js) || ended <= maxEnded && js.now().Sub(j.Ended) < maxEndedAge {
			return false
		}
		ended--
		js.discard(j)
		return true
	})
	js.thin()
}

// close interrupts running jobs, and waits for their end until ctx ends. It writes the file if
// there are unsaved changes.
func (js *jobTable) close(ctx context.Context) {
	js.mu.Lock()
	if js.closing {
		js.mu.Unlock()
		return
	}
	js.closing = true
	js.mu.Unlock()
	js.interrupt()
	ended := make(chan struct{})
	go func() {
		js.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done(): // the next start marks jobs that are still running as interrupted
	}
	js.mu.Lock()
	changed := js.changed
	js.mu.Unlock()
	switch {
	case js.shared != nil:
		js.leave(ctx)
	case js.dir != "" && changed:
		js.save()
	}
}

// A job is an entry of a jobTable. The mutex of the table guards its fields.
type job struct {
	adminapi.Job
	Token     string          `json:"token"`               // ID of the token that started the job
	Key       string          `json:"key,omitempty"`       // key of the request (see [adminapi.KeyHeader])
	Print     string          `json:"print,omitempty"`     // digest of a request with a key
	Request   json.RawMessage `json:"request,omitempty"`   // body of the request for a dry run, or for a job that a second person must approve
	Requester *requester      `json:"requester,omitempty"` // who started a job that a second person must approve
	Digest    string          `json:"digest,omitempty"`    // digest of what a relocation would change when the second person was asked
	Owner     string          `json:"owner,omitempty"`     // for a shared job: the run of the server that runs or ran the job
	Stop      bool            `json:"stop,omitempty"`      // for a shared job: its owner must cancel the job

	cancel context.CancelCauseFunc // nil if the job has not run on this server
	ended  chan struct{}
	dirty  bool // for a shared job of this server: the last change is not in the store
}
