package admin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"net/http"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Limits of jobs that wait for a second person.
const (
	maxWaiting      = 100 // for all tokens together
	maxTokenWaiting = 20
	maxAsked        = 32 << 10 // maximum size in bytes of the request, which is stored with the job
)

// The kinds of subjects of a redaction.
const (
	redactsName      = "name"
	redactsAuthority = "authority"
	redactsUser      = "user"
	redactsToken     = "token"
)

type redactRequest struct {
	registrar.Redaction

	Of       string `json:"of"`       // one of the constants above
	Key      string `json:"key"`      // key of the name, prefix of the authority, or ID of the user or token
	Revision uint64 `json:"revision"` // expected revision, if a second person must approve
}

// redact makes a redaction, or adds a job that waits for the approval of a second person.
func (s *API) redact(c *call, q redactRequest, conditional bool) error {
	second := s.settings.Load().second.Redact
	asks := second && !q.DryRun
	q.DryRun = q.DryRun || second
	out, err := s.redactAs(c.r.Context(), c.actor, q)
	if asks && err == nil {
		q.Revision, q.DryRun = out.Result.Revision, false
		return s.askRedaction(c, q)
	}
	out.User = shownTo(c.actor, out.User)
	return c.outcome(out, unsupportedError(err), conditional)
}

func (s *API) redactAs(ctx context.Context, a registrar.Actor, q redactRequest) (out registrar.Outcome, err error) {
	switch q.Of {
	case redactsName:
		return s.registrar.Redact(ctx, a, name.FromKey(q.Key), q.Redaction)
	case redactsUser:
		out, err = s.registrar.RedactUser(ctx, a, q.Key, q.Redaction)
		s.forgetSessions(ctx, out.User)
		return out, err
	case redactsToken:
		if out, err = s.registrar.RedactToken(ctx, a, q.Key, q.Redaction); err == nil && !q.DryRun && len(q.Revisions) == 0 {
			s.jobs.cancelJobsOf(q.Key)
		}
		return out, err
	}
	p := name.PrefixFromKey(q.Key)
	if out, err = s.registrar.RedactAuthority(ctx, a, p, q.Redaction); err == nil && out.Authority != nil {
		s.authorities.Replace(out.Authority.Clone())
	}
	return out, err
}

// askRedaction adds a job that makes a redaction after the approval of a second person.
func (s *API) askRedaction(c *call, q redactRequest) error {
	of := adminapi.Job{Kind: adminapi.JobRedact, Subject: q.Of + " " + q.Key, Unit: "revisions"}
	of.Approval = &adminapi.Approval{Why: q.Reason, Of: q.Of, Key: q.Key, Revisions: q.Revisions, Revision: q.Revision}
	return s.ask(c, of, q, func(context.Context, *job) error { return nil })
}

// relocatesMany reports whether a relocation would change so many names that a second person must
// approve it. It stops counting at the limit.
func (s *API) relocatesMany(c *call, rel registrar.Relocation) (bool, error) {
	limit := int64(s.settings.Load().second.RelocateAbove)
	if limit <= 0 || rel.DryRun {
		return false, nil
	}
	place, err := s.jobs.reserve(c)
	if err != nil {
		return false, err
	}
	defer place.release()
	ctx, stop := context.WithCancel(c.r.Context())
	defer stop()
	most := int64(0)
	rel.DryRun = true
	rel.Progress = func(sum registrar.Relocated) {
		if most = sum.Names; most > limit {
			stop()
		}
	}
	sum, err := s.registrar.Relocate(ctx, c.actor, rel)
	if max(most, sum.Names) > limit {
		return true, nil
	}
	return false, err
}

func (s *API) askRelocation(c *call, rel registrar.Relocation, dryRun string) error {
	of := relocationJob(rel, dryRun)
	of.Approval = &adminapi.Approval{Why: rel.Why, From: rel.From, To: rel.To, Retired: rel.Retired}
	return s.ask(c, of, rel, func(ctx context.Context, j *job) error {
		digest, err := s.foresee(ctx, j, c.actor, rel)
		s.jobs.mu.Lock()
		defer s.jobs.mu.Unlock()
		j.Digest = digest
		return err
	})
}

// foresee makes a dry run of a relocation for an actor. It adds the changes to the result of the
// job, and returns a digest of them.
func (s *API) foresee(ctx context.Context, j *job, a registrar.Actor, rel registrar.Relocation) (string, error) {
	reach := reach{api: s, counts: map[string]*adminapi.Reach{}}
	sum, result := sha256.New(), adminapi.JobResult{}
	rel.DryRun = true
	told := rel.Moved
	rel.Moved = func(n name.Name, from, to string) {
		if told != nil {
			told(n, from, to)
		}
		reach.add(ctx, n)
		addMoved(sum, n, from, to)
		if len(result.Moved) < adminapi.MaxJobSamples {
			result.Moved = append(result.Moved, adminapi.Moved{Key: n.Key(), From: from, To: to})
		}
	}
	refused := rel.Refused
	rel.Refused = func(n name.Name, err error) {
		if refused != nil {
			refused(n, err)
		}
		if len(result.Refused) < adminapi.MaxJobDetails {
			result.Refused = append(result.Refused, adminapi.Refused{Key: n.Key(), Problem: adminapi.NewProblem(err)})
		}
	}
	rel.Progress = func(sum registrar.Relocated) { s.jobs.note(j, adminapi.Report{Relocated: &sum}) }
	done, err := s.registrar.Relocate(ctx, a, rel)
	result.Relocated, result.Reach = &done, reach.all()
	s.jobs.update(j, func(j *adminapi.Job, of *adminapi.JobResult) { *of, j.Done = result, uint64(done.Names) })
	return hex.EncodeToString(sum.Sum(nil)), err
}

// addMoved adds a location that would change to a digest. The fields are separated by zero bytes,
// which keys and URLs never contain.
func addMoved(sum hash.Hash, n name.Name, from, to string) {
	_, _ = fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", n.Key(), from, to) // a hash returns no error
}

// ask adds a job that waits for the approval of a second person. It calls prepare before the job
// waits.
func (s *API) ask(c *call, of adminapi.Job, request any, prepare func(context.Context, *job) error) error {
	start := startOf{Job: of}
	if err := c.identify(&start, request); err != nil {
		return err
	}
	var err error
	if start.request, err = json.Marshal(request); err != nil {
		return err
	}
	if len(start.request) > maxAsked {
		return &store.LimitError{What: "request for a second person", Size: len(start.request), Limit: maxAsked}
	}
	if start.requester, err = s.requesterOf(c); err != nil {
		return err
	}
	j, ctx, err := s.jobs.start(c, start)
	if err != nil {
		return s.repeated(c, err)
	}
	go func() {
		_ = s.jobs.run(ctx, j, func(ctx context.Context) error { return prepare(ctx, j) })
	}()
	s.jobs.settle(c, j)
	s.jobs.saveNow()
	s.log.Info("second person needed", "job", j.ID, "kind", j.Kind, "who", c.actor.Who)
	return s.accepted(c, j)
}

// asksSame reports whether j still waits for a second person and was started by an identical
// request with the same token. The caller must hold the mutex of the jobs.
func (j *job) asksSame(request *startOf, token string) bool {
	return j.undecided() && j.Token == token && j.Kind == request.Kind && bytes.Equal(j.Request, request.request)
}

func (j *job) undecided() bool {
	return j.Approval != nil && !j.Approval.Decided() && !j.HasEnded()
}

func (j *job) wait(at time.Time) {
	j.State, j.Ended, j.Rate, j.Approval.Until = adminapi.JobWaiting, time.Time{}, 0, at.Add(adminapi.ApprovalTime)
	j.Next = "another person approves or rejects it"
}

// lapse ends jobs whose time for approval is over. The caller must hold mu.
func (js *jobTable) lapse() {
	for _, j := range js.all {
		if j.State == adminapi.JobWaiting && !js.now().Before(j.Approval.Until) {
			j.State, j.Ended, j.Next = adminapi.JobLapsed, j.Approval.Until, "make the request again"
			if js.shared == nil { // every server of a shared store computes this state
				js.saveSoon(j)
			}
		}
	}
}

// admitWaiting returns an error if too many jobs are waiting for a second person. The caller must
// hold mu.
func (js *jobTable) admitWaiting(token string) error {
	all, own := 0, 0
	for _, j := range js.all {
		if j.undecided() {
			all++
			if j.Token == token {
				own++
			}
		}
	}
	if own < maxTokenWaiting && all < maxWaiting {
		return nil
	}
	return &adminapi.JobsError{
		Status: http.StatusTooManyRequests, After: retryJob,
		Detail: fmt.Sprintf("too many jobs wait for a second person: %d, %d of them of this token", all, own),
	}
}

// saveNow saves the jobs immediately, so that a waiting job is not lost in a crash. It does nothing
// if jobs are shared, because shared jobs are already stored.
func (js *jobTable) saveNow() {
	if js.dir != "" && js.shared == nil {
		js.save()
	}
}

func approvedBy(why, person string) string {
	if why == "" {
		return "approved by " + cmp.Or(person, "the operator")
	}
	return why + " (approved by " + cmp.Or(person, "the operator") + ")"
}
