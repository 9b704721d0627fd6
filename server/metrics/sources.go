package metrics

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nomen-project/nomen/internal/requestlog"
	"github.com/nomen-project/nomen/store"
)

// A value adds a sample to a metric. The labels must be in the order of their names in the metric.
type value func(v float64, labels ...string)

// A source is a metric whose samples come from the function read, which is called whenever the
// metrics are shown.
type source struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(value)
}

func (s source) Describe(to chan<- *prometheus.Desc) { to <- s.desc }

func (s source) Collect(to chan<- prometheus.Metric) {
	s.read(func(v float64, labels ...string) { to <- prometheus.MustNewConstMetric(s.desc, s.kind, v, labels...) })
}

func gauge(name, help string, read func(value), labels ...string) prometheus.Collector {
	return source{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue, read}
}

func counter(name, help string, read func(value), labels ...string) prometheus.Collector {
	return source{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue, read}
}

func oneIf(holds func() bool) func(value) {
	return func(to value) { to(truth(holds())) }
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// timestamp converts a time to Unix seconds, and the zero time to 0.
func timestamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// sources returns the metrics whose samples the functions in the options provide.
func sources(o Options) []prometheus.Collector {
	all := slices.Concat(storage(o.Store), caches(o), counts(o.Store))
	all = append(all, gauge("nomen_clock_accepted", "Whether the clock of this server is accepted for dating changes: 1 or 0.",
		oneIf(func() bool { return o.Clock == nil || o.Clock() })))
	if o.Ready != nil {
		all = append(all, gauge("nomen_ready", "Whether the server is ready, as /-/readyz reports: 1 or 0.", oneIf(o.Ready)))
	}
	if o.Scrub != nil {
		all = append(all, scrubbed(o.Scrub)...)
	}
	if o.Search != nil {
		all = append(all, indexed(o.Search)...)
	}
	if o.Links != nil {
		all = append(all, checked(o.Links)...)
	}
	if o.Published != nil {
		all = append(all, published(o.Published)...)
	}
	if o.Jobs != nil {
		all = append(all, gauge("nomen_jobs", "Jobs that the admin API lists, by kind and state.", func(to value) {
			for _, j := range o.Jobs() {
				to(float64(j.Count), j.Kind, j.State)
			}
		}, "kind", "state"))
	}
	return slices.Concat(all, traffic(o), o.Tasks.sources())
}

// traffic returns the metrics of requests, connections, certificates and the log.
func traffic(o Options) (all []prometheus.Collector) {
	if o.Upstream != nil {
		all = append(all, gauge("nomen_upstream_requests", "Requests to other resolvers, by state: running, or waiting because of a limit.", func(to value) {
			running, waiting := o.Upstream()
			to(float64(running), "running")
			to(float64(waiting), "waiting")
		}, "state"))
	}
	if o.Connections != nil {
		all = append(all, gauge("nomen_connections", "Open connections, by listener.", func(to value) {
			for listener, n := range o.Connections() {
				to(float64(n), listener)
			}
		}, "listener"))
	}
	if o.Misses != nil {
		all = append(all, counter("nomen_misses_total", "Failed lookups, since they were last cleared.", func(to value) { to(float64(o.Misses())) }))
	}
	if o.Counted != nil {
		all = append(all,
			counter("nomen_counts_unchecked_total", "Resolutions that were counted without a check for double clicks, because there was no room.", func(to value) {
				if is, ok := o.Counted(); ok {
					to(float64(is.Unchecked))
				}
			}),
			gauge("nomen_counts_saved_timestamp_seconds", "When the counts of resolutions were last written.", func(to value) {
				if is, ok := o.Counted(); ok && !is.Saved.IsZero() {
					to(timestamp(is.Saved))
				}
			}))
	}
	if o.Certificate != nil {
		all = append(all, gauge("nomen_certificate_expiry_timestamp_seconds", "When the next certificate of this server expires.", func(to value) {
			if at := o.Certificate(); !at.IsZero() {
				to(timestamp(at))
			}
		}))
	}
	if o.Rested != nil {
		all = append(all, counter("nomen_background_rest_seconds_total", "Time for which background work has rested because of requests, summed over its goroutines.", func(to value) { to(o.Rested().Seconds()) }))
	}
	if o.Dropped != nil {
		all = append(all, counter("nomen_log_lines_dropped_total", "Lines of the log that could not be written.", func(to value) { to(float64(o.Dropped())) }))
	}
	return all
}

// storage returns the metrics about the condition and the usage of a store.
func storage(r store.Reader) []prometheus.Collector {
	condition := func() store.Condition { return store.ConditionOf(r) }
	disk := func(get func(*store.DiskUsage) uint64) func(value) {
		return func(to value) {
			if d := store.UsageOf(r).Disk; d != nil {
				to(float64(get(d)))
			}
		}
	}
	return []prometheus.Collector{
		gauge("nomen_storage_readable", "Whether the store can be read: 1 or 0.", oneIf(func() bool { return !condition().NoReads })),
		gauge("nomen_storage_writable", "Whether the store can be written: 1 or 0.", oneIf(func() bool { return !condition().NoWrites })),
		gauge("nomen_storage_full", "Whether there is too little space for changes: 1 or 0.", oneIf(func() bool { return condition().Full })),
		gauge("nomen_storage_degraded_seconds", "How long the store has been unavailable, by cause; absent while it is available.", func(to value) {
			if c := condition(); c.Cause != "" {
				to(time.Since(c.Since).Seconds(), requestlog.Printable(c.Cause))
			}
		}, "cause"),
		counter("nomen_storage_failures_total", "How often the store became unavailable.", func(to value) { to(float64(store.UsageOf(r).Failures)) }),
		gauge("nomen_storage_free_bytes", "Free space on the disk of the store.", disk(func(d *store.DiskUsage) uint64 { return d.Free })),
		gauge("nomen_storage_size_bytes", "Size of the disk of the store.", disk(func(d *store.DiskUsage) uint64 { return d.Size })),
		gauge("nomen_storage_required_bytes", "Free space below which the store rejects changes.", disk(func(d *store.DiskUsage) uint64 { return d.Required })),
		gauge("nomen_log_unsealed_seconds", "How long changes have been waiting to be added to the log without progress; 0 if none wait.", func(to value) {
			to(store.UsageOf(r).Unsealed.Seconds())
		}),
		gauge("nomen_database_servers", "Servers of the database, by role.", func(to value) {
			for role, n := range store.UsageOf(r).Servers {
				to(float64(n), role)
			}
		}, "role"),
	}
}

func caches(o Options) []prometheus.Collector {
	each := func(read func(value, *store.CacheUsage)) func(value) {
		return func(to value) {
			for _, c := range store.UsageOf(o.Store).Caches {
				read(to, &c)
			}
			if o.Answers == nil {
				return
			}
			if c, ok := o.Answers(); ok {
				read(to, &c)
			}
		}
	}
	return []prometheus.Collector{
		counter("nomen_cache_hits_total", "Lookups answered from a cache.", each(func(to value, c *store.CacheUsage) { to(float64(c.Hits), c.Name) }), "cache"),
		counter("nomen_cache_misses_total", "Lookups not answered from a cache.", each(func(to value, c *store.CacheUsage) { to(float64(c.Misses), c.Name) }), "cache"),
		counter("nomen_cache_evictions_total", "Entries removed from a cache to make room.", each(func(to value, c *store.CacheUsage) {
			if c.CountsEvictions {
				to(float64(c.Evictions), c.Name)
			}
		}), "cache"),
		gauge("nomen_cache_bytes", "Size of a cache.", each(func(to value, c *store.CacheUsage) { to(float64(c.Bytes), c.Name) }), "cache"),
		gauge("nomen_cache_capacity_bytes", "Maximum size of a cache.", each(func(to value, c *store.CacheUsage) { to(float64(c.Capacity), c.Name) }), "cache"),
	}
}

func scrubbed(state func() (Scrub, bool)) []prometheus.Collector {
	of := func(name, help string, read func(Scrub) float64) prometheus.Collector {
		return gauge(name, help, func(to value) {
			if s, ok := state(); ok {
				to(read(s))
			}
		})
	}
	return []prometheus.Collector{
		of("nomen_scrub_last_complete_timestamp_seconds", "When the background verification last completed; 0 if it never did.", func(s Scrub) float64 { return timestamp(s.Ended) }),
		of("nomen_scrub_last_faults", "Faults found by the last complete background verification.", func(s Scrub) float64 { return float64(s.Faults) }),
		of("nomen_scrub_faults", "Faults found so far by the current background verification, or by the last one if none is running.", func(s Scrub) float64 { return float64(s.Found) }),
		of("nomen_scrub_changes", "Changes verified so far by the current background verification, or by the last one if none is running.", func(s Scrub) float64 { return float64(s.Changes) }),
	}
}

func indexed(state func() (store.IndexStatus, bool)) []prometheus.Collector {
	of := func(name, help string, read func(store.IndexStatus) float64) prometheus.Collector {
		return gauge(name, help, func(to value) {
			if s, ok := state(); ok {
				to(read(s))
			}
		})
	}
	return []prometheus.Collector{
		of("nomen_search_built", "Whether the search index has had all names: 1, or 0 while it is being built.", func(s store.IndexStatus) float64 { return truth(s.Built) }),
		of("nomen_search_names", "Names indexed so far while the search index is being built; afterwards the names of its last building.", func(s store.IndexStatus) float64 { return float64(s.Names) }),
		of("nomen_search_behind", "Changes that the search index does not have yet.", func(s store.IndexStatus) float64 { return float64(s.Behind()) }),
		of("nomen_search_failed", "Whether the search index cannot follow the changes of the store: 1 or 0.", func(s store.IndexStatus) float64 { return truth(s.Err != nil) }),
	}
}

func published(state func() (Published, bool)) []prometheus.Collector {
	of := func(name, help string, read func(Published) float64) prometheus.Collector {
		return gauge(name, help, func(to value) {
			if s, ok := state(); ok {
				to(read(s))
			}
		})
	}
	return []prometheus.Collector{
		of("nomen_log_published_entries", "Entries in the published checkpoint of the log.", func(s Published) float64 { return float64(s.Size) }),
		of("nomen_log_waiting_entries", "Entries of the log that are not published yet.", func(s Published) float64 { return float64(s.Waiting) }),
		of("nomen_log_checkpoint_timestamp_seconds", "When this server first had the published checkpoint.", func(s Published) float64 { return timestamp(s.Time) }),
		of("nomen_log_suspended", "Whether no further checkpoint is published, for example because the store does not continue the last one: 1 or 0.", func(s Published) float64 { return truth(s.Problem) }),
		of("nomen_log_cosignatures", "Cosignatures of the published checkpoint.", func(s Published) float64 { return float64(s.Cosigned) }),
		of("nomen_log_cosignatures_needed", "Cosignatures that the published checkpoint should have.", func(s Published) float64 { return float64(s.Need) }),
	}
}

func checked(state func() (Links, bool)) []prometheus.Collector {
	of := func(name, help string, read func(Links, value), labels ...string) prometheus.Collector {
		return gauge(name, help, func(to value) {
			if s, ok := state(); ok {
				read(s, to)
			}
		}, labels...)
	}
	return []prometheus.Collector{
		of("nomen_links", "Locations that are checked, by verdict.", func(s Links, to value) {
			for verdict, n := range s.Counts {
				to(float64(n), verdict)
			}
		}, "verdict"),
		counter("nomen_link_checks_total", "Checks of locations.", func(to value) {
			if s, ok := state(); ok {
				to(float64(s.Checks))
			}
		}),
		of("nomen_link_hosts_failing", "Hosts that fail as a whole; at most 200.", func(s Links, to value) { to(float64(s.FailingHosts)) }),
		of("nomen_link_checks_paused", "Whether the checks of locations pause, because the network of the server seems to fail: 1 or 0.", func(s Links, to value) { to(truth(s.Paused)) }),
	}
}

// countEvery is the minimum time between two queries for the size of the store. Each query has the
// time limit countTime.
const (
	countEvery = 10 * time.Second
	countTime  = time.Second
)

type size struct {
	store store.Reader

	mu           sync.Mutex
	at           time.Time
	names, log   float64
	known, sized bool // whether names and log are valid
}

// counts returns the metrics about the size of a store. Collecting them does not list the names in
// the store.
func counts(r store.Reader) []prometheus.Collector {
	s := &size{store: r}
	return []prometheus.Collector{
		gauge("nomen_names", "Names with a record, including reserved and retired ones; absent while it is unknown.", func(to value) {
			if names, _, known, _ := s.read(); known {
				to(names)
			}
		}),
		gauge("nomen_log_size", "Changes in the log; absent while it is unknown.", func(to value) {
			if _, log, _, sized := s.read(); sized {
				to(log)
			}
		}),
	}
}

func (s *size) read() (names, log float64, known, sized bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) >= countEvery {
		s.ask()
	}
	return s.names, s.log, s.known, s.sized
}

// ask asks the store for its size, unless the store is known to be unavailable.
func (s *size) ask() {
	s.known, s.sized = false, false
	defer func() { s.at = time.Now() }()
	if store.ConditionOf(s.store).NoReads {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTime)
	defer cancel()
	if c, ok := s.store.(store.Counter); ok {
		n, _, err := c.Count(ctx)
		s.names, s.known = float64(n), err == nil
	}
	if f, ok := s.store.(store.Feed); ok {
		head, err := f.Head(ctx)
		s.log, s.sized = float64(head.Size), err == nil
	}
}
