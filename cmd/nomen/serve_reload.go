package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/backups"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/metrics"
	"github.com/nomen-project/nomen/signin"
	"github.com/nomen-project/nomen/store"
)

// A liveServer is a running server whose configuration can be reloaded. It implements
// [admin.Configuration].
type liveServer struct {
	parts        serverParts // the fields outside and gateway are the current ones
	api          *admin.API
	resolver     *currentResolver // of the admin API and of Gopher clients
	listening    *server.Listening
	certificates *serverCertificates
	signIn       *signin.Manager
	browsable    string             // scheme and host of an admin listener for browsers; may be empty
	backups      *backups.Scheduler // nil if this server makes no backups

	ending   context.Context // ends when the server begins to shut down
	end      context.CancelFunc
	watching sync.WaitGroup // counts goroutines that run until ending is cancelled
	begun    bool           // reloads are permitted; set before watching ends
	ready    bool           // systemd knows that the server is ready

	reloading chan struct{} // a lock: an element is in it during a reload, and before reloads are permitted; guards ready, parts, gateway and files
	gateway   string        // what the current outside and gateway were made from
	files     map[string]string

	now atomic.Pointer[configuration]
}

type configuration struct {
	cli   *cli
	flags *serveFlags
}

// newLive creates the admin API and the parts of a server that a reload can replace. Reloads wait
// until [liveServer.begin] is called, and fail if ctx is done first.
func (c *cli) newLive(ctx context.Context, f *serveFlags, p serverParts) (_ *liveServer, err error) {
	v := &liveServer{resolver: &currentResolver{}, files: c.digests(), reloading: make(chan struct{}, 1)}
	v.ending, v.end = context.WithCancel(ctx)
	v.gateway = c.gatewayOf(v.files)
	v.reloading <- struct{}{}
	v.now.Store(&configuration{c, f})
	p.live, p.resolver, p.asks = v, v.resolver, gateway.NewAsks(f.outside.asks)
	if p.misses, err = c.openMisses(p.log); err != nil {
		return nil, err
	}
	p.counts, err = c.openCounts(f, p.store, p.table, p.log)
	if err != nil {
		return nil, errors.Join(err, p.misses.Close())
	}
	p.seen.counts.Store(p.counts.counter())
	registries, err := readRegistries(f.registry)
	if err != nil {
		err = fmt.Errorf("serve: --registry: %w", err)
	}
	p.registries = &registries
	if err == nil {
		p.country, err = f.outside.country()
	}
	if err == nil {
		p.outside, p.gateway, err = c.openParts(f, p)
	}
	if err != nil {
		return nil, errors.Join(err, p.counts.Close(), p.misses.Close())
	}
	v.parts = p
	v.resolver.now.Store(&p.gateway.resolver)
	if v.api, v.signIn, err = c.newAdmin(f, p); err != nil {
		return nil, errors.Join(usageError{err}, v.Close())
	}
	return v, nil
}

// begin permits reloads, and starts to reload the configuration after each SIGHUP. If ready is
// false, systemd has not been notified that the server is ready, and reloads are not reported to
// systemd.
func (v *liveServer) begin(hangups <-chan os.Signal, ready bool) {
	v.begun, v.ready = true, ready
	<-v.reloading
	v.watching.Go(func() { v.watchHangups(hangups) })
}

// stop rejects further reloads, and waits for the reload in progress.
func (v *liveServer) stop() {
	v.end()
	v.watching.Wait()
	if v.begun {
		v.reloading <- struct{}{}
	}
}

// Close closes the parts of the server. Call it after the server has ended.
func (v *liveServer) Close() error {
	v.end()
	return errors.Join(v.parts.gateway.Close(), v.parts.outside.Close(), v.parts.counts.Close(), v.parts.misses.Close())
}

type currentResolver struct {
	now atomic.Pointer[nomen.Resolver]
}

func (r *currentResolver) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	return (*r.now.Load()).Resolve(ctx, q)
}

func (c *cli) openParts(f *serveFlags, p serverParts) (*outside, *gatewayServer, error) {
	out, err := c.openOutside(&f.outside, p)
	if err != nil {
		return nil, nil, err
	}
	options := resolve.Options{Now: clock, Authorities: p.table, Fetch: out.fetcher.Location, Ask: out.ask}
	if p.dead != nil {
		options.Dead = p.dead
	}
	engine := resolve.New(p.store, options)
	g, err := c.openGateway(&f.gateway, out, engine, p.store, p.table, p.log)
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return out, g, nil
}

// gatewayOf returns a text with all settings on which the outside and the gateway depend. A reload
// replaces the outside and the gateway only if this text has changed.
func (c *cli) gatewayOf(files map[string]string) string {
	var b strings.Builder
	for option := range strings.FieldsSeq("allow-private ask-others proxy own-users connect table public-table dns default-resolver") {
		fmt.Fprintf(&b, "%s=%s\n", option, c.flags.Lookup(option).Value)
	}
	return b.String() + files["table"] + "\n" + files["public-table"]
}

// readAgainFiles contains the options for files that a reload reads again.
const readAgainFiles = "registry country-db table public-table site.logo"

// digests returns the digests of the files that a reload reads again. The keys are the options for
// the files.
func (c *cli) digests() map[string]string {
	all := map[string]string{}
	for option := range strings.FieldsSeq(readAgainFiles) {
		if b, err := os.ReadFile(c.flags.Lookup(option).Value.String()); err == nil {
			sum := sha256.Sum256(b)
			all[option] = hex.EncodeToString(sum[:])
		}
	}
	return all
}

func (v *liveServer) Settings() []adminapi.Setting { return v.now.Load().cli.settings() }

func (v *liveServer) drain() time.Duration { return v.now.Load().flags.drain }

const reloadTimeout = 30 * time.Second

// Reload reads the configuration again, with the same command line and environment. It applies
// either all changes or none, and logs the result. If another reload is in progress, Reload waits
// for its end. If the server is shutting down, Reload returns [adminapi.ErrUnavailable].
func (v *liveServer) Reload() (adminapi.Reloaded, error) {
	select {
	case v.reloading <- struct{}{}:
		defer func() { <-v.reloading }()
	case <-v.ending.Done():
	}
	if v.ending.Err() != nil {
		return adminapi.Reloaded{}, adminapi.ErrUnavailable
	}
	first, log := v.now.Load().cli, v.parts.log
	if v.ready {
		first.logReport(first.systemd.Reloading("reloading the configuration"))
	}
	ctx, cancel := context.WithTimeout(v.ending, reloadTimeout)
	defer cancel()
	out, err := v.reload(ctx)
	v.parts.seen.tasks.Ran(metrics.TaskReload, clock(), err)
	if v.ready && v.ending.Err() == nil {
		first.logReport(first.systemd.Ready("serving at " + addresses(v.listening)))
	}
	var rejected *adminapi.ReloadError
	switch {
	case errors.As(err, &rejected):
		for _, text := range rejected.Errors {
			log.Error("configuration rejected, nothing was changed", "err", text)
		}
	case err != nil:
		log.Error("cannot reload the configuration, nothing was changed", "err", err)
	default:
		log.Info("configuration reloaded", "changes", len(out.Changes))
		for _, change := range out.Changes {
			log.Info("setting changed", "key", change.Key, "from", change.From, "to", change.To)
		}
		for _, text := range out.Warnings {
			log.Warn("configuration", "warning", text)
		}
	}
	return out, err
}

func (c *cli) readAgain() (*configuration, []error) {
	next := &cli{streams: c.streams, arguments: c.arguments, sources: map[string]optionSource{}, instance: c.instance, systemd: c.systemd}
	root := next.root()
	cmd, rest, err := root.Find(next.arguments)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		return nil, []error{err} // cannot happen: the command line has been read before
	}
	err = next.readSources(cmd)
	f := *next.serving
	errs := flatten(err)
	if next.file != nil || next.config == "" {
		errs = append(errs, next.checkServe(&f)...)
	}
	f.specs, _ = next.listeners(&f) // errors are in errs
	return &configuration{next, &f}, flatten(next.file.sorted(errs))
}

func (c *cli) rejected(errs []error) error {
	e := &adminapi.ReloadError{}
	for _, err := range errs {
		e.Errors = append(e.Errors, c.words(err))
	}
	return e
}

func (v *liveServer) reload(ctx context.Context) (out adminapi.Reloaded, err error) {
	before := v.now.Load()
	next, errs := before.cli.readAgain()
	if len(errs) > 0 {
		return out, next.cli.rejected(errs)
	}
	files := next.cli.digests()
	if errs := before.cli.fixed(next.cli); len(errs) > 0 {
		return out, next.cli.rejected(errs)
	}
	out.Changes = append(before.cli.differences(next.cli), changedFiles(before.cli, next.cli, v.files, files)...)
	if v.ending.Err() != nil { // while the files were read
		return out, adminapi.ErrUnavailable
	}
	made, err := v.make(next, files)
	if err != nil {
		return out, next.cli.rejected([]error{next.cli.located(err)})
	}
	if !v.signIn.HasProviders(made.signIn.Providers) {
		out.Changes = append(out.Changes, adminapi.SettingChange{Key: "oidc", To: "the identity providers were read again"})
	}
	if !reflect.DeepEqual(before.cli.file.dialects(), next.cli.file.dialects()) {
		out.Changes = append(out.Changes, adminapi.SettingChange{Key: "dialect", To: "the dialects were read again"})
	}
	written, warnings, err := v.putAuthorities(ctx, before, next)
	if err != nil {
		return out, errors.Join(err, made.discard())
	}
	out.Changes = append(out.Changes, written...)
	for _, w := range next.cli.configWarnings(next.cli.command.Root()) {
		out.Warnings = append(out.Warnings, next.cli.words(w))
	}
	out.Warnings = append(out.Warnings, warnings...)
	v.swap(next, made)
	if v.backups != nil {
		if problem := v.backups.Retry(); problem != "" {
			out.Warnings = append(out.Warnings, "the last backup failed and is now tried again ('nomen backup status' shows the result): "+problem)
		}
	}
	v.gateway, v.files = made.gateway, files
	return out, nil
}

// A replacement contains the new parts of a server that a reload has created and not yet put into
// use.
type replacement struct {
	srv     *server.Server
	parts   serverParts
	gateway string
	signIn  signin.Settings
	isNew   bool // the outside and the gateway are new
}

func (r *replacement) discard() error {
	if !r.isNew {
		return nil
	}
	return errors.Join(r.parts.gateway.Close(), r.parts.outside.Close())
}

// make creates the parts for a new configuration. It keeps the outside and the gateway with their
// caches if the settings on which they depend have not changed.
func (v *liveServer) make(next *configuration, files map[string]string) (*replacement, error) {
	r := &replacement{parts: v.parts, gateway: next.cli.gatewayOf(files)}
	f := next.flags
	registries, err := readRegistries(f.registry)
	if err != nil {
		return nil, fmt.Errorf("serve: --registry: %w", err)
	}
	r.parts.registries = &registries
	if r.signIn, err = next.cli.signIn(&f.signIn); err != nil {
		return nil, err
	}
	if r.parts.proxies, err = f.proxies(); err != nil {
		return nil, err
	}
	if r.parts.country, err = f.outside.country(); err != nil {
		return nil, err
	}
	if r.gateway != v.gateway {
		if r.parts.outside, r.parts.gateway, err = next.cli.openParts(f, v.parts); err != nil {
			return nil, err
		}
		r.isNew = true
	}
	if r.srv, err = next.cli.newServer(f, r.parts, v.api); err != nil {
		return nil, errors.Join(usageError{err}, r.discard())
	}
	return r, nil
}

// swap puts a configuration into effect. It cannot fail.
func (v *liveServer) swap(next *configuration, made *replacement) {
	f, before := next.flags, v.parts
	v.parts = made.parts
	v.parts.asks.Resize(f.outside.asks)
	v.resolver.now.Store(&v.parts.gateway.resolver)
	v.api.Set(f.adminSettings(v.parts.log))
	v.setSignIn(made.signIn)
	completed := v.listening.Replace(made.srv)
	v.parts.seen.set(made.srv, v.api, v.parts.outside)
	if v.backups != nil {
		plan, _ := f.backup.plan() // was checked
		v.backups.Set(plan)
	}
	if err := v.certificates.reload(f.publicURL); err != nil {
		v.parts.log.Warn("cannot read a certificate again; the previous certificate stays in use", "err", err)
	}
	v.now.Store(next)
	if made.isNew {
		go func() {
			<-completed
			old := &replacement{parts: before, isNew: true}
			if err := old.discard(); err != nil {
				v.parts.log.Warn("cannot close files or connections of the previous configuration", "err", err)
			}
		}()
	}
}

const howToRestart = "run 'systemctl restart nomen', or stop the server and start it again"

// fixed returns an error for each changed option that requires a restart.
func (c *cli) fixed(next *cli) (errs []error) {
	c.flags.VisitAll(func(f *pflag.Flag) {
		if classOf(f.Name) != restart {
			return
		}
		if to := next.flags.Lookup(f.Name); to.Value.String() != f.Value.String() {
			source := next.sources[f.Name]
			errs = append(errs, source.errorf("%s: a change from %s to %s needs a restart: %s", f.Name, shownValue(f), shownValue(to), howToRestart))
		}
	})
	if !reflect.DeepEqual(c.file.listen(), next.file.listen()) {
		errs = append(errs, next.file.errorf("listen.1", "listen: a change of the [[listen]] tables needs a restart: "+howToRestart))
	}
	return errs
}

func (c *cli) differences(next *cli) (all []adminapi.SettingChange) {
	c.flags.VisitAll(func(f *pflag.Flag) {
		if classOf(f.Name) != live {
			return
		}
		to := next.flags.Lookup(f.Name)
		from, now := shownValue(f), shownValue(to)
		sameAsDefault := from == now && f.Changed != to.Changed // such as every = "24h"
		if to.Value.String() != f.Value.String() && !sameAsDefault {
			all = append(all, adminapi.SettingChange{Key: f.Name, From: from, To: now})
		}
	})
	return all
}

// changedFiles returns the options whose value is unchanged, but whose file has new content.
func changedFiles(c, next *cli, before, after map[string]string) (all []adminapi.SettingChange) {
	for option := range strings.FieldsSeq(readAgainFiles) {
		path := next.flags.Lookup(option).Value.String()
		if c.flags.Lookup(option).Value.String() == path && before[option] != after[option] {
			all = append(all, adminapi.SettingChange{Key: option, To: hideSecrets(path) + " was read again"})
		}
	}
	return all
}

// putAuthorities writes the authorities of a configuration in a single batch. If the storage is
// unavailable, but the authorities have not changed, it returns a warning instead of an error.
func (v *liveServer) putAuthorities(ctx context.Context, before, next *configuration) (all []adminapi.SettingChange, warnings []string, err error) {
	authorities := next.cli.file.authorities()
	if next.flags.readOnly {
		return nil, nil, nil
	}
	outs, err := next.cli.putAuthorities(ctx, v.parts.registrar)
	switch {
	case store.IsAway(err) && reflect.DeepEqual(before.cli.file.authorities(), authorities):
		return nil, []string{"the authorities were not written: " + words(err)}, nil
	case errors.As(err, new(placeError)):
		return nil, nil, next.cli.rejected(flatten(err))
	case err != nil:
		return nil, nil, err
	}
	for i, out := range outs {
		if out.Changed {
			all = append(all, adminapi.SettingChange{Key: "authority " + authorities[i].Prefix.String(), To: fmt.Sprintf("revision %d", out.Revision)})
			for _, w := range out.Warnings {
				warnings = append(warnings, w.Message)
			}
		}
	}
	return all, warnings, nil
}

// watchHangups reloads the configuration after each SIGHUP until the server shuts down.
func (v *liveServer) watchHangups(hangups <-chan os.Signal) {
	for {
		select {
		case <-v.ending.Done():
			return
		case <-hangups:
			_, _ = v.Reload() // is logged
		}
	}
}

func (f *serveFlags) adminSettings(log *slog.Logger) admin.Settings {
	return admin.Settings{Hosts: f.adminHosts(), AccessLog: f.accessLog(log), Limits: f.limits.tokenLimits(), SecondPerson: f.limits.second}
}
