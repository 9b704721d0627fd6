// Package health says whether a server can answer requests and accept changes.
package health

import (
	"net/http"
	"sync/atomic"

	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Paths for monitoring. Answering them does not read the store.
const (
	LivePath  = "/-/healthz"
	ReadyPath = "/-/readyz"
)

// A State is what a server knows about its own health. It is safe for concurrent use.
type State struct {
	Store store.Reader
	Clock func() *registrar.ClockError // why the clock is not accepted for dating changes; nil if the server dates none

	closing atomic.Bool
}

// Close makes the server report that it is shutting down.
func (s *State) Close() { s.closing.Store(true) }

// Closing reports whether Close was called.
func (s *State) Closing() bool { return s.closing.Load() }

// Check returns the status and text of a response for monitoring: liveness, or readiness for
// load balancers. A server whose store is unavailable is alive, since a restart would not
// help. It does not read the store, but uses what the server already knows.
func (s *State) Check(path string) (status int, text string) {
	switch {
	case path != ReadyPath:
		return http.StatusOK, "ok"
	case s.Closing():
		return http.StatusServiceUnavailable, "closing"
	}
	c := store.ConditionOf(s.Store)
	if c.Cause != "" {
		return http.StatusServiceUnavailable, "degraded: storage: " + requestlog.Printable(c.Cause)
	}
	if s.Clock != nil && !c.NoWrites {
		if e := s.Clock(); e != nil {
			return http.StatusServiceUnavailable, "degraded: clock: " + e.Cause
		}
	}
	return http.StatusOK, "ready"
}
