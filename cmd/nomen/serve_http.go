package main

import (
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/registry"
	"github.com/nomen-project/nomen/search"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/metrics"
	"github.com/nomen-project/nomen/signin"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog/publish"
)

// serverParts contains the parts of a server that are created before the server itself.
type serverParts struct {
	store       servingStore
	registrar   *registrar.Registrar
	table       *store.Table
	token       *store.Token // of this node; nil if it has none
	proxies     []netip.Prefix
	registries  *registry.Registries
	outside     *outside
	gateway     *gatewayServer
	country     func(netip.Addr) string // nil without a database
	asks        *gateway.Asks           // bounds concurrent requests to other resolvers
	misses      *misses.Counter
	counts      *resolutionCounts // nil if resolutions are not counted
	resolver    nomen.Resolver    // the resolver of the gateway; a reload replaces what it refers to
	live        *liveServer
	seen        *seen
	index       *search.Index  // may be nil
	links       *links.Watcher // may be nil
	published   *publish.Log   // nil if the log is not published
	dead        *links.DeadSet // may be nil
	answerCache int64          // default size of the cache of answers, in bytes
	downloads   string         // directory of batch downloads; "" if the server is read-only
	pacer       *pacer.Pacer
	log         *slog.Logger
}

func (c *cli) newServer(f *serveFlags, p serverParts, api *admin.API) (*server.Server, error) {
	about, err := f.site.site()
	if err != nil {
		return nil, err
	}
	o := server.Options{
		Store: p.store, Authorities: p.table, Admin: api, Metrics: pacedMetrics{p.seen.metrics, c.pacer}, PublicMetrics: f.seeing.publicMetrics, Clock: p.registrar.ClockProblem,
		PublicURL: f.publicURL, Version: versionText(), Instance: c.instance, TrustedProxies: p.proxies, Hosts: f.ownHosts(), Registries: p.registries,
		Country: p.country, CountryHeader: f.outside.countryHeader, Misses: p.misses, Counts: p.counts.counter(),
		Now: clock, Log: p.log, AccessLog: f.accessLog(p.log), LogAddresses: f.seeing.log.addresses,
		Limits: f.serverLimits(), Site: about, Publication: p.published, AnswerCache: f.answerCacheSize(p.answerCache),
	}
	if p.pacer = c.pacer; !f.readOnly {
		p.downloads = filepath.Join(c.data, downloadsDir)
	}
	if p.links != nil {
		o.LinkChecks = &server.LinkChecks{Agent: linksAgent(f.publicURL), Contact: f.links.contact}
	}
	if o.Dialects, err = c.openDialects(p, api); err != nil {
		return nil, err
	}
	p.gateway.into(&o)
	return server.New(o)
}

// pacedMetrics reports each request to the metrics and to a pacer. The pacer slows background work
// down while the server is busy.
type pacedMetrics struct {
	*metrics.Metrics
	pacer *pacer.Pacer
}

func (m pacedMetrics) Observe(form string, status int, took time.Duration) {
	m.pacer.Request()
	m.Metrics.Observe(form, status, took)
}

func (f *serveFlags) answerCacheSize(usual int64) int64 {
	if f.answerCache < 0 {
		return usual
	}
	return int64(f.answerCache) << 20
}

func (f *serveFlags) accessLog(log *slog.Logger) *slog.Logger {
	if f.noAccessLog {
		return nil
	}
	return log
}

func (f *serveFlags) adminHosts() (all []string) {
	for _, text := range []string{f.publicURL, f.signIn.url} {
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			all = append(all, u.Host)
		}
	}
	return append(all, f.hostsOf(true)...)
}

func (c *cli) newAdmin(f *serveFlags, p serverParts) (*admin.API, *signin.Manager, error) {
	o := admin.Options{
		Store: p.store, Registrar: p.registrar, Resolver: p.resolver, Authorities: p.table,
		Version: versionText(), Instance: c.instance, NodeToken: p.token, Misses: p.misses, Links: p.links, Publication: p.published, Counts: p.counts.counter(), Metrics: p.seen.metrics, Scratch: newScratch,
		Jobs: filepath.Join(c.data, jobsDir), Pacer: c.pacer, Scrub: c.scrubRate(f.scrub),
		Now: clock, Log: p.log, AccessLog: f.accessLog(p.log), Hosts: f.adminHosts(), Limits: f.limits.tokenLimits(), SecondPerson: f.limits.second,
		Config: p.live,
	}
	var err error
	if o.Archive, err = f.newArchive(); err != nil {
		return nil, nil, err
	}
	if o.SendTest, err = f.reports.tester(); err != nil {
		return nil, nil, err
	}
	if !f.readOnly {
		o.ScrubDir = c.data
	}
	if p.index != nil {
		o.Search = p.index
	}
	if c.inDatabase() && !f.readOnly {
		var err error
		if o.SharedJobs, err = store.JobStoreOf(p.store); err != nil {
			return nil, nil, err
		}
	}
	return c.newAdminWithPages(f, p, o)
}
