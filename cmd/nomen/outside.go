package main

import (
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/fetch"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/country"
	"github.com/nomen-project/nomen/misses"
)

const (
	servedSize      = 256 << 20
	servedSilence   = 20 * time.Second
	servedTime      = 5 * time.Minute
	servedRedirects = 5
)

type outsideFlags struct {
	find          finderFlags
	private       bool
	countries     string
	countryHeader string
	asks          int
}

func (o *outsideFlags) register(f *pflag.FlagSet) {
	f.IntVar(&o.asks, "asks", 256, "maximum number of concurrent requests to other resolvers")
	f.BoolVar(&o.private, "allow-private", false, "let the server connect to private networks to answer clients")
	f.StringVar(&o.countries, "country-db", "", "file in the MaxMind DB format that gives the country of a client; the server chooses locations by country")
	f.StringVar(&o.countryHeader, "country-header", "", "request field in which trusted proxies give the client's country, such as CF-IPCountry")
	o.find.register(f)
}

// An outside contains the parts of a server that send requests to other servers. These are the
// clients for the resolvers to which authorities delegate their names, and the fetcher of
// resources.
type outside struct {
	flags   *outsideFlags
	log     *slog.Logger
	asks    *gateway.Asks // bounds concurrent requests to other resolvers
	fetcher *fetch.Fetcher
	misses  *misses.Counter

	mu      sync.Mutex
	targets map[string]target // by the target of the delegation
	closed  bool
	close   []io.Closer
}

// A target is the client for a resolver to which an authority delegates its names.
type target struct {
	bounded nomen.Resolver
	client  *client.Client
}

// openOutside creates an outside with the options o. It takes the limit of concurrent requests and
// the counter of failed lookups from p.
func (c *cli) openOutside(o *outsideFlags, p serverParts) (*outside, error) {
	w := &outside{flags: o, log: p.log, targets: map[string]target{}, asks: p.asks, misses: p.misses}
	hosts, err := o.find.hosts()
	if err != nil {
		return nil, err
	}
	w.fetcher, err = fetch.New(fetch.Options{
		Schemes: []string{"http", "https"}, AllowPrivate: o.private, MaxSize: servedSize,
		Timeout: servedSilence, MaxTime: servedTime, MaxRedirects: servedRedirects, DNS: hosts, Now: clock, Log: p.log,
	})
	if err != nil {
		return nil, err
	}
	w.close = append(w.close, w.fetcher)
	return w, nil
}

func (o *outsideFlags) country() (func(netip.Addr) string, error) {
	if o.countries == "" {
		return nil, nil
	}
	table, err := country.Open(o.countries)
	if err != nil {
		return nil, usagef("--country-db: %w", err)
	}
	return table.Of, nil
}

func (c *cli) openMisses(log *slog.Logger) (*misses.Counter, error) {
	return misses.Open(misses.Options{File: filepath.Join(c.data, missesFile), Now: clock, Log: log})
}

// ask returns the resolver for the target of a delegation. It creates the resolver when it is first
// needed.
func (w *outside) ask(to string) (nomen.Resolver, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.targets[to]; ok {
		return known.bounded, nil
	}
	if w.closed {
		return nil, errors.New("the server is shutting down")
	}
	// The client must not retry requests. If every resolver in a chain of delegations retried, the
	// number of requests to the last resolver would multiply. The client that sent the request to
	// this server can retry instead.
	o := client.Options{Via: to, Guard: !w.flags.private, Now: clock, Retries: -1}
	if err := w.flags.find.complete(&o); err != nil {
		return nil, err
	}
	upstream, err := client.New(o)
	if err != nil {
		return nil, err
	}
	known := target{w.asks.Bound("delegate "+to, upstream), upstream}
	w.targets[to] = known
	return known.bounded, nil
}

func (w *outside) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	var errs []error
	for _, known := range w.targets {
		known.client.Close()
	}
	for _, c := range w.close {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
