package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/systemd"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

const serveLong = `Serve runs the resolver. The public listener (--listen) answers requests for names, over
HTTP and in the resolution protocol of 1995 (draft-ietf-uri-yaurn-00). The admin listener
(--admin) serves the admin API, by default at a loopback address and at the Unix socket
admin.sock in the data directory. To have several public listeners, describe each in a
[[listen]] table of the configuration file: docs/reference/configuration.md.

The names are in a store in the data directory (--data). The first start creates the store
and an administrator's token. The token is in the file admin.token, which only its owner
can read. Other nomen commands with the same --data find the running server and the token.
For other people, make tokens with 'nomen token make'. With a PostgreSQL store, the token
in the data directory is valid only at this server and only until the server stops.

If the disk is full, fails or is read-only, the server keeps answering requests for names.
It rejects changes until it can write to the disk again; /-/readyz gives the reason. With
--read-only it never writes.

To stop the server, interrupt it (Ctrl-C). The server first completes the requests in
progress. With --drain TIME, the server keeps answering for TIME after SIGTERM. During this
time /-/readyz has status 503, so that load balancers use other servers.

'nomen reload' and SIGHUP make the server read its configuration again. 'nomen config' checks
and explains the configuration.

--host gives the server another host name. The hosts of --public-url and --listen, the name
of the machine, localhost, and IP addresses need no --host.

These options limit what clients can use. A client is one IPv4 address or one IPv6 /64.

  --connections              the number of open connections of each listener
  --connections-per-address  the number of open connections of one client. If --connections
                             is below 64, the default is half of --connections, but at
                             most 16
  --rate                     the number of requests for lists, batches, fetches and searches
                             that one client can send per second. In a burst, a client can
                             send five times as many. Further requests get status 429
  --asks                     the number of concurrent requests to other resolvers: at most
                             half of them to one resolver, and at most an eighth for one
                             client. Further requests wait. A request that waits too long
                             gets status 503. A client with too many waiting requests
                             gets status 429

--rate and --connections-per-address do not apply to 127.0.0.1, ::1 and trusted proxies.

The default of --memory is 512 MiB plus an eighth of the machine's memory. The eighth counts
as at least 64 and at most 2,048 MiB. With PostgreSQL, the default is 576 MiB. The cache
gets the limit minus 512 MiB, but never less than a quarter of the limit.

When the server answers a client, it connects to a private network only to ask a resolver
that is given in the --delegate-to of an authority. With --allow-private, the server also connects
to private networks for these purposes:

  - to fetch resources (I2R);
  - to ask a resolver about a delegated name, if the server has discovered that resolver or
    was redirected to it;
  - with --ask-others own: to ask resolvers about names that are not served here, when one of
    the --own-users requests them.`

type serveFlags struct {
	certificateFlags
	listen                  listenFlags
	publicURL               string
	trusted, hosts          []string
	registry                string // file of the site's own registry entries
	scrub                   int    // changes per second; negative for the default of the store
	answerCache             int    // in MiB; negative for the default
	demo, noAccessLog       bool
	noCounts                bool
	readOnly, search        bool
	staleIfError            time.Duration
	specs                   []listenSpec
	connections, perAddress int
	rate                    float64
	drain                   time.Duration
	outside                 outsideFlags
	gateway                 gatewayFlags
	backup                  backupFlags
	seeing                  seeingFlags
	limits                  limitFlags
	signIn                  signInFlags
	site                    siteFlags
	links                   linksFlags
	publish                 publishFlags
	reports                 reportFlags
}

func (c *cli) serveCommand() *cobra.Command {
	c.serving = new(serveFlags)
	s := c.serving
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run the resolver",
		Long:  serveLong,
		Example: `  nomen serve --demo
  nomen serve --data /srv/names --public-url https://urn.example.org
  nomen serve --listen :4500 --tls-cert cert.pem --tls-key key.pem
  nomen serve --listen :443 --tls acme --acme-accept-terms --public-url https://id.example.org
  nomen serve --ask-others own --proxy own --own-users 192.0.2.0/24 --gopher :70`,
		Args: noArguments,
	}
	c.registerServe(s, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return c.located(c.serve(cmd.Context(), *s)) }
	return cmd
}

func (c *cli) registerServe(s *serveFlags, f *pflag.FlagSet) {
	s.listen.register(f)
	s.certificateFlags.register(f)
	f.StringVar(&s.publicURL, "public-url", "", "URL at which clients reach the public listener (default the host of each request)")
	f.StringSliceVar(&s.trusted, "trusted-proxy", nil, "network of proxies whose Forwarded fields are trusted, such as 10.0.0.0/8 (default none)")
	f.StringVar(&s.registry, "registry", "", "JSON file of your own registry entries, shown under /-/registry/")
	f.StringSliceVar(&s.hosts, "host", nil, "another host name of this server, such as the name of a load balancer")
	f.DurationVar(&s.drain, "drain", 0, "how long to keep answering after SIGTERM, such as 5s")
	f.BoolVar(&s.noAccessLog, "no-access-log", false, "do not log requests")
	f.BoolVar(&s.noCounts, "no-counts", false, "do not count how often names are resolved")
	f.IntVar(&s.scrub, "scrub", -1, "verify the whole store in the background, this number of changes per second; 0 turns this off (default 1000; 0 with PostgreSQL)")
	f.Lookup("scrub").DefValue = "0" // so that help does not show -1
	f.IntVar(&s.answerCache, "answer-cache", -1, "size in MiB of the cache of whole answers; 0 turns it off (default a third of what the memory limit has above 512 MiB, and at least 1/16 of the limit)")
	f.Lookup("answer-cache").DefValue = "0"
	f.BoolVar(&s.readOnly, "read-only", false, "reject all changes and write nothing; the store must exist")
	f.BoolVar(&s.search, "search", true, "keep an index of words in DATA/search, with which people find names")
	f.BoolVar(&s.demo, "demo", false, "first load the 9,154 RFC names included in the program")
	c.memoryFlag(f, "512 plus an eighth of the machine's memory; 576 with PostgreSQL")
	f.DurationVar(&s.staleIfError, "stale-if-error", 24*time.Hour, "how long to answer from the cache while PostgreSQL is unavailable; 0 turns this off")
	f.IntVar(&s.connections, "connections", 0, "maximum number of open connections on each listener (default a quarter of the limit of open files, at most 10000)")
	f.IntVar(&s.perAddress, "connections-per-address", 0, "maximum number of open connections of one client (default a quarter of --connections)")
	f.Float64Var(&s.rate, "rate", 10, "maximum number of lists, batches, fetches and searches of one client per second")
	s.outside.register(f)
	s.gateway.register(f)
	s.backup.register(f)
	s.seeing.register(f)
	s.limits.register(f)
	s.signIn.register(f)
	s.site.register(f)
	s.links.register(f)
	s.publish.register(f)
	s.reports.register(f)
}

// authorityLife is the maximum time for which this process may use the old state of an authority
// after another process has changed the authority.
const authorityLife = time.Second

// untilAnswered is the maximum time for which a server waits for requests in progress while it
// shuts down, after draining.
const untilAnswered = 10 * time.Second

func (c *cli) serve(ctx context.Context, f serveFlags) error {
	c.instance, c.pacer = rand.Text(), pacer.New()
	if errs := c.checkServe(&f); len(errs) > 0 {
		return usageError{c.file.sorted(errs)}
	}
	var err error
	if c.systemd, err = systemd.NewNotifier(); err != nil {
		return err
	}
	if f.specs, err = c.listeners(&f); err != nil {
		return err
	}
	proxies, err := f.proxies()
	if err != nil {
		return err
	}
	usual := pebblestore.ServingCacheSize()
	if c.inDatabase() {
		usual = nodeCache
	}
	if err := c.boundMemory(ctx, usual); err != nil {
		return err
	}
	c.shareCache(f.answerCacheSize(c.usualAnswerCache()))
	if !f.readOnly {
		if err := c.makeData(); err != nil {
			return err
		}
	}
	if running, err := c.server(ctx); err == nil { // a second server would replace the token and the address of the first
		return fmt.Errorf("%s: a server is already running, with its admin listener at %s; if this is a copy of its directory, remove %s", c.data, running.URL, urlFile)
	}
	if !f.readOnly {
		defer c.keepOwner()
	}
	log := c.openLog(&f.seeing.log)
	c.report("opening the store")
	s, err := c.openServed(ctx, f, log)
	if err != nil {
		return err
	}
	return errors.Join(c.serveStore(ctx, f, s, proxies, log), s.Close())
}

func (f *serveFlags) check() error {
	var errs []error
	must := func(ok bool, option string, value any, what string) {
		if !ok {
			errs = append(errs, usagef("serve: --%s %v: must %s", option, value, what))
		}
	}
	if _, _, err := f.gateway.access(); err != nil {
		errs = append(errs, usagef("serve: %w", err))
	}
	if err := f.seeing.log.check(); err != nil {
		errs = append(errs, err)
	}
	if _, err := f.backup.plan(); err != nil {
		errs = append(errs, err)
	}
	if _, err := f.gateway.gopherAddress(); err != nil {
		errs = append(errs, err)
	}
	if err := gateway.CheckGopherHost(f.gateway.host); err != nil {
		errs = append(errs, usageError{rephrasedError{err, "serve: --gopher-host: " + strings.TrimPrefix(err.Error(), "gateway: gopher: ")}})
	}
	for _, h := range f.hosts {
		must(strings.TrimLeftFunc(strings.Trim(h, "[]"), ofHost) == "", "host", strconv.Quote(h), "be a host name, such as names.example.org")
	}
	must(isFieldName(f.outside.countryHeader), "country-header", strconv.Quote(f.outside.countryHeader), "be the name of a request field, such as CF-IPCountry")
	if err := server.CheckPublicURL(f.publicURL); err != nil {
		errs = append(errs, usageError{rephrasedError{err, "serve: --public-url: " + strings.TrimPrefix(err.Error(), "server: ")}})
	}
	if f.readOnly && f.demo {
		errs = append(errs, usagef("serve: --demo cannot be combined with --read-only, because it loads names"))
	}
	const positive, notNegative = "be positive", "not be negative"
	must(f.drain >= 0, "drain", f.drain, notNegative)
	must(f.scrub >= -1, "scrub", f.scrub, notNegative)
	must(f.answerCache >= -1, "answer-cache", f.answerCache, notNegative)
	must(f.staleIfError >= 0, "stale-if-error", f.staleIfError, notNegative)
	must(f.connections >= 0, "connections", f.connections, notNegative)
	must(f.perAddress >= 0, "connections-per-address", f.perAddress, notNegative)
	must(f.rate > 0, "rate", f.rate, positive)
	must(f.outside.asks > 0, "asks", f.outside.asks, positive)
	f.limits.check(must)
	f.links.checkFlags(must)
	if err := f.checkPublish(); err != nil {
		errs = append(errs, err)
	}
	f.reports.checkFlags(must)
	return errors.Join(errs...)
}

// isFieldName reports whether a text is empty or a valid name of an HTTP header field.
func isFieldName(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(c byte) bool { return !ascii.IsToken(c) })
}

func (c *cli) openServed(ctx context.Context, f serveFlags, log *slog.Logger) (servingStore, error) {
	if c.inDatabase() {
		return c.openNode(ctx, &f, log)
	}
	dir, err := c.storePath()
	if err != nil {
		return nil, err
	}
	missing := errors.Is(storeThere(dir), fs.ErrNotExist)
	if missing && f.readOnly {
		return nil, &noStoreError{dir, c.defaultHint()}
	}
	s, running, err := c.whenFree(ctx, func() (*pebblestore.Store, error) {
		return pebblestore.Open(pebblestore.Options{
			Dir: dir, CacheSize: c.cacheSize, Log: log, Warm: true, Pacer: c.pacer, Fatal: c.fatal, ReadOnly: f.readOnly, Now: clock, Program: versionText(),
		})
	})
	switch {
	case err != nil:
		return nil, err
	case running != nil:
		return nil, fmt.Errorf("%s: a server is already running, with its admin listener at %s", dir, running.URL)
	}
	if missing {
		c.made(dir)
	}
	if cause := s.Condition().Cause; cause != "" && !s.Damaged() {
		log.Error("storage is unavailable: answering names, rejecting changes until it can be written to again", "cause", cause)
	}
	return s, nil
}

func (f *serveFlags) proxies() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range f.trusted {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, usagef("serve: --trusted-proxy: invalid network %q: want an address and a length, such as 10.0.0.0/8", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// scrubRate returns the number of changes per second that a server verifies in the background. If
// the parameter given is negative, scrubRate returns the default. The default for a database is 0,
// because every node would read the whole database, and a database has its own integrity checks.
func (c *cli) scrubRate(given int) int {
	const usual = 1000
	switch {
	case given >= 0:
		return given
	case c.inDatabase():
		return 0
	}
	return usual
}

func (c *cli) serveStore(ctx context.Context, f serveFlags, s servingStore, proxies []netip.Prefix, log *slog.Logger) (err error) {
	table := store.NewTable(s, clock, authorityLife)
	reg := c.newRegistrar(s, log, table)
	c.reportClock(reg.CheckClock(ctx), log)
	own, err := c.nodeToken()
	if err != nil {
		return err
	}
	prepared, err := c.prepareOrLater(ctx, f, s, reg, log)
	if err != nil {
		return err
	}
	index, endSearch := c.startSearch(ctx, &f, s, log)
	defer endSearch()
	watcher, dead, endLinks := c.startLinks(ctx, &f, s, log)
	defer endLinks()
	published, endPublishing, err := c.startPublishing(ctx, &f, s, table, log)
	if err != nil {
		return err
	}
	defer endPublishing()
	seen := newSeen(s, reg, c.lostLines.Load, c.pacer.Rested)
	seen.index.Store(index)
	seen.links.Store(watcher)
	seen.published.Store(published)
	v, err := c.newLive(ctx, &f, serverParts{
		store: s, index: index, links: watcher, dead: dead, published: published, registrar: reg, table: table, token: own, proxies: proxies,
		seen: seen, answerCache: c.usualAnswerCache(), log: log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	var endBackups func()
	if v.backups, endBackups, err = c.startBackups(ctx, &f, s, &v.parts.seen.tasks, log); err != nil {
		return err
	}
	defer endBackups()
	endReports, err := c.startReports(ctx, &f, v)
	if err != nil {
		return err
	}
	defer endReports()
	if v.certificates, err = c.openCertificates(&f, s, table, v.parts.seen, log); err != nil {
		return err
	}
	return c.listen(ctx, &f, v, prepared)
}

func (c *cli) listen(ctx context.Context, f *serveFlags, v *liveServer, failed <-chan error) (err error) {
	srv, err := c.newServer(f, v.parts, v.api)
	if err != nil {
		return usageError{err}
	}
	v.parts.seen.set(srv, v.api, v.parts.outside)
	gopher, err := openGopher(&f.gateway, v.parts)
	if err != nil {
		return err
	}
	v.parts.seen.gopher.Store(gopher)
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), untilAnswered)
		defer cancel()
		err = errors.Join(err, gopher.Close(last))
	}()
	listeners, remove, err := c.openListeners(f.specs, v.parts.log)
	if err != nil {
		return err
	}
	defer remove()
	v.browsable = browsableURL(listeners)
	defer v.certificates.start(ctx)()
	if v.listening, err = srv.Listen(listeners...); err != nil {
		return err
	}
	if gopher != nil {
		fmt.Fprintf(c.err, "nomen: gopher listener at %s\n", gopher.listener.Addr())
	}
	defer v.stop()
	return c.untilEnd(ctx, *f, listeners, v, failed)
}

func (c *cli) reportClock(err error, log *slog.Logger) {
	switch {
	case err == nil:
	case c.clockOK:
		log.Warn("the clock seems wrong; accepting changes because of --clock-ok", "err", err)
	default:
		log.Error("the clock seems wrong; rejecting changes: set the clock, or restart with --clock-ok if it is right", "err", err)
	}
}

// untilEnd prints the addresses of the listeners and waits until ctx is done. It then shuts the
// server down. It also shuts the server down if a listener fails, or if it receives an error from
// the channel failed.
func (c *cli) untilEnd(ctx context.Context, f serveFlags, listeners []server.Listener, v *liveServer, failed <-chan error) error {
	l, log := v.listening, v.parts.log
	url := adminURL(listeners)
	if err := c.announce(ctx, f, listeners, l, url, log); err != nil {
		return errors.Join(err, l.Shutdown(context.WithoutCancel(ctx)))
	}
	defer c.removeURL(url)
	v.watching.Go(func() { c.reportReady(v) })
	ended := make(chan error, 1)
	go func() { ended <- l.Wait() }()
	select {
	case err := <-ended:
		v.end()
		return errors.Join(err, l.Shutdown(context.WithoutCancel(ctx)))
	case err := <-failed:
		v.end()
		return errors.Join(err, l.Shutdown(context.WithoutCancel(ctx)))
	case <-ctx.Done(): // reloads end, too, because their context is part of ctx
	}
	log.Info("shutting down; draining requests", "drain", v.drain())
	c.reportStopping("shutting down; draining requests")
	l.Drain(context.WithoutCancel(ctx), v.drain())
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), untilAnswered)
	defer cancel()
	if err := l.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// announce prints the addresses of the server, and writes the URL of the admin listener to a file
// for other commands.
func (c *cli) announce(ctx context.Context, f serveFlags, listeners []server.Listener, l *server.Listening, url string, log *slog.Logger) error {
	if url != "" {
		c.writeURL(ctx, url, log)
	}
	for _, o := range listeners {
		if socket, ok := o.Open.(*adminSocketFile); !ok || !socket.quiet {
			fmt.Fprintf(c.err, "nomen: %s\n", describeListener(o))
		}
	}
	plain := slices.IndexFunc(listeners, func(o server.Listener) bool { return !o.Admin && o.TLS == nil && o.Protocols == 0 })
	if f.demo && plain >= 0 {
		return c.suggest(c.err, l.Addrs[plain])
	}
	return nil
}

// suggest prints example commands for the demonstration.
func (c *cli) suggest(w io.Writer, public net.Addr) error {
	host, port := "127.0.0.1", "4500"
	if tcp, ok := public.(*net.TCPAddr); ok {
		port = fmt.Sprint(tcp.Port)
		if ip := tcp.IP; len(ip) > 0 && !ip.IsUnspecified() {
			host = ip.String()
		}
	}
	at := net.JoinHostPort(host, port)
	_, err := fmt.Fprintf(w, `
Try in another window:
  curl -i http://%[1]s/urn:ietf:rfc:2648
      redirects to the text; a browser at the same address gets HTML
  curl 'http://%[1]s/urn:ietf:rfc:2648?s=I2C'
      the complete record
  curl -H 'Accept: application/json' 'http://%[1]s/urn:ietf:rfc:2648?s=I2C'
      the same as JSON
  curl -0 --request-target 2648 http://%[1]s/
      a request in the protocol of 1995
  bin/nomen resolve --via %[1]s urn:ietf:rfc:2648
      a request by nomen's own client
  bin/nomen put --data %[2]s urn:dns:example.org:first https://example.org/
      publish a first name of your own
`, at, c.data)
	return err
}
