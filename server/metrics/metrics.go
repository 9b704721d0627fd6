// Package metrics collects the metrics of a server for Prometheus. Labels contain no names of
// records, hosts, users or addresses.
package metrics

import (
	"cmp"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/nomen-project/nomen/store"
)

// Counted describes the condition of the counter of resolutions.
type Counted struct {
	Unchecked uint64    // resolutions that were counted without a check for double clicks
	Saved     time.Time // when the counts were last written
}

// Options say what to collect. If a function is nil, the metrics that need it are omitted.
type Options struct {
	Forms    []string // the forms of requests, as passed to Observe
	Refusals []string // the reasons for rejections, as passed to Refused

	Store store.Reader         // the store whose condition, usage and size are shown; required
	Clock func() bool          // reports whether the clock may date changes; nil if the server makes no changes
	Ready func() bool          // reports whether the server is ready, as /-/readyz does
	Scrub func() (Scrub, bool) // returns the state of the background verification; false if it does not run
	Jobs  func() []Jobs

	Search func() (store.IndexStatus, bool) // returns the state of the search index, or false

	Published func() (Published, bool) // returns the state of the published log, and false if it is not published

	Links func() (Links, bool) // returns the state of the checks of links; false if they are off

	Connections func() map[string]int           // returns the number of open connections of each listener, by its name
	Answers     func() (store.CacheUsage, bool) // returns the usage of the cache of answers, or false
	Upstream    func() (running, waiting int)   // returns the number of requests to other resolvers
	Misses      func() uint64                   // returns the number of failed lookups
	Certificate func() time.Time                // returns when the first certificate expires, or zero
	Counted     func() (Counted, bool)          // describes the counter of resolutions; false if the server does not count
	Dropped     func() uint64                   // returns the number of log lines that could not be written
	Rested      func() time.Duration            // returns how long background work has rested for requests
	Tasks       *Tasks                          // runs of recurring tasks; if nil, only the tasks of the admin API are counted

	Build Build
}

// A Build is the build information of the program.
type Build struct{ Version, Revision, Go string }

// Jobs is the number of jobs of one kind and state.
type Jobs struct {
	Kind, State string
	Count       int
}

// Published is the state of the published log.
type Published struct {
	Size, Waiting  uint64 // entries that are published, and that are not published yet
	Time           time.Time
	Problem        bool // no further checkpoint is published
	Cosigned, Need int  // cosignatures of the checkpoint, and how many it should have
}

// Links is the state of the link checks.
type Links struct {
	Counts       map[string]int64 // locations by verdict
	Checks       uint64           // number of checks since the start of the program
	FailingHosts int
	Paused       bool
}

// A Scrub is the state of the background verification of a store.
type Scrub struct {
	Ended          time.Time // when the last complete pass ended; zero if none did
	Faults         uint64    // faults that the last complete pass found
	Changes, Found uint64    // changes verified and faults found by the current pass, or by the last pass if none is running
}

// Metrics collects metrics in its own registry, and is the http.Handler that shows them. It is safe
// for concurrent use.
type Metrics struct {
	requests *prometheus.CounterVec
	forms    map[string]*form
	stale    prometheus.Counter
	refusals *prometheus.CounterVec
	admin    *prometheus.CounterVec
	signIns  *prometheus.CounterVec
	tasks    *Tasks
	registry *prometheus.Registry
	handler  http.Handler
}

// A form contains the counters for one form of request. The counter for a status is created by the
// first request with this status.
type form struct {
	name   string
	counts [maxStatus + 1]atomic.Pointer[prometheus.Counter]
	times  prometheus.Observer
}

const maxStatus = 599

// New returns Metrics whose counters are all 0.
func New(o Options) *Metrics {
	m := &Metrics{
		requests: counters("nomen_requests_total", "Requests answered, by form and status.", "form", "status"),
		refusals: counters("nomen_refused_total", "Requests and connections rejected, by reason: limit (429), busy (503), connections (limit reached), idle (idle connections closed for new ones), slow (responses aborted).", "reason"),
		admin:    counters("nomen_admin_requests_total", "Requests of the admin API, by the role of the token and status.", "role", "status"),
		signIns:  counters("nomen_sign_ins_total", "Sign-ins to the pages and failed attempts, by way and result.", "way", "result"),
		stale: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "nomen_stale_answers_total", Help: "Answers from the cache while the store was unavailable.",
		}),
		forms:    map[string]*form{},
		tasks:    cmp.Or(o.Tasks, new(Tasks)),
		registry: prometheus.NewRegistry(),
	}
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "nomen_request_duration_seconds", Help: "Time until a request was answered, by form.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 30},
	}, []string{"form"})
	for _, reason := range o.Refusals {
		m.refusals.WithLabelValues(reason)
	}
	for _, name := range o.Forms {
		m.forms[name] = &form{name: name, times: seconds.WithLabelValues(name)}
	}
	m.registry.MustRegister(m.requests, seconds, m.refusals, m.stale, m.admin, m.signIns, buildInfo(o.Build),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.Tasks = m.tasks
	m.registry.MustRegister(sources(o)...)
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3})
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// buildInfo returns a gauge whose value is always 1 and whose labels identify the build.
func buildInfo(b Build) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "nomen_build_info", Help: "Always 1; the labels have the version, revision and Go version of the program.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "goversion": b.Go},
	}, func() float64 { return 1 })
}

// ServeHTTP shows the metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Answered returns how many requests were answered since the start of the program, by the first
// digit of their status.
func (m *Metrics) Answered() (counts [10]uint64) {
	r := prometheus.NewRegistry()
	r.MustRegister(m.requests)
	families, err := r.Gather()
	if err != nil {
		return counts
	}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			for _, label := range metric.GetLabel() {
				if status := label.GetValue(); label.GetName() == "status" && status != "" && '0' <= status[0] && status[0] <= '9' {
					counts[status[0]-'0'] += uint64(metric.GetCounter().GetValue())
				}
			}
		}
	}
	return counts
}

// Refused counts a rejected request or connection.
func (m *Metrics) Refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }

// Stale counts an answer from the cache while the store was unavailable.
func (m *Metrics) Stale() { m.stale.Inc() }

// AdminRequest counts a request to the admin API. The parameter role is the role of the token, or
// "none" if the request has no valid token.
func (m *Metrics) AdminRequest(role string, status int) {
	m.admin.WithLabelValues(role, strconv.Itoa(min(max(status, 0), maxStatus))).Inc()
}

// SignIn counts an attempt to sign in to the pages of the admin listener, by way and result.
func (m *Metrics) SignIn(way, result string) { m.signIns.WithLabelValues(way, result).Inc() }

// Ran records that a recurring task ended, with its error or nil.
func (m *Metrics) Ran(task string, at time.Time, err error) { m.tasks.Ran(task, at, err) }

// Expect makes the metrics show a recurring task that has not run yet in this process.
func (m *Metrics) Expect(task string, lastSuccess time.Time) { m.tasks.Expect(task, lastSuccess) }

// Observe counts a request and the time it took. The parameter name is the form of the request; a
// form that is not in the options is ignored.
func (m *Metrics) Observe(name string, status int, took time.Duration) {
	f := m.forms[name]
	if f == nil {
		return
	}
	f.times.Observe(took.Seconds())
	known := &f.counts[min(max(status, 0), maxStatus)]
	c := known.Load()
	if c == nil {
		made := m.requests.WithLabelValues(f.name, strconv.Itoa(status))
		c = &made
		known.Store(c)
	}
	(*c).Inc()
}
