package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
)

type startOf struct {
	adminapi.Job

	key, print string          // key and digest of the request (see [adminapi.KeyHeader])
	request    json.RawMessage // for a dry run: the request for applying it; may be nil
	reserved   *reservation    // the reservation, which start releases; may be nil
	requester  *requester      // set if a second person must approve the job
}

// A repeatedError is the error for a request that has already started a job.
type repeatedError struct{ job *job }

func (*repeatedError) Error() string { return "the request has already started a job" }

func (js *jobTable) start(c *call, of startOf) (*job, context.Context, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.r.Context()))
	j, err := js.launch(c.r.Context(), func() (*job, error) { return js.begin(c, of, cancel) })
	if err != nil {
		cancel(nil)
		return nil, nil, err
	}
	of.reserved.release() // from now on, the job itself counts
	return j, ctx, nil
}

// begin adds a job for a request. The function cancel cancels the job. The caller must hold mu.
func (js *jobTable) begin(c *call, of startOf, cancel context.CancelCauseFunc) (*job, error) {
	if j := js.earlier(c, &of); j != nil {
		return nil, &repeatedError{j}
	}
	if err := js.admit(c); err != nil && !(of.reserved != nil && !js.closing) {
		return nil, err
	}
	if of.requester != nil {
		if err := js.admitWaiting(c.token()); err != nil {
			return nil, err
		}
	}
	if of.ID = c.r.Header.Get(adminapi.JobHeader); of.ID == "" {
		of.ID = adminapi.NewJobID()
	}
	if !adminapi.IsJobID(of.ID) || js.find(of.ID) != nil {
		return nil, &adminapi.RequestError{Field: adminapi.JobHeader, Message: "must be a unique ID of ten characters, a to z and 2 to 7"}
	}
	of.State, of.Who, of.Started = adminapi.JobRunning, c.actor.Who, js.now().UTC()
	j := &job{Job: of.Job, Owner: js.owner(), Token: c.token(), Key: of.key, Print: of.print, Request: of.request, Requester: of.requester, cancel: cancel, ended: make(chan struct{})}
	if dry := js.find(of.DryRunOf); dry != nil {
		dry.Applied = j.ID
		js.touch(dry)
	}
	js.all = append(js.all, j)
	js.tidy()
	js.running.Add(1)
	js.touch(j)
	return j, nil
}

// find returns a job, or nil. The caller must hold mu.
func (js *jobTable) find(id string) *job {
	for _, j := range js.all {
		if j.ID == id {
			return j
		}
	}
	return nil
}

// earlier returns the job that an identical request has started, or nil. Two requests are identical
// if they have the same key, or if they apply the same dry run. The caller must hold mu.
func (js *jobTable) earlier(c *call, of *startOf) *job {
	if dry := js.find(of.DryRunOf); dry != nil {
		if j := js.find(dry.Applied); j != nil && (!j.HasEnded() || j.State == adminapi.JobDone) {
			return j
		}
	}
	for _, j := range js.all {
		if of.requester != nil && j.asksSame(of, c.token()) {
			return j
		}
		if of.key != "" && j.Key == of.key && j.Print == of.print && j.Token == c.token() {
			return j
		}
	}
	return nil
}

// admit returns an error if there are too many jobs. The caller must hold mu.
func (js *jobTable) admit(c *call) error {
	token, limits := c.token(), js.limits()
	all, own := 0, js.reserved[token]
	for _, n := range js.reserved {
		all += n
	}
	for _, j := range js.all {
		if js.runs(j) {
			all++
			if j.Token == token {
				own++
			}
		}
	}
	refuse := func(status int, detail string) error {
		return &adminapi.JobsError{Status: status, Detail: detail, After: retryJob}
	}
	switch {
	case js.closing:
		return adminapi.ErrUnavailable
	case own >= limits.TokenJobs:
		return refuse(http.StatusTooManyRequests, fmt.Sprintf("too many jobs: %d of this token are running", own))
	case all >= limits.Jobs:
		return refuse(http.StatusServiceUnavailable, fmt.Sprintf("too many jobs: %d are running", all))
	}
	return nil
}

// A reservation counts as a running job while the server receives the body of the request.
type reservation struct {
	jobs  *jobTable
	token string
	over  bool
}

func (js *jobTable) reserve(c *call) (*reservation, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if err := js.admit(c); err != nil {
		return nil, err
	}
	if js.reserved == nil {
		js.reserved = map[string]int{}
	}
	token := c.token()
	js.reserved[token]++
	return &reservation{jobs: js, token: token}, nil
}

// release ends the reservation. After the start of the job, release does nothing.
func (r *reservation) release() {
	if r == nil {
		return
	}
	r.jobs.mu.Lock()
	defer r.jobs.mu.Unlock()
	if r.over {
		return
	}
	r.over = true
	if r.jobs.reserved[r.token]--; r.jobs.reserved[r.token] == 0 {
		delete(r.jobs.reserved, r.token)
	}
}
