// Package health says whether a server can answer requests and accept changes.
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

// Paths for monitoring. Answering them does not read the store.
const (
	LivePath  = "/-/healthz"
	ReadyPath = "/-/readyz"
)

// Fields of the response to a health check on the public listener.
const (
	InstanceHeader = "Nomen-Instance" // identifies the server that answers, until it ends
	RequestHeader  = "Nomen-Request"  // the request line as the server received it: see [RequestLine]
	ClientHeader   = "Nomen-Client"   // what the server takes for the client's address and host: see [ClientLine]
)

// maxRequestLine is how much of a request line is sent back, in bytes.
const maxRequestLine = 512

// RequestLine returns the request line of a health check for [RequestHeader]: the method, the
// target and the version of HTTP.
func RequestLine(method, target string, major, minor int) string {
	line := fmt.Sprintf("%s %s HTTP/%d.%d", method, target, major, minor)
	return requestlog.Printable(line[:min(len(line), maxRequestLine)])
}

// unknownClient stands for an address that the server does not know.
const unknownClient = "unknown"

// ClientLine returns the client of a health check for [ClientHeader]: the address, or "unknown",
// and the host, if it is known.
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

// ParseClient parses a [ClientLine]. The address is invalid if the server does not know it. If ok
// is false, line is not a ClientLine.
func ParseClient(line string) (from netip.Addr, host string, ok bool) {
	address, host, _ := strings.Cut(line, " ")
	from, err := netip.ParseAddr(address)
	return from, host, err == nil || address == unknownClient
}

// A State is what a server knows about its own health. It is safe for concurrent use.
type State struct {
	Store store.Reader
	Clock func() *registrar.ClockError // why the clock is not accepted for dating changes; nil if the server dates none

	// Authorities is the table of the naming authorities; nil if the server need not load them.
	Authorities *store.Table

	closing atomic.Bool
}

// Close makes the server report that it is shutting down.
func (s *State) Close() { s.closing.Store(true) }

// Closing reports whether Close was called.
func (s *State) Closing() bool { return s.closing.Load() }

// maxUnsealed is how long changes may wait to be sealed before the server is not ready.
const maxUnsealed = 10 * time.Second

// Causes returns why a server is not ready, one line each: what is wrong and the cause, such as
// "storage: the disk is full". It does not read the store, but uses what the server already
// knows.
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

// Ready reports whether the server is ready.
func (s *State) Ready() bool { return !s.Closing() && len(s.Causes()) == 0 }

// A Report is the response to a health check.
type Report struct {
	Status int      // of HTTP
	Lines  []string // one for each cause if the server is not ready
	causes []string
}

// Check returns the response for monitoring: liveness, or readiness for load balancers. A
// server whose store is unavailable is alive, since a restart would not help.
func (s *State) Check(path string) Report {
	switch {
	case path != ReadyPath:
		return Report{Status: http.StatusOK, Lines: []string{"ok"}}
	case s.Closing():
		return Report{Status: http.StatusServiceUnavailable, Lines: []string{"closing"}}
	}
	causes := s.Causes()
	if len(causes) == 0 {
		return Report{Status: http.StatusOK, Lines: []string{"ready"}}
	}
	r := Report{Status: http.StatusServiceUnavailable, causes: causes}
	for _, cause := range causes {
		r.Lines = append(r.Lines, "degraded: "+cause)
	}
	return r
}

// MarshalJSON returns the report as an object: "status" is the first line, and "causes" has all
// causes of a server that is not ready.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Status string   `json:"status"`
		Causes []string `json:"causes,omitempty"`
	}{r.Lines[0], r.causes})
}

// WantsJSON reports whether the Accept field of a health check lists JSON. Other types do not
// matter: clients that ask for a page get text.
func WantsJSON(accept string) bool {
	for item := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.TrimSpace(media), "application/json") {
			return true
		}
	}
	return false
}
