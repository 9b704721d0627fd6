package admin

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/nomen-project/nomen/adminapi"
)

const metricsPath = "/-/metrics"

// noRole is the role in the metrics for requests without a valid token.
const noRole = "none"

func (s *API) showMetrics(w *statusWriter, r *http.Request) error {
	if !isLocal(r) {
		actor, err := s.authenticate(r)
		if err != nil {
			return err
		}
		w.role = actor.Role().String()
	}
	s.metrics.ServeHTTP(w, r)
	return nil
}

// isLocal reports whether a request comes from this machine. Such a request comes from a loopback
// address or a Unix socket, and does not have a header field of a proxy.
func isLocal(r *http.Request) bool {
	for _, field := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header[field] != nil {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err != nil || from.Addr().Unmap().IsLoopback() // a Unix socket has no address
}

func (s *API) count(w *statusWriter) {
	if s.metrics != nil {
		s.metrics.AdminRequest(w.role, w.status)
	}
}

// CountJobs calls yield with the number of jobs for each combination of kind and state.
func (s *API) CountJobs(yield func(kind, state string, n int)) {
	type key struct{ kind, state string }
	n := map[key]int{}
	s.jobs.mu.Lock()
	for _, j := range s.jobs.all {
		if s.jobs.owns(j) {
			n[key{j.Kind, j.State}]++
		}
	}
	s.jobs.mu.Unlock()
	for _, kind := range adminapi.JobKinds() {
		for _, state := range adminapi.JobStates() {
			yield(kind, state, n[key{kind, state}])
		}
	}
}

var errFaults = errors.New("admin: the store has faults")

// isTask reports whether j is a backup or a verification of the whole store. The metrics show when
// such a task last succeeded, so that operators can detect that it fails or does not run.
func (j *job) isTask() bool {
	return j.Kind == adminapi.JobBackup || j.Kind == adminapi.JobVerify && j.Subject == ""
}

// outcome returns nil if a job has succeeded, and an error otherwise.
func (j *job) outcome() error {
	switch {
	case j.Problem != nil:
		return errors.New(j.Problem.Detail)
	case j.Result != nil && j.Result.FaultCount > 0:
		return errFaults
	}
	return nil
}

func (s *API) expectTasks() {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	for _, j := range s.jobs.all {
		if j.isTask() && j.State == adminapi.JobDone && j.outcome() == nil {
			s.metrics.Expect(j.Kind, j.Ended)
		}
	}
}

// countTasks passes to the metrics when each task last succeeded in an earlier run. It also makes
// the metrics count each task that ends.
func (s *API) countTasks() {
	if s.metrics == nil {
		return
	}
	s.expectTasks()
	s.jobs.over = func(j *job) {
		if j.isTask() && (j.State == adminapi.JobDone || j.State == adminapi.JobFailed) {
			s.metrics.Ran(j.Kind, j.Ended, j.outcome())
		}
	}
}
