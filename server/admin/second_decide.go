package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func (s *API) approveJob(c *call) error {
	j, err := s.job(c)
	if err != nil {
		return err
	}
	same, err := s.isRequester(c, j)
	if err != nil {
		return err
	}
	j, ctx, err := s.jobs.approve(c, j.ID, same)
	if err != nil {
		return err
	}
	if ctx != nil {
		s.jobs.saveNow() // after a crash, the job counts as interrupted and cannot be approved again
		s.log.Info("second person approved", "job", j.ID, "kind", j.Kind, "who", j.Who, "by", c.actor.Who)
		go func() {
			_ = s.jobs.run(ctx, j, func(ctx context.Context) error { return s.carryOut(ctx, j, c.actor) })
		}()
	}
	s.jobs.settle(c, j)
	return s.tellJob(c, http.StatusOK, j)
}

// approve starts a job that has waited for approval. It returns the job and the context of the job.
// The context is nil if the caller has already approved the job.
func (js *jobTable) approve(c *call, id string, same bool) (*job, context.Context, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.r.Context()))
	j, err := js.launch(c.r.Context(), func() (*job, error) { return js.resume(c, id, same, cancel) })
	if err == nil {
		return j, ctx, nil
	}
	cancel(nil)
	var again *repeatedError
	if errors.As(err, &again) {
		return again.job, nil, nil
	}
	return nil, nil, err
}

// resume starts a job that has waited for approval. The function cancel cancels the job. If the
// caller has already approved the job, the error is a repeatedError. The caller must hold mu.
func (js *jobTable) resume(c *call, id string, same bool, cancel context.CancelCauseFunc) (*job, error) {
	js.lapse()
	j := js.find(id)
	if j == nil {
		return nil, store.ErrNotFound
	}
	if a := j.Approval; a != nil && a.Decided() && j.State != adminapi.JobRejected && a.By == c.actor.Who {
		return nil, &repeatedError{j}
	}
	if err := js.decidable(c, j, same); err != nil {
		return nil, err
	}
	if err := js.admit(c); err != nil {
		return nil, err
	}
	j.State, j.Next, j.Owner, j.cancel, j.ended = adminapi.JobRunning, "", js.owner(), cancel, make(chan struct{})
	j.Approval.By, j.Approval.At = c.actor.Who, js.now().UTC()
	js.running.Add(1)
	js.touch(j)
	return j, nil
}

// decidable returns an error unless a job waits for a decision and the caller may make this
// decision. The parameter byRequester means that the caller has requested the job. The caller must
// hold mu.
func (js *jobTable) decidable(c *call, j *job, byRequester bool) error {
	refuse := func(status int, detail string) error {
		return &adminapi.StatusError{Kind: adminapi.KindSecond, Status: status, Detail: detail}
	}
	switch {
	case j.Approval != nil && j.Approval.Decided():
		return refuse(http.StatusConflict, "this job was decided by "+j.Approval.By)
	case j.State != adminapi.JobWaiting:
		return refuse(http.StatusConflict, "this job does not wait for a second person; it is "+j.State)
	case byRequester:
		return refuse(http.StatusForbidden, "you requested this job, so another person must decide; you can withdraw it")
	case !c.mayDecide(j):
		return c.actor.DeniedAny(registrar.Administrator, "job "+j.ID)
	}
	return nil
}

func (s *API) rejectJob(c *call) error {
	j, err := s.job(c)
	if err != nil {
		return err
	}
	var body adminapi.Rejection
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if err := checkRejection(body.Reason); err != nil {
		return err
	}
	same, err := s.isRequester(c, j)
	if err != nil {
		return err
	}
	if err := s.jobs.reject(c, j.ID, same, body.Reason); err != nil {
		return err
	}
	s.jobs.saveNow()
	s.log.Info("second person rejected", "job", j.ID, "kind", j.Kind, "who", j.Who, "by", c.actor.Who)
	return s.tellJob(c, http.StatusOK, j)
}

// maxRejection is the maximum length of the reason for a rejection, in bytes.
const maxRejection = 4 << 10

func checkRejection(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return &adminapi.RequestError{Field: "reason", Message: "must not be empty; the person who made the request reads it"}
	}
	if len(reason) > maxRejection {
		return &store.LimitError{What: "reason", Size: len(reason), Limit: maxRejection}
	}
	return nil
}

func (js *jobTable) reject(c *call, id string, same bool, reason string) error {
	return js.change(c.r.Context(), func() error {
		js.lapse()
		j := js.find(id)
		if j == nil {
			return store.ErrNotFound
		}
		if err := js.decidable(c, j, same); err != nil {
			return err
		}
		now := js.now().UTC()
		j.State, j.Ended, j.Next = adminapi.JobRejected, now, ""
		j.Approval.By, j.Approval.At, j.Approval.Reason = c.actor.Who, now, reason
		js.touch(j)
		return nil
	})
}

// stop cancels a running job, or withdraws a job that waits for a second person.
func (s *API) stop(c *call, j *job) error {
	same, err := s.isRequester(c, j)
	if err != nil {
		return err
	}
	return s.jobs.change(c.r.Context(), func() error {
		if j := s.jobs.find(j.ID); j != nil {
			return s.jobs.stop(c, j, same)
		}
		return store.ErrNotFound
	})
}

// stop cancels or withdraws a job. The parameter isOwn means that the caller has requested the job.
// The caller must hold mu.
func (js *jobTable) stop(c *call, j *job, isOwn bool) error {
	js.lapse()
	switch {
	case j.State == adminapi.JobWaiting && !isOwn:
		return &adminapi.StatusError{Kind: adminapi.KindSecond, Status: http.StatusForbidden, Detail: "only the person who requested this job can withdraw it; you can reject it"}
	case j.State == adminapi.JobWaiting:
		j.State, j.Ended, j.Next = adminapi.JobCancelled, js.now().UTC(), ""
		js.touch(j)
	case !c.controls(j):
		return c.actor.DeniedAny(registrar.Administrator, "job "+j.ID)
	case j.cancel != nil:
		j.cancel(errJobCancelled)
	case j.State == adminapi.JobRunning: // the job runs on another server
		j.Stop = true
		js.touch(j)
	}
	return nil
}

// carryOut makes the changes that a second person has approved. It first checks that both persons
// have the required rights, and that nothing has changed since the request.
func (s *API) carryOut(ctx context.Context, j *job, approver registrar.Actor) error {
	requester, err := s.requesterNow(ctx, j)
	if err != nil {
		return err
	}
	if j.Kind == adminapi.JobRedact {
		return applyRequest(j, func(q redactRequest) error { return s.redactApproved(ctx, j, q, requester, approver) })
	}
	return applyRequest(j, func(rel registrar.Relocation) error { return s.relocateApproved(ctx, j, rel, requester, approver) })
}

// askAgain returns the error for an approved job that cannot run because something has changed
// since the request.
func askAgain(format string, args ...any) error {
	return &adminapi.StatusError{Kind: adminapi.KindSecond, Status: http.StatusConflict, Detail: fmt.Sprintf(format, args...) + "; nothing was changed. Make the request again"}
}

// lostRights returns the error for a requester who has lost rights since the request.
func lostRights(format string, args ...any) error {
	return &adminapi.StatusError{
		Kind: adminapi.KindSecond, Status: http.StatusForbidden,
		Detail: "the person who made the request no longer has the rights for it: " + fmt.Sprintf(format, args...) + "; nothing was changed",
	}
}

func (s *API) redactApproved(ctx context.Context, j *job, q redactRequest, requester, approver registrar.Actor) error {
	q.Expected, q.DryRun = q.Revision, true
	if _, err := s.redactAs(ctx, approver, q); err != nil {
		return changedSince(err)
	}
	if _, err := s.redactAs(ctx, requester, q); err != nil {
		return requesterDenied(changedSince(err))
	}
	q.DryRun, q.Reason = false, approvedBy(q.Reason, approver.Who)
	if _, err := s.redactAs(ctx, requester, q); err != nil {
		return changedSince(err)
	}
	s.jobs.update(j, func(j *adminapi.Job, _ *adminapi.JobResult) { j.Done = uint64(len(q.Revisions)) })
	return nil
}

func requesterDenied(err error) error {
	var denied *registrar.DeniedError
	if errors.As(err, &denied) {
		return lostRights("%s", denied.Needs())
	}
	return err
}

// changedSince returns the error for a subject that has changed since the request.
func changedSince(err error) error {
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		return askAgain("%s was changed since the request: its revision is %d, and was %d", conflict.Key, conflict.Current, conflict.Expected)
	}
	return err
}

// relocateApproved relocates the names that were approved, and no others.
func (s *API) relocateApproved(ctx context.Context, j *job, rel registrar.Relocation, requester, approver registrar.Actor) error {
	approved, err := s.checkApproved(ctx, j, rel, requester)
	if err != nil {
		return err
	}
	rel.Why = approvedBy(rel.Why, approver.Who)
	return s.relocateOnly(ctx, j, rel, requester, approved)
}

// checkApproved checks that a relocation would still make the same changes as at the time of the
// request, and that the requester still has the rights for them. It returns the names that would
// change.
func (s *API) checkApproved(ctx context.Context, j *job, rel registrar.Relocation, requester registrar.Actor) (*approvedNames, error) {
	then, err := actorOf(j.Who, j.Requester.Grants)
	if err != nil {
		return nil, err
	}
	s.jobs.mu.Lock()
	before, digest := *j.Result.Relocated, j.Digest
	s.jobs.mu.Unlock()
	approved := &approvedNames{then: then, now: requester, seed: maphash.MakeSeed()}
	rel.Only, rel.Moved, rel.Refused = approved.add, approved.moved, approved.refuse
	now, err := s.foresee(ctx, j, then, rel)
	if err != nil {
		return nil, err
	}
	s.jobs.mu.Lock()
	after := *j.Result.Relocated
	s.jobs.mu.Unlock()
	switch {
	case now != digest:
		return nil, askAgain("the names were changed since the request: %d locations of %d names would change, and %d locations of %d names then", after.Locations, after.Names, before.Locations, before.Names)
	case approved.denied > 0:
		return nil, lostRights("%d of the %d names", approved.denied, after.Names)
	}
	approved.sort()
	return approved, nil
}

func (s *API) relocateOnly(ctx context.Context, j *job, rel registrar.Relocation, requester registrar.Actor, approved *approvedNames) error {
	rel.Only, rel.Begun = approved.has, s.jobs.begun(j)
	rel.Progress = func(sum registrar.Relocated) { s.jobs.note(j, adminapi.Report{Relocated: &sum}) }
	rel.Refused = func(n name.Name, err error) {
		s.jobs.note(j, adminapi.Report{Refused: &adminapi.Refused{Key: n.Key(), Problem: adminapi.NewProblem(err)}})
	}
	s.jobs.update(j, func(_ *adminapi.Job, of *adminapi.JobResult) { of.Refused = nil })
	sum, err := s.registrar.Relocate(ctx, requester, rel)
	if err == nil {
		err = s.reportOthers(ctx, j, rel, approved, &sum)
	}
	s.jobs.note(j, adminapi.Report{Relocated: &sum})
	return err
}

var errNotApproved = &adminapi.StatusError{
	Kind: adminapi.KindSecond, Status: http.StatusConflict,
	Detail: "another user has added or changed this name after the second person approved; it was not changed. Make another request for it",
}

// reportOthers reports the names with matching locations that are not approved, and adds them to
// sum. Such names were added or changed by other clients after the request, or were rejected when
// the job was approved.
func (s *API) reportOthers(ctx context.Context, j *job, rel registrar.Relocation, approved *approvedNames, sum *registrar.Relocated) error {
	var failed error
	rel.DryRun, rel.Begun, rel.Progress = true, nil, nil
	rel.Only = func(rec *store.Record) bool { // because it returns false, only one goroutine calls it
		if failed != nil || approved.has(rec) {
			return false
		}
		why, ours := approved.refusal(rec.Name), false
		if why == nil {
			why = errNotApproved
			ours, failed = s.isLast(ctx, rec.Name, sum.Batch)
		}
		if !ours && failed == nil {
			sum.Refused++
			s.jobs.note(j, adminapi.Report{Refused: &adminapi.Refused{Key: rec.Name.Key(), Problem: adminapi.NewProblem(why)}})
		}
		return false
	}
	_, err := s.registrar.Relocate(ctx, approved.then, rel)
	return cmp.Or(err, failed)
}

// isLast reports whether the last change of a name belongs to the given batch. If so, the
// relocation has already changed the name. The new location may match again, because it may begin
// with the old text.
func (s *API) isLast(ctx context.Context, n name.Name, batch string) (bool, error) {
	for c, err := range store.History(ctx, s.store, n) {
		return err == nil && c.Batch == batch && batch != "", err
	}
	return false, nil
}
