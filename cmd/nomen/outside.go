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

// The limits of what a server fetches for strangers (I2R).
const (
	servedSize      = 256 << 20
	servedSilence   = 20 * time.Second
	servedTime      = 5 * time.Minute
	servedRedirects = 5
)

// outsideFlags say what a server may ask of others.
type outsideFlags struct {
	find          finderFlags
	private       bool
	countries     string
	countryHeader string
	asks          int
}

func (o *outsideFlags) register(f *pflag.FlagSet) {
	f.IntVar(&o.asks, "asks", 256, "questions to other resolvers under way at once, an eighth of them for one client; more wait, then get 503")
	f.BoolVar(&o.private, "allow-private", false, "locations of I2R and redirections of delegates may be in private networks")
	f.StringVar(&o.countries, "country-db", "", "file in the MaxMind DB format: locations are chosen by the asker's country")
	f.StringVar(&o.countryHeader, "country-header", "", "field in which trusted proxies tell the country, such as CF-IPCountry")
	o.find.register(f)
}

// An outside is what a server has of the world: resolvers of delegated names,
// resources, countries, and a book of what nobody knew.
type outside struct {
	flags   *outsideFlags
	log     *slog.Logger
	asks    *gateway.Asks // bounds what is asked of other resolvers
	fetcher *fetch.Fetcher
	country func(netip.Addr) string // nil if no database is there
	misses  *misses.Counter

	mu     sync.Mutex
	asked  map[string]asked // by the target of delegations
	closed bool
	close  []io.Closer
}

// An asked resolver is asked within bounds.
type asked struct {
	bounded nomen.Resolver
	client  *client.Client
}

// openOutside opens what the flags name.
func (c *cli) openOutside(o *outsideFlags, log *slog.Logger) (*outside, error) {
	w := &outside{flags: o, log: log, asked: map[string]asked{}, asks: gateway.NewAsks(o.asks)}
	hosts, err := o.find.hosts()
	if err != nil {
		return nil, err
	}
	w.fetcher, err = fetch.New(fetch.Options{
		Schemes: []string{"http", "https"}, AllowPrivate: o.private, MaxSize: servedSize,
		Timeout: servedSilence, MaxTime: servedTime, MaxRedirects: servedRedirects, DNS: hosts, Now: clock, Log: log,
	})
	if err != nil {
		return nil, err
	}
	w.close = append(w.close, w.fetcher)
	if o.countries != "" {
		table, err := country.Open(o.countries)
		if err != nil {
			return nil, errors.Join(usagef("--country-db: %w", err), w.Close())
		}
		w.country = table.Of
	}
	w.misses, err = misses.Open(misses.Options{File: filepath.Join(c.data, missesFile), Now: clock, Log: log})
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.close = append(w.close, w.misses)
	return w, nil
}

// ask returns the resolver to which names are delegated, a new one for a target
// that was not asked before.
func (w *outside) ask(to string) (nomen.Resolver, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.asked[to]; ok {
		return known.bounded, nil
	}
	if w.closed {
		return nil, errors.New("the server is closing down")
	}
	// Who asked us can ask again: if every resolver of a chain did so by itself, the
	// last one would be asked very often.
	o := client.Options{Via: to, Guard: !w.flags.private, Now: clock, Retries: -1}
	if err := w.flags.find.complete(&o); err != nil {
		return nil, err
	}
	asker, err := client.New(o)
	if err != nil {
		return nil, err
	}
	known := asked{w.asks.Bound("delegate "+to, asker), asker}
	w.asked[to] = known
	return known.bounded, nil
}

// Close ends what was opened.
func (w *outside) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	var errs []error
	for _, known := range w.asked {
		known.client.Close()
	}
	for _, c := range w.close {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
