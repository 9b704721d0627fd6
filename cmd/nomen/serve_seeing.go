package main

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/search"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/metrics"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog/publish"
)

type seeingFlags struct {
	publicMetrics bool
	log           logFlags
}

func (o *seeingFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.publicMetrics, "public-metrics", false, "show /-/metrics on the public listener in addition to the admin listener")
	o.log.register(f)
}

// seen contains the metrics of a server and the parts that the metrics describe. A reload can
// replace the parts, but not the metrics.
type seen struct {
	started time.Time
	tasks   metrics.Tasks
	metrics *metrics.Metrics

	server  atomic.Pointer[server.Server]
	api     atomic.Pointer[admin.API]
	outside atomic.Pointer[outside]
	gopher  atomic.Pointer[gopherServer]

	certificates atomic.Pointer[serverCertificates]
	index        atomic.Pointer[search.Index]
	links        atomic.Pointer[links.Watcher]
	published    atomic.Pointer[publish.Log]
	counts       atomic.Pointer[counts.Counter]
}

func newSeen(s store.Reader, reg *registrar.Registrar, dropped func() uint64, rested func() time.Duration) *seen {
	v := &seen{started: clock()}
	v.metrics = metrics.New(metrics.Options{
		Forms: server.Forms(), Refusals: server.Refusals(), Store: s,
		Clock: func() bool { return reg.ClockProblem() == nil },
		Ready: func() bool {
			s := v.server.Load()
			return s != nil && s.Ready()
		},
		Scrub: v.scrub, Search: v.indexed, Links: v.linked, Published: v.publication, Jobs: v.jobs, Connections: v.connections,
		Answers: v.answers, Upstream: v.upstream, Misses: v.misses, Counted: v.counted, Certificate: v.expiry, Tasks: &v.tasks, Dropped: dropped, Rested: rested, Build: build(),
	})
	return v
}

// set sets the server and the parts that the metrics describe from then on.
func (v *seen) set(s *server.Server, api *admin.API, w *outside) {
	v.server.Store(s)
	v.api.Store(api)
	v.outside.Store(w)
}

func (v *seen) upstream() (running, waiting int) {
	if w := v.outside.Load(); w != nil {
		return w.asks.Load()
	}
	return 0, 0
}

func (v *seen) answers() (store.CacheUsage, bool) {
	if s := v.server.Load(); s != nil {
		return s.AnswerCache()
	}
	return store.CacheUsage{}, false
}

func (v *seen) expiry() time.Time {
	if c := v.certificates.Load(); c != nil {
		return c.expiry()
	}
	return time.Time{}
}

func (v *seen) counted() (metrics.Counted, bool) {
	c := v.counts.Load()
	return metrics.Counted{Unchecked: c.Overflow(), Saved: c.Saved()}, c != nil
}

func (v *seen) misses() uint64 {
	if w := v.outside.Load(); w != nil {
		return w.misses.Totals().Asked
	}
	return 0
}

func (v *seen) scrub() (metrics.Scrub, bool) {
	api := v.api.Load()
	if api == nil {
		return metrics.Scrub{}, false
	}
	state, ok := api.Scrub()
	return metrics.Scrub(state), ok
}

func (v *seen) indexed() (store.IndexStatus, bool) {
	x := v.index.Load()
	if x == nil {
		return store.IndexStatus{}, false
	}
	return x.Status(), true
}

func (v *seen) linked() (metrics.Links, bool) {
	w := v.links.Load()
	if w == nil {
		return metrics.Links{}, false
	}
	is := w.Status()
	return metrics.Links{Counts: is.Counts, Checks: is.Checks, FailingHosts: len(is.Failing), Paused: !is.Paused.IsZero()}, true
}

func (v *seen) publication() (metrics.Published, bool) {
	l := v.published.Load()
	if l == nil {
		return metrics.Published{}, false
	}
	is := l.Status()
	return metrics.Published{Size: is.Size, Waiting: is.Waiting, Time: is.Time, Problem: is.Problem != "", Cosigned: is.Cosigned, Need: is.Need}, true
}

func (v *seen) jobs() (all []metrics.Jobs) {
	if api := v.api.Load(); api != nil {
		api.CountJobs(func(kind, state string, n int) { all = append(all, metrics.Jobs{Kind: kind, State: state, Count: n}) })
	}
	return all
}

func (v *seen) connections() map[string]int {
	s, g := v.server.Load(), v.gopher.Load()
	if s == nil {
		return nil
	}
	open := s.Connections()
	if g != nil {
		open["gopher"] = g.gopher.Connections()
	}
	return open
}

func build() metrics.Build {
	b := metrics.Build{Version: versionText(), Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Revision = s.Value
			}
		}
	}
	return b
}
