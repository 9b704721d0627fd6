package main

import (
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/registry"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/store"
)

// serverParts are the parts of a server that are made before the server.
type serverParts struct {
	store      servingStore
	registrar  *registrar.Registrar
	table      *store.Table
	token      *store.Token // of this node; nil if it has none
	proxies    []netip.Prefix
	registries *registry.Registries
	outside    *outside
	gateway    *gatewayServer
	seen       *seen
	log        *slog.Logger
}

// newServer returns a server with its admin API and its metrics.
func (c *cli) newServer(f *serveFlags, p serverParts) (*server.Server, error) {
	var access *slog.Logger
	if !f.noAccessLog {
		access = p.log
	}
	api, err := c.newAdmin(f, p, access)
	if err != nil {
		return nil, err
	}
	o := server.Options{
		Store: p.store, Authorities: p.table, Admin: api, Metrics: p.seen.metrics, PublicMetrics: f.seeing.publicMetrics, Clock: p.registrar.ClockProblem,
		PublicURL: f.publicURL, Version: versionText(), Instance: c.instance, TrustedProxies: p.proxies, Hosts: f.ownHosts(), Registries: p.registries,
		Country: p.outside.country, CountryHeader: f.outside.countryHeader, Misses: p.outside.misses,
		Now: clock, Log: p.log, AccessLog: access,
		Limits: f.serverLimits(),
	}
	p.gateway.into(&o)
	srv, err := server.New(o)
	p.seen.set(srv, api, p.outside, p.gateway)
	return srv, err
}

// newAdmin returns the admin API of a server.
func (c *cli) newAdmin(f *serveFlags, p serverParts, access *slog.Logger) (*admin.API, error) {
	o := admin.Options{
		Store: p.store, Registrar: p.registrar, Resolver: p.gateway.resolver, Authorities: p.table,
		Version: versionText(), Instance: c.instance, NodeToken: p.token, Misses: p.outside.misses, Metrics: p.seen.metrics, Scratch: newScratch,
		Jobs: filepath.Join(c.data, jobsDir), Scrub: c.scrubRate(f.scrub),
		Now: clock, Log: p.log, AccessLog: access,
	}
	if u, err := url.Parse(f.publicURL); err == nil && u.Host != "" {
		o.Hosts = []string{u.Host}
	}
	o.Hosts = append(o.Hosts, f.hostsOf(true)...)
	if !f.readOnly {
		o.ScrubDir = c.data
	}
	return admin.New(o)
}
