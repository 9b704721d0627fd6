package admin

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/nomen-project/nomen/adminapi"
)

const metricsPath = "/-/metrics"

// noRole is the role in the metrics for a request without a valid token.
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

// isLocal reports whether a request comes from this machine: from a loopback address or a Unix
// socket, and without a header field of a proxy.
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

// CountJobs calls yield with the number of jobs of each kind in each state, even if it is 0.
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

// isTask reports whether j is a backup or a verification of the whole store. For these, the metrics
// show when one last succeeded, so that an operator notices if they fail or stop.
func (j *job) isTask() bool {
	return j.Kind == adminapi.JobBackup || j.Kind == adminapi.JobVerify && j.Subject == ""
}

// outcome returns nil for a job that succeeded, and otherwise an error.
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

// countTasks tells the metrics when each task last succeeded before this start. From then on it
// tells them when a task ends.
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
