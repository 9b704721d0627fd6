package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const metricsPath = "/-/metrics"

// metrics counts requests in a registry of its own.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	handler  http.Handler
}

func newMetrics() *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "nomen_requests_total", Help: "Requests answered, by form and status.",
		}, []string{"form", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "nomen_request_seconds", Help: "Time until a request was answered, by form.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 30},
		}, []string{"form"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.seconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3})
	return m
}

func (m *metrics) observe(p *reply, took time.Duration) {
	m.requests.WithLabelValues(p.form.String(), strconv.Itoa(p.status)).Inc()
	m.seconds.WithLabelValues(p.form.String()).Observe(took.Seconds())
}
