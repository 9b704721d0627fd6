package server

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/nomen-project/nomen/store"
)

const metricsPath = "/-/metrics"

// A metrics collects metrics in its own registry.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	stale    prometheus.Counter
	refusals *prometheus.CounterVec
	handler  http.Handler

	counts [forms][maxStatus + 1]atomic.Pointer[prometheus.Counter]
	times  [forms]prometheus.Observer
}

// maxStatus is the highest status of HTTP.
const maxStatus = 599

// newMetrics returns the metrics of a server. The function condition returns the state of
// its store, and clock whether its clock is accepted for dating changes; scrub may be
// nil.
func newMetrics(condition func() store.Condition, clock func() bool, scrub *scrub) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nomen_requests_total", Help: "Requests answered, by form and status.",
		}, []string{"form", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "nomen_request_seconds", Help: "Time until a request was answered, by form.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 30},
		}, []string{"form"}),
	}
	m.stale = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "nomen_stale_answers_total", Help: "Answers from the cache while the store was unavailable.",
	})
	oneIf := func(name, help string, holds func() bool) prometheus.GaugeFunc {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if holds() {
				return 1
			}
			return 0
		})
	}
	m.refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "nomen_refused_total", Help: "Requests and connections rejected, by reason: limit (429), busy (503), connections (limit reached), idle (idle connections closed for new ones), slow (responses aborted).",
	}, []string{"reason"})
	for _, reason := range []string{refusedLimit, refusedBusy, refusedSlow, refusedConnection, refusedIdle} {
		m.refusals.WithLabelValues(reason)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.seconds, m.refusals, m.stale, degraded{condition},
		oneIf("nomen_storage_readable", "Whether the store can be read: 1 or 0.", func() bool { return !condition().NoReads }),
		oneIf("nomen_storage_writable", "Whether the store can be written: 1 or 0.", func() bool { return !condition().NoWrites }),
		oneIf("nomen_clock_accepted", "Whether the clock of this server is accepted for dating changes: 1 or 0.", clock),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if scrub != nil {
		gauge := func(name, help string, value func(scrubState) float64) prometheus.GaugeFunc {
			return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(scrub.known()) })
		}
		registry.MustRegister(
			gauge("nomen_scrub_last_complete_timestamp_seconds", "When the background verification last completed; 0 if it never did.", func(s scrubState) float64 {
				if s.Last.Ended.IsZero() {
					return 0
				}
				return float64(s.Last.Ended.UnixMilli()) / 1000
			}),
			gauge("nomen_scrub_last_faults", "Faults found by the last complete background verification.", func(s scrubState) float64 { return float64(s.Last.Faults) }),
			gauge("nomen_scrub_faults", "Faults found so far by the current background verification, or by the last one if none is running.", func(s scrubState) float64 { return float64(s.Faults) }),
			gauge("nomen_scrub_changes", "Changes verified so far by the current background verification, or by the last one if none is running.", func(s scrubState) float64 {
				h, _ := store.ParseHead(s.Head) // zero before the first step
				return float64(h.Size)
			}))
	}
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3})
	for f := range m.times {
		m.times[f] = m.seconds.WithLabelValues(form(f).String())
	}
	return m
}

// refused counts a rejected request or connection.
func (m *metrics) refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }

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
		to <- prometheus.MustNewConstMetric(d.desc(), prometheus.GaugeValue, time.Since(c.Since).Seconds(), printable(c.Cause))
	}
}

// observe counts a request. Counters of forms and statuses that have occurred are cached.
func (m *metrics) observe(p *reply, took time.Duration) {
	m.counter(p.form, p.status).Inc()
	m.times[p.form].Observe(took.Seconds())
}

func (m *metrics) counter(f form, status int) prometheus.Counter {
	known := &m.counts[f][min(max(status, 0), maxStatus)]
	if c := known.Load(); c != nil {
		return *c
	}
	c := m.requests.WithLabelValues(f.String(), strconv.Itoa(status))
	known.Store(&c)
	return c
}
