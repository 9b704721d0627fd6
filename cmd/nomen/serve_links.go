package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/links"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/pgstore"
)

// linksDir is the subdirectory of the data directory for the states of links. If the store is in
// another directory, linksSuffix is appended to the path of the store instead.
const (
	linksDir    = "links"
	linksSuffix = ".links"
)

// linksLease is the duration of the lease for looking for new locations in the log of changes. A
// node of a database must renew the lease before it expires.
const linksLease = 3 * time.Minute

type linksFlags struct {
	check   bool
	contact string
	probes  []string
	own     []string
	proxy   string

	timeGate, availability string
	archiveHosts           []string
}

func (o *linksFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.check, "links.check", false, "check whether the locations of names can still be reached")
	f.StringVar(&o.contact, "links.contact", "", "mail address that the checks give to the hosts, in the field From")
	f.StringSliceVar(&o.probes, "links.probe", nil, "URL of a host that always answers; if many hosts fail at once, the checks ask it whether the network works")
	f.StringSliceVar(&o.own, "links.own", nil, "a host of yours, as HOST or HOST=RATE with at most RATE requests a second (default 1); its robots.txt does not apply to the checks")
	f.StringVar(&o.proxy, "links.proxy", "", "URL of a forward proxy in another network: a location that answers there is not dead")
	f.StringVar(&o.availability, "links.availability", "", "availability interface of an archive that is asked for copies of dead locations, such as https://archive.org/wayback/available")
	f.StringVar(&o.timeGate, "links.timegate", "", "TimeGate (RFC 7089) of such an archive instead, such as https://web.archive.org/web/")
	f.StringSliceVar(&o.archiveHosts, "links.archive-host", nil, "host of copies besides that of the archive")
}

// archiveOptions returns the options for the archive of preserved copies. The result is false if no
// archive is configured.
func (o *linksFlags) archiveOptions() (_ links.ArchiveOptions, ok bool) {
	return links.ArchiveOptions{TimeGate: o.timeGate, Availability: o.availability, Hosts: o.archiveHosts}, o.timeGate != "" || o.availability != ""
}

func (o *linksFlags) checkFlags(must func(ok bool, option string, value any, what string)) {
	if o.contact != "" {
		a, err := mail.ParseAddress(o.contact)
		must(err == nil && a.Address == o.contact, "links.contact", o.contact, "be a mail address, such as library@example.org")
	}
	for _, p := range o.probes {
		u, err := url.Parse(p)
		must(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "", "links.probe", p, "be a URL with the scheme http or https")
	}
	if a, ok := o.archiveOptions(); ok {
		option, value := "links.availability", o.availability
		if value == "" {
			option, value = "links.timegate", o.timeGate
		}
		must(o.availability == "" || o.timeGate == "", option, value, "not be combined with --links.timegate")
		must(a.Check() == nil, option, value, "be a URL with the scheme http or https, without a user and a fragment")
		must(o.check, option, value, "have --links.check beside it")
	}
	for _, h := range o.archiveHosts {
		u, err := url.Parse("https://" + h)
		must(err == nil && u.Host == h && u.Hostname() == h && h != "", "links.archive-host", h, "be the name of a host, such as web.archive.org")
	}
	for _, text := range o.own {
		_, _, ok := parseOwnHost(text)
		must(ok, "links.own", text, "be a host, or a host and the most requests a second, such as repository.example.org=20")
	}
	if o.proxy != "" {
		u, err := url.Parse(o.proxy)
		must(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil, "links.proxy", o.proxy, "be a URL with the scheme http or https, without a password")
	}
}

// maxOwnRate is the maximum number of requests per second to a host of the operator.
const maxOwnRate = 1000

// parseOwnHost parses a host of the operator in the form HOST or HOST=RATE. The result gap is the
// minimum time between two requests to the host.
func parseOwnHost(text string) (host string, gap time.Duration, ok bool) {
	host, rate, given := strings.Cut(text, "=")
	n := 1
	if given {
		var err error
		if n, err = strconv.Atoi(rate); err != nil || n < 1 || n > maxOwnRate {
			return "", 0, false
		}
	}
	u, err := url.Parse("http://" + host + "/")
	ok = err == nil && u.Hostname() == host && host != ""
	return strings.ToLower(host), time.Second / time.Duration(n), ok
}

func (c *cli) linksPath() (string, error) {
	if c.store == "" || c.inDatabase() {
		return filepath.Join(c.data, linksDir), nil
	}
	dir, err := c.storePath()
	return filepath.Clean(dir) + linksSuffix, err
}

// startLinks checks links in the background until end is called. The watcher is nil if the checks
// are turned off, or if their directory cannot be opened. A server can run without a watcher.
func (c *cli) startLinks(ctx context.Context, f *serveFlags, s store.Store, log *slog.Logger) (_ *links.Watcher, _ *links.DeadSet, end func()) {
	source, ok := s.(links.Source)
	if !f.links.check || f.readOnly || !ok {
		return nil, nil, func() {}
	}
	counts := store.InvalidationsOf(s)
	dead := links.NewDeadSet(func(key string) {
		if counts != nil {
			counts.Invalidate(key)
		}
	})
	w, err := c.openLinks(f, s, source, dead, log)
	if err != nil {
		log.Error("the states of links cannot be opened: links are not checked until the server is restarted", "err", err)
		return nil, nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	return w, dead, func() {
		cancel()
		running.Wait()
		if err := w.Close(); err != nil {
			log.Warn("the states of links were not closed properly", "err", err)
		}
	}
}

func (c *cli) openLinks(f *serveFlags, s store.Store, source links.Source, dead *links.DeadSet, log *slog.Logger) (*links.Watcher, error) {
	dir, err := c.linksPath()
	if err != nil {
		return nil, err
	}
	own := map[string]time.Duration{}
	for _, text := range f.links.own {
		host, gap, _ := parseOwnHost(text) // checkFlags has checked it
		own[host] = gap
	}
	o := links.Options{Dir: dir, Dead: dead, Store: source, Agent: linksAgent(f.publicURL), From: f.links.contact, Probes: f.links.probes, Own: own, Proxy: f.links.proxy, Pacer: c.pacer, Now: clock, Log: log}
	if o.DNS, err = f.outside.find.hosts(); err != nil {
		return nil, err
	}
	if c.inDatabase() {
		vault, err := store.VaultOf(s)
		if err != nil {
			return nil, err
		}
		o.Lease = c.leaseLinks(vault)
		if o.Shared, err = sharedLinks(s); err != nil {
			return nil, err
		}
	}
	return links.Open(o)
}

// newArchive returns a client for the archive with preserved copies of dead locations. The result
// is nil if no archive is configured.
func (f *serveFlags) newArchive() (*links.Archive, error) {
	o, ok := f.links.archiveOptions()
	if !ok || f.readOnly {
		return nil, nil
	}
	var err error
	o.Agent, o.From, o.Now = linksAgent(f.publicURL), f.links.contact, clock
	if o.DNS, err = f.outside.find.hosts(); err != nil {
		return nil, err
	}
	return links.NewArchive(o)
}

func sharedLinks(s store.Reader) (*pgstore.Octets, error) {
	if cache, ok := s.(*cachestore.Store); ok {
		s = cache.Backing
	}
	if db, ok := s.(interface{ Octets() *pgstore.Octets }); ok {
		return db.Octets(), nil
	}
	return nil, fmt.Errorf("%T cannot keep the states of links: %w", s, errors.ErrUnsupported)
}

func linksAgent(publicURL string) string {
	agent := "nomen/" + versionText()
	if publicURL != "" {
		agent += " (link checker; +" + publicURL + server.CheckerPath + ")"
	}
	return agent
}

// leaseLinks returns a function that reports whether this node of a database may look for new
// locations in the log of changes. Only one node may do so at a time (see leaseOf).
func (c *cli) leaseLinks(vault store.Vault) func(context.Context) bool {
	return c.leaseOf(vault, "links", linksLease)
}

// leaseOf returns a function that acquires or renews a lease in the database, and reports whether
// this node has the lease. To save queries, the function accesses the database only after a third
// of the duration of the lease.
func (c *cli) leaseOf(vault store.Vault, key string, lease time.Duration) func(context.Context) bool {
	var asked time.Time
	var mine bool
	return func(ctx context.Context) bool {
		if now := time.Now(); now.Sub(asked) >= lease/3 {
			got, err := vault.Lease(ctx, key, c.instance, lease)
			if err == nil {
				asked, mine = now, got
			} else if now.Sub(asked) >= lease*2/3 { // another node may have it soon
				mine = false
			}
		}
		return mine
	}
}
