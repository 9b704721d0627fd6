package adminapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
)

// JobHeader is the response field with the ID of the job that the request started. A client that
// may have to cancel the job before the response arrives can send the field with an ID from
// [NewJobID].
const JobHeader = "Nomen-Job"

const jobIDLength = 10

// NewJobID returns a random job ID.
func NewJobID() string { return strings.ToLower(rand.Text()[:jobIDLength]) }

// IsJobID reports whether s has the form of a job ID.
func IsJobID(s string) bool {
	return len(s) == jobIDLength && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// The kinds of jobs. Each is the last part of the path of the request that starts such a job.
const (
	JobImport   = "import"
	JobRelocate = "relocate"
	JobUndo     = "undo"
	JobVerify   = "verify"
	JobBackup   = "backup"
	JobRedact   = "redact" // only if a second person must approve redactions; see [Approval]
)

// States of a job.
const (
	JobRunning     = "running"
	JobDone        = "done"
	JobFailed      = "failed"
	JobCancelled   = "cancelled"
	JobInterrupted = "interrupted" // the server stopped before the job ended
	JobWaiting     = "waiting"     // a second person must approve the job before it changes anything
	JobRejected    = "rejected"    // a second person has rejected the job
	JobLapsed      = "lapsed"      // no second person has decided in time
)

// JobKinds returns the kinds of jobs.
func JobKinds() []string {
	return []string{JobImport, JobRelocate, JobUndo, JobVerify, JobBackup, JobRedact}
}

// JobStates returns the states of jobs.
func JobStates() []string {
	return []string{JobRunning, JobDone, JobFailed, JobCancelled, JobInterrupted, JobWaiting, JobRejected, JobLapsed}
}

// MaxJobDetails is the maximum number of faults, and of rejected records or names, in a
// [JobResult].
const MaxJobDetails = 100

// A Job is work that the server continues after the end of the request that started it: an import,
// a relocation, an undo, a verification, a backup, or a redaction that a second person must
// approve.
type Job struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	State    string     `json:"state"`
	Complete bool       `json:"complete"`           // the job has done all of its work
	Who      string     `json:"who,omitempty"`      // bearer of the token that started the job
	WhoName  string     `json:"who_name,omitempty"` // as in a Revision
	Subject  string     `json:"subject,omitempty"`  // what the job works on, such as the directory of a backup
	DryRun   bool       `json:"dry_run,omitempty"`
	Started  time.Time  `json:"started"`
	Ended    time.Time  `json:"ended,omitzero"`
	Unit     string     `json:"unit"` // of Done and Total: records, names, changes or bytes
	Done     uint64     `json:"done"`
	Total    uint64     `json:"total,omitempty"`   // 0 if unknown; during the first import of a file, an estimate
	Rate     float64    `json:"rate,omitempty"`    // units per second since the start
	Left     float64    `json:"left,omitempty"`    // estimated seconds until the end; 0 if unknown
	Import   string     `json:"import,omitempty"`  // batch ID by which the changes can be undone; may be empty at first
	Result   *JobResult `json:"result,omitempty"`  // the result so far, or at the end
	Problem  *Problem   `json:"problem,omitempty"` // reason for which the job is incomplete
	Next     string     `json:"next,omitempty"`    // instructions for users how to continue an incomplete job

	Upload   *Upload `json:"upload,omitempty"`     // the file of a dry run that the server keeps
	DryRunOf string  `json:"dry_run_of,omitempty"` // ID of the dry run that the job applies
	Applied  string  `json:"applied,omitempty"`    // for a dry run: ID of the last job that applied it

	Approval *Approval `json:"approval,omitempty"` // for a job that a second person must approve
}

// HasEnded reports whether the job neither runs nor waits for a second person.
func (j *Job) HasEnded() bool { return j.State != JobRunning && j.State != JobWaiting }

// CanApply reports whether j is a dry run that [Client.ApplyJob] can apply or has applied.
func (j *Job) CanApply() bool {
	switch {
	case !j.DryRun || !j.Complete:
		return false
	case j.Kind == JobImport:
		return j.Upload != nil
	}
	return j.Kind == JobRelocate || j.Kind == JobUndo
}

const relocationArrow = " -> "

// RelocationSubject returns the subject of a job that relocates locations, which [Job.Relocation]
// parses.
func RelocationSubject(from, to string) string { return from + relocationArrow + to }

// Relocation returns the old and the new beginning of the locations that a job relocates. It
// returns "" for jobs of other kinds.
func (j *Job) Relocation() (from, to string) {
	if j.Kind != JobRelocate {
		return "", ""
	}
	from, to, _ = strings.Cut(j.Subject, relocationArrow)
	return from, to
}

// An Upload is the file of a dry run of an import. The server keeps the file, so that the same file
// can be imported later.
type Upload struct {
	Size   int64   `json:"size"`           // in bytes
	SHA256 string  `json:"sha256"`         // hexadecimal
	Query  string  `json:"query"`          // parameters of the import, such as format and on_conflict
	Head   *uint64 `json:"head,omitempty"` // number of changes in the log before the dry run; absent without a log
	Kept   bool    `json:"kept"`           // false when the file has been deleted

	Rejects    bool `json:"rejects,omitempty"`     // the rejected lines can be downloaded
	RejectsCut bool `json:"rejects_cut,omitempty"` // some rejected lines were not kept
}

// RejectsFormat returns the format of the rejected lines: TSV if the file is TSV, and otherwise
// CSV.
func (u *Upload) RejectsFormat() bulk.Format {
	if q, err := url.ParseQuery(u.Query); err == nil && q.Get("format") == bulk.TSV.String() {
		return bulk.TSV
	}
	return bulk.CSV
}

// A JobResult is the result of a job so far.
type JobResult struct {
	Summary    *bulk.Summary        `json:"summary,omitempty"`     // of import
	Relocated  *registrar.Relocated `json:"relocated,omitempty"`   // of relocate
	Undone     *registrar.Undone    `json:"undone,omitempty"`      // of undo
	Head       *Head                `json:"head,omitempty"`        // of verify
	FaultCount uint64               `json:"fault_count,omitempty"` // of verify
	Faults     []Fault              `json:"faults,omitempty"`      // of verify: the first MaxJobDetails
	Refused    []Refused            `json:"refused,omitempty"`     // of relocate and undo: the first MaxJobDetails
	Refusals   []bulk.Refusal       `json:"refusals,omitempty"`    // of import: the first MaxJobDetails

	// The first MaxJobSamples changes that a dry run would make.
	Changes  []JobChange          `json:"changes,omitempty"`  // of import, if the file is kept
	Moved    []Moved              `json:"moved,omitempty"`    // of relocate
	Reverted []registrar.Reversal `json:"reverted,omitempty"` // of undo
	Reach    []Reach              `json:"reach,omitempty"`    // of relocate: authorities whose names would change

	Intervening *Intervening `json:"intervening,omitempty"` // of a job that applies a dry run: why it changed nothing
}

// Counts returns how many records or names a job has changed or would change, and how many were
// rejected. It may be called for a nil result.
func (r *JobResult) Counts() (changed, refused int64) {
	switch {
	case r == nil:
	case r.Summary != nil:
		return r.Summary.Created + r.Summary.Changed, r.Summary.Refused
	case r.Relocated != nil:
		return r.Relocated.Names, r.Relocated.Refused
	case r.Undone != nil:
		return r.Undone.Restored + r.Undone.Retired + r.Undone.Deleted, r.Undone.Refused
	}
	return 0, 0
}

// MaxJobSamples is the maximum number of changes in the result of a dry run.
const MaxJobSamples = 50

// A JobChange is a change that a dry run of an import would make.
type JobChange struct {
	bulk.Change

	Differences []Difference `json:"differences"` // the first ones, with long values truncated
}

// A Reach is the number of names of an authority that a relocation would change.
type Reach struct {
	Prefix string   `json:"prefix,omitempty"` // prefix of the authority; "" for names without one
	Owners []string `json:"owners,omitempty"` // of the authority
	Names  int64    `json:"names"`
}

// An Intervening lists the names in a file that were changed since its dry run.
type Intervening struct {
	Count int      `json:"count"` // number of such names that the caller may see
	Names []string `json:"names"` // the first MaxJobSamples of them
	Head  uint64   `json:"head"`  // number of changes in the log; a value for [Application].Seen
}

// Jobs is the response to GET jobs, newest first.
type Jobs struct {
	Jobs []Job `json:"jobs"`
}

// Jobs returns the jobs that the owner of the token may see, newest first.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	all, err := request[Jobs](ctx, c, http.MethodGet, "jobs", nil, nil)
	return all.Jobs, err
}

// Job returns one job, or [store.ErrNotFound].
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	return request[Job](ctx, c, http.MethodGet, "jobs/"+EscapeName(id), nil, nil)
}

// CancelJob cancels a running job and returns it. The job may take a moment to end. Changes that
// the job has made are not undone. Canceling a job that has ended has no effect.
func (c *Client) CancelJob(ctx context.Context, id string) (Job, error) {
	return request[Job](ctx, c, http.MethodDelete, "jobs/"+EscapeName(id), nil, nil)
}
