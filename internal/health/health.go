// Package health reports whether a server can answer requests and accept changes.
package health

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// Paths of health checks, which are answered without the store.
const (
	LivePath  = "/-/healthz"
	ReadyPath = "/-/readyz"
)

// Fields of the response to a health check on the public listener.
const (
	InstanceHeader = "Nomen-Instance" // identifies the process of the server
	RequestHeader  = "Nomen-Request"  // the request line as the server received it; see [RequestLine]
	ClientHeader   = "Nomen-Client"   // the client's address, and the host in the request, as the server sees them; see [ClientLine]
)

// maxRequestLine is the maximum length in bytes of a request line in a response. A longer line is
// truncated.
const maxRequestLine = 512

// RequestLine returns the value of [RequestHeader], which is the method, the target and the HTTP
// version.
func RequestLine(method, target string, major, minor int) string {
	line := fmt.Sprintf("%s %s HTTP/%d.%d", method, target, major, minor)
	return requestlog.Printable(line[:min(len(line), maxRequestLine)])
}

// unknownClient replaces an address that the server does not know.
const unknownClient = "unknown"

// ClientLine returns the value of [ClientHeader]. It consists of the client's address or "unknown",
// and the host if known.
func ClientLine(from netip.Addr, host string) string {
	line := unknownClient
	if from.IsValid() {
		line = from.String()
	}
	if host != "" {
		line += " " + host
	}
	return requestlog.Printable(line[:min(len(line), maxRequestLine)])
}

// ParseClient parses a result of [ClientLine], and returns false if line is malformed. If the line
// contains no address, the returned address is not valid.
func ParseClient(line string) (from netip.Addr, host string, ok bool) {
	address, host, _ := strings.Cut(line, " ")
	from, err := netip.ParseAddr(address)
	return from, host, err == nil || address == unknownClient
}

// A State determines whether a server is healthy. It is safe for concurrent use.
type State struct {
	Store store.Reader
	Clock func() *registrar.ClockError // returns why the clock cannot be used to date changes, or nil; Clock is nil if the server makes no changes

	// Authorities is the table of naming authorities, or nil if the server does not need it.
	Authorities *store.Table

	// Warnings returns messages that monitoring should report even while the server is ready. It
	// may be nil.
	Warnings func() []string

	closing atomic.Bool
}

// Close records that the server is shutting down. The server is not ready any more.
func (s *State) Close() { s.closing.Store(true) }

// Closing reports whether Close was called.
func (s *State) Closing() bool { return s.closing.Load() }

// maxUnsealed is how long a change may wait to be added to the log. If a change waits longer, the
// server is not ready.
const maxUnsealed = 10 * time.Second

// Causes returns why the server is not ready, with a line for each cause, such as "storage: the
// disk is full". It does not read the store, but returns what the server already knows.
func (s *State) Causes() (all []string) {
	c, u := store.ConditionOf(s.Store), store.UsageOf(s.Store)
	switch {
	case c.Cause != "":
		all = append(all, "storage: "+requestlog.Printable(c.Cause))
	case u.Servers["replica"] > 0 && u.Servers["primary"] == 0:
		all = append(all, "storage: the lag of the database's replicas is not known, because no primary is known")
	case u.Unsealed > maxUnsealed:
		all = append(all, fmt.Sprintf("log: changes have been waiting for %d seconds to be added to the log", int(u.Unsealed.Seconds())))
	}
	if s.Authorities != nil && s.Authorities.Missing() && c.Cause == "" {
		all = append(all, "authorities: the naming authorities are not loaded yet")
	}
	if s.Clock != nil && (c.Cause != "" || !c.NoWrites) {
		if e := s.Clock(); e != nil {
			all = append(all, "clock: "+e.Cause)
		}
	}
	return all
}

// Ready reports whether the server can answer requests and accept changes.
func (s *State) Ready() bool { return !s.Closing() && len(s.Causes()) == 0 }

// A Report is the content of the response to a health check.
type Report struct {
	Status int      // HTTP status
	Lines  []string // the state, and then a line for each cause if the server is not ready
	causes []string

	warnings []string
}

// Check returns the response to a health check. The path selects a check of liveness or of
// readiness. Load balancers should check readiness. A server whose store is unavailable is alive,
// because a restart would not help.
func (s *State) Check(path string) Report {
	switch {
	case path != ReadyPath:
		return Report{Status: http.StatusOK, Lines: []string{"ok"}}
	case s.Closing():
		return Report{Status: http.StatusServiceUnavailable, Lines: []string{"closing"}}
	}
	causes := s.Causes()
	if len(causes) == 0 {
		r := Report{Status: http.StatusOK, Lines: []string{"ready"}}
		if s.Warnings != nil {
			r.warnings = s.Warnings()
		}
		for _, warning := range r.warnings {
			r.Lines = append(r.Lines, "warning: "+requestlog.Printable(warning))
		}
		return r
	}
	r := Report{Status: http.StatusServiceUnavailable, causes: causes}
	for _, cause := range causes {
		r.Lines = append(r.Lines, "degraded: "+cause)
	}
	return r
}

// MarshalJSON implements [json.Marshaler]. It returns an object with the member "status", which is
// the first line of the report. If the server is not ready, the member "causes" lists the causes.
// If the server is ready, the member "warnings" lists the warnings.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Status   string   `json:"status"`
		Causes   []string `json:"causes,omitempty"`
		Warnings []string `json:"warnings,omitempty"`
	}{r.Lines[0], r.causes, r.warnings})
}

// WantsJSON reports whether the Accept field of a health check contains JSON. Other media types
// have no effect, so a client that asks for HTML gets plain text.
func WantsJSON(accept string) bool {
	for item := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.TrimSpace(media), "application/json") {
			return true
		}
	}
	return false
}
