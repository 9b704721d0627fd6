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

// metrics counts requests in a registry of its own.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	stale    prometheus.Counter
	refusals *prometheus.CounterVec
	handler  http.Handler

	counts [forms][maxStatus + 1]atomic.Pointer[prometheus.Counter]
	times  [forms]prometheus.Observer
}

// maxStatus is the greatest status of HTTP.
const maxStatus = 599

// newMetrics counts the requests of a server; condition is that of its store, clock
// whether changes may be dated by its clock, scrub nil if there is none.
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
		Name: "nomen_stale_answers_total", Help: "Answers from the cache while the store was away.",
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
		Name: "nomen_refused_total", Help: "Requests and connections refused, by reason: limit (429), busy (503), connections (of an address with its share), idle (closed to make room), slow (streams cut off).",
	}, []string{"reason"})
	for _, reason := range []string{refusedLimit, refusedBusy, refusedSlow, refusedConnection, refusedIdle} {
		m.refusals.WithLabelValues(reason)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.seconds, m.refusals, m.stale, degraded{condition},
		oneIf("nomen_storage_readable", "Whether the store can be read: 1 or 0.", func() bool { return !condition().NoReads }),
		oneIf("nomen_storage_writable", "Whether the store takes changes: 1 or 0.", func() bool { return !condition().NoWrites }),
		oneIf("nomen_clock_accepted", "Whether changes are accepted by the clock of this server: 1 or 0.", clock),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if scrub != nil {
		gauge := func(name, help string, value func(scrubState) float64) prometheus.GaugeFunc {
			return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(scrub.known()) })
		}
		registry.MustRegister(
			gauge("nomen_scrub_last_complete_timestamp_seconds", "When the background verification last went through the whole store; 0 if it has not yet.", func(s scrubState) float64 {
				if s.Last.Ended.IsZero() {
					return 0
				}
				return float64(s.Last.Ended.UnixMilli()) / 1000
			}),
			gauge("nomen_scrub_last_faults", "Faults that the last complete background verification found.", func(s scrubState) float64 { return float64(s.Last.Faults) }),
			gauge("nomen_scrub_faults", "Faults that the present background verification, or the last one between two, has found.", func(s scrubState) float64 { return float64(s.Faults) }),
			gauge("nomen_scrub_changes", "Changes that the present background verification, or the last one between two, has verified.", func(s scrubState) float64 {
				h, _ := store.ParseHead(s.Head) // none before the first step
				return float64(h.Size)
			}))
	}
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3})
	for f := range m.times {
		m.times[f] = m.seconds.WithLabelValues(form(f).String())
	}
	return m
}

// refused counts what was refused.
func (m *metrics) refused(reason string) { m.refusals.WithLabelValues(reason).Inc() }

// A degraded collects why the store is away, while it is.
type degraded struct{ condition func() store.Condition }

// Describe implements [prometheus.Collector].
func (d degraded) Describe(to chan<- *prometheus.Desc) { to <- d.desc() }

func (d degraded) desc() *prometheus.Desc {
	return prometheus.NewDesc("nomen_storage_degraded_seconds", "For how long the store has been away, by cause; absent while all is well.", []string{"cause"}, nil)
}

// Collect implements [prometheus.Collector].
func (d degraded) Collect(to chan<- prometheus.Metric) {
	if c := d.condition(); c.Cause != "" {
		to <- prometheus.MustNewConstMetric(d.desc(), prometheus.GaugeValue, time.Since(c.Since).Seconds(), printable(c.Cause))
	}
}

// observe counts a request. The counters of forms and statuses that have occurred
// are at hand.
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
