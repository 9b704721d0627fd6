package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// token returns the ID of the token in a request. For a request from [API.Client], it returns a
// text that identifies the actor.
func (c *call) token() string {
	if a, ok := insideActor(c.r.Context()); ok {
		return insidePrefix + a.Who
	}
	_, spelling, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	id, _, _ := adminapi.SplitToken(strings.TrimSpace(spelling))
	return id
}

// sees reports whether the caller may see a job. This is the case if the caller has started the
// job, may decide about the job, or is an administrator of all names. The mutex of the jobs must be
// held.
func (c *call) sees(j *job) bool {
	return c.controls(j) || c.mayDecide(j)
}

func (c *call) controls(j *job) bool { return j.Token == c.token() || c.isOperator() }

// tokenInvalid returns the reason for which the jobs of a token must end, or nil if they may
// continue. Jobs may continue while the store is unavailable.
func (s *API) tokenInvalid(ctx context.Context, id string) error {
	if user, ok := strings.CutPrefix(id, insidePrefix); ok {
		return s.userInvalid(ctx, user)
	}
	tokens, ok := s.store.(store.Tokens)
	if !ok || s.nodeToken != nil && id == s.nodeToken.ID {
		return nil
	}
	switch t, err := tokens.Token(ctx, id); {
	case errors.Is(err, store.ErrNotFound), err == nil && t.Revoked:
		return errJobRevoked
	case err == nil && t.Expired(s.now()):
		return errJobExpired
	}
	return nil
}

func (s *API) userInvalid(ctx context.Context, id string) error {
	users, err := store.UsersOf(s.store)
	if err != nil || !registrar.IsUserID(id) {
		return nil
	}
	if u, err := users.User(store.Fresh(ctx), id, time.Time{}); err == nil && u.Disabled {
		return errJobDisabled
	}
	return nil
}

func (s *API) listJobs(c *call) error {
	if err := s.jobs.refresh(c.r.Context()); err != nil {
		return err
	}
	s.jobs.mu.Lock()
	s.jobs.lapse()
	all := adminapi.Jobs{Jobs: []adminapi.Job{}}
	for _, j := range slices.Backward(s.jobs.all) {
		if c.sees(j) {
			all.Jobs = append(all.Jobs, s.jobs.snapshot(j))
		}
	}
	s.jobs.mu.Unlock()
	names := s.userNames()
	for i := range all.Jobs {
		nameUsers(c.r.Context(), names, &all.Jobs[i])
	}
	return writeJSON(c.w, http.StatusOK, all)
}

func nameUsers(ctx context.Context, names *adminapi.UserNames, j *adminapi.Job) {
	j.WhoName = names.Of(ctx, j.Who)
	if j.Approval != nil {
		j.Approval.ByName = names.Of(ctx, j.Approval.By)
	}
}

func (s *API) getJob(c *call) error {
	j, err := s.job(c)
	if err != nil {
		return err
	}
	return s.tellJob(c, http.StatusOK, j)
}

// cancelJob cancels a job, and waits a few seconds for the end of the job.
func (s *API) cancelJob(c *call) error {
	j, err := s.job(c)
	if err != nil {
		return err
	}
	if err := s.stop(c, j); err != nil {
		return err
	}
	s.jobs.settle(c, j)
	return s.tellJob(c, http.StatusOK, j)
}

// settle waits a few seconds until a job ends or waits for a second person.
func (js *jobTable) settle(c *call, j *job) {
	js.mu.Lock()
	ended, elsewhere := j.ended, j.State == adminapi.JobRunning && j.cancel == nil
	js.mu.Unlock()
	const patience = 5 * time.Second
	if elsewhere {
		js.settleElsewhere(c, j.ID, patience)
		return
	}
	select {
	case <-ended:
	case <-time.After(patience):
	case <-c.r.Context().Done():
	}
}

func (js *jobTable) settleElsewhere(c *call, id string, patience time.Duration) {
	const step = 200 * time.Millisecond
	for until := time.Now().Add(patience); time.Now().Before(until); {
		select {
		case <-c.r.Context().Done():
			return
		case <-time.After(step):
		}
		if js.refresh(c.r.Context()) != nil {
			return
		}
		js.mu.Lock()
		j := js.find(id)
		ended := j == nil || j.State != adminapi.JobRunning
		js.mu.Unlock()
		if ended {
			return
		}
	}
}

// tellJob sends the current state of a job, including changes by other servers since j was read.
func (s *API) tellJob(c *call, status int, j *job) error {
	s.jobs.mu.Lock()
	if now := s.jobs.find(j.ID); now != nil {
		j = now
	}
	out := s.jobs.snapshot(j)
	s.jobs.mu.Unlock()
	nameUsers(c.r.Context(), s.userNames(), &out)
	return writeJSON(c.w, status, out)
}

// accepted answers a request whose job continues in the background (RFC 7240, section 4.1).
func (s *API) accepted(c *call, j *job) error {
	h := c.w.Header()
	h.Set("Location", adminapi.Root+"jobs/"+j.ID)
	h.Set("Preference-Applied", "respond-async")
	h.Set(adminapi.JobHeader, j.ID)
	return s.tellJob(c, http.StatusAccepted, j)
}

// prefersAsync reports whether the client prefers not to wait for the end of the job (RFC 7240,
// section 4.1).
func prefersAsync(c *call) bool {
	if c.async {
		return true
	}
	for _, field := range c.r.Header.Values("Prefer") {
		for p := range strings.SplitSeq(field, ",") {
			p, _, _ = strings.Cut(p, ";")
			if strings.EqualFold(strings.TrimSpace(p), "respond-async") {
				return true
			}
		}
	}
	return false
}

// reportJob runs work as a job and sends its reports, one per line. The job continues if the client
// disconnects. It ends early only if it is cancelled or if the server shuts down. The parameter
// request is the body of the request.
func (s *API) reportJob(c *call, of adminapi.Job, request any, work func(ctx context.Context, j *job, tell func(adminapi.Report)) (adminapi.Report, error)) error {
	start := startOf{Job: of}
	if err := c.identify(&start, request); err != nil {
		return err
	}
	j, ctx, err := s.jobs.start(c, start)
	if err != nil {
		return s.repeated(c, err)
	}
	do := func(tell func(adminapi.Report)) {
		var last adminapi.Report
		err := s.jobs.run(ctx, j, func(ctx context.Context) (err error) {
			note := func(r adminapi.Report) {
				s.jobs.note(j, r)
				tell(r)
			}
			last, err = work(ctx, j, note)
			s.jobs.note(j, last)
			return err
		})
		if last.Done = true; err != nil {
			last.Problem = jobProblem(err)
		}
		tell(last)
	}
	if prefersAsync(c) {
		go do(func(adminapi.Report) {})
		return s.accepted(c, j)
	}
	c.w.Header().Set(adminapi.JobHeader, j.ID)
	w := s.newLineWriter(c)
	w.tell(adminapi.Report{})
	told := make(chan struct{})
	go func() {
		defer close(told)
		do(w.tell)
	}()
	select {
	case <-told:
	case <-c.r.Context().Done():
		w.stop()
	}
	return nil
}

// job returns the job whose ID is in the path.
func (s *API) job(c *call) (*job, error) {
	err := s.jobs.refresh(c.r.Context())
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	s.jobs.lapse()
	j := s.jobs.find(c.value)
	switch {
	case err != nil && (j == nil || !s.jobs.runs(j)): // if reading fails, the state of a job of this server is still known
		return nil, err
	case j == nil || !c.sees(j):
		return nil, store.ErrNotFound
	}
	return j, nil
}
