// Package metrics collects the metrics of a server for Prometheus.
package metrics

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/store"
)

// Options say what to collect.
type Options struct {
	Forms    []string               // of requests, as passed to Observe
	Refusals []string               // reasons, as passed to Refused
	Store    func() store.Condition // the state of the store
	Clock    func() bool            // whether the clock is accepted for dating changes; nil if the server dates none
	Scrub    func() Scrub           // the state of the background verification; nil if there is none
}

// A Scrub is the state of the background verification of a store.
type Scrub struct {
	Ended          time.Time // when the last complete pass ended; zero if none did
	Faults         uint64    // found by the last complete pass
	Changes, Found uint64    // changes verified and faults found by the current pass, or the last one if none is running
}

// Metrics collects metrics in its own registry, and shows them as an http.Handler. It is
// safe for concurrent use.
type Metrics struct {
	requests *prometheus.CounterVec
	forms    map[string]*form
	stale    prometheus.Counter
	refusals *prometheus.CounterVec
	handler  http.Handler
}

// A form has the counters of a form of requests that have occurred.
type form struct {
	name   string
	counts [maxStatus + 1]atomic.Pointer[prometheus.Counter]
	times  prometheus.Observer
}

// maxStatus is the highest status of HTTP.
const maxStatus = 599

// New returns metrics without any requests.
func New(o Options) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nomen_requests_total", Help: "Requests answered, by form and status.",
		}, []string{"form", "status"}),
		stale: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "nomen_stale_answers_total", Help: "Answers from the cache while the store was unavailable.",
		}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nomen_refused_total", Help: "Requests and connections rejected, by reason: limit (429), busy (503), connections (limit reached), idle (idle connections closed for new ones), slow (responses aborted).",
		}, []string{"reason"}),
		forms: map[string]*form{},
	}
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "nomen_request_seconds", Help: "Time until a request was answered, by form.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 30},
	}, []string{"form"})
	for _, reason := range o.Refusals {
		m.refusals.WithLabelValues(reason)
	}
	for _, name := range o.Forms {
		m.forms[name] = &form{name: name, times: seconds.WithLabelValues(name)}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, seconds, m.refusals, m.stale, degraded{o.Store},
		oneIf("nomen_storage_readable", "Whether the store can be read: 1 or 0.", func() bool { return !o.Store().NoReads }),
		oneIf("nomen_storage_writable", "Whether the store can be written: 1 or 0.", func() bool { return !o.Store().NoWrites }),
		oneIf("nomen_clock_accepted", "Whether the clock of this server is accepted for dating changes: 1 or 0.", func() bool { return o.Clock == nil || o.Clock() }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Scrub != nil {
		registry.MustRegister(scrubbed(o.Scrub)...)
	}
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3})
	return m
}

// oneIf returns a gauge that is 1 while something holds.
func oneIf(name, help string, holds func() bool) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		if holds() {
			return 1
		}
		return 0
	})
}

// scrubbed returns the gauges of the background verification.
func scrubbed(state func() Scrub) []prometheus.Collector {
	gauge := func(name, help string, value func(Scrub) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(state()) })
	}
	return []prometheus.Collector{
		gauge("nomen_scrub_last_complete_timestamp_seconds", "When the background verification last completed; 0 if it never did.", func(s Scrub) float64 {
			if s.Ended.IsZero() {
				return 0
			}
			return float64(s.Ended.UnixMilli()) / 1000
		}),
		gauge("nomen_scrub_last_faults", "Faults found by the last complete background verification.", func(s Scrub) float64 { return float64(s.Faults) }),
		gauge("nomen_scrub_faults", "Faults found so far by the current background verification, or by the last one if none is running.", func(s Scrub) float64 { return float64(s.Found) }),
		gauge("nomen_scrub_changes", "Changes verified so far by the current background verification, or by the last one if none is running.", func(s Scrub) float64 { return float64(s.Changes) }),
	}
}

// ServeHTTP shows the metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

// Refused counts a rejected request or connection.
func (m *Metrics) Refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }

// Stale counts an answer from the cache while the store was unavailable.
func (m *Metrics) Stale() { m.stale.Inc() }

// Observe counts a request of a form. It ignores forms that are not in the options.
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

// A degraded collects how long the store has been unavailable, and why.
type degraded struct{ condition func() store.Condition }

// Describe implements [prometheus.Collector].
func (d degraded) Describe(to chan<- *prometheus.Desc) { to <- d.desc() }

func (d degraded) desc() *prometheus.Desc {
	return prometheus.NewDesc("nomen_storage_degraded_seconds", "How long the store has been unavailable, by cause; absent while it is available.", []string{"cause"}, nil)
}

// Collect implements [prometheus.Collector].
func (d degraded) Collect(to chan<- prometheus.Metric) {
	if c := d.condition(); c.Cause != "" {
		to <- prometheus.MustNewConstMetric(d.desc(), prometheus.GaugeValue, time.Since(c.Since).Seconds(), requestlog.Printable(c.Cause))
	}
}
