package main

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/metrics"
)

// seeingFlags are the options about what a server shows of itself: its metrics and its log.
type seeingFlags struct {
	publicMetrics bool
}

func (o *seeingFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.publicMetrics, "public-metrics", false, "show /-/metrics on the public listener too")
}

// seen is the server that the metrics describe. The metrics exist before it.
type seen struct {
	server atomic.Pointer[server.Server]
	api    atomic.Pointer[admin.API]
}

func (v *seen) set(s *server.Server, api *admin.API) {
	v.server.Store(s)
	v.api.Store(api)
}

// metrics returns the metrics of a server with these parts.
func (v *seen) metrics(p serverParts) *metrics.Metrics {
	return metrics.New(metrics.Options{
		Forms: server.Forms(), Refusals: server.Refusals(), Store: p.store,
		Clock: func() bool { return p.registrar.ClockProblem() == nil },
		Ready: func() bool {
			s := v.server.Load()
			return s != nil && s.Ready()
		},
		Scrub: v.scrub, Jobs: v.jobs, Connections: v.connections,
		Upstream: p.outside.asks.Load,
		Misses:   func() uint64 { return p.outside.misses.Totals().Asked },
		Build:    build(),
	})
}

func (v *seen) scrub() (metrics.Scrub, bool) {
	api := v.api.Load()
	if api == nil {
		return metrics.Scrub{}, false
	}
	state, ok := api.Scrub()
	return metrics.Scrub(state), ok
}

func (v *seen) jobs() (all []metrics.Jobs) {
	if api := v.api.Load(); api != nil {
		api.CountJobs(func(kind, state string, n int) { all = append(all, metrics.Jobs{Kind: kind, State: state, Count: n}) })
	}
	return all
}

func (v *seen) connections() map[string]int {
	if s := v.server.Load(); s != nil {
		return s.Connections()
	}
	return nil
}

// build returns what identifies this program.
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
