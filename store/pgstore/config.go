package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// What a connection string may say beside what libpq knows, and what holds if it
// does not.
const (
	paramPool = "pool" // connections to each server for short work
	paramWait = "wait" // how long a call goes on trying while no server can do it
	paramLag  = "lag"  // how long a node does not take from a replica what is older than its own writing

	defaultPool    = 16
	defaultWait    = 5 * time.Second
	defaultLag     = 5 * time.Second
	defaultTimeout = 30 * time.Second // of one statement
	defaultConnect = 3 * time.Second  // of one attempt to connect
)

// A context that ends while a statement runs gives it this long to end by itself
// before the server is asked to stop it, and that long before the connection is
// given up.
const (
	cancelAfter  = 100 * time.Millisecond
	abandonAfter = 2 * time.Second
)

// A canceller ends a statement whose context has ended: it asks the server to stop it,
// unless that server was lost. Nobody waits for one of those.
type canceller struct {
	asks      pgconn.CancelRequestContextWatcherHandler
	abandoned bool
}

// HandleCancel implements [ctxwatch.Handler].
func (c *canceller) HandleCancel(ctx context.Context) {
	if c.abandoned = errors.Is(context.Cause(ctx), errServerLost); !c.abandoned {
		c.asks.HandleCancel(ctx)
		return
	}
	_ = c.asks.Conn.Conn().SetDeadline(time.Unix(1, 0)) // if that fails the connection is closed
}

// HandleUnwatchAfterCancel implements [ctxwatch.Handler].
func (c *canceller) HandleUnwatchAfterCancel() {
	if !c.abandoned {
		c.asks.HandleUnwatchAfterCancel()
	}
}

// A config is a connection string taken apart.
type config struct {
	servers []*pgx.ConnConfig // one for each host of the string
	pool    int
	wait    time.Duration
	waits   bool // wait was given
	lag     time.Duration
}

// parseConfig reads a connection string. Errors do not show passwords.
func parseConfig(url string) (*config, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, fmt.Errorf("a connection string begins with postgres://")
	}
	all, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	c := &config{pool: defaultPool, wait: defaultWait, lag: defaultLag}
	if err := c.own(all.RuntimeParams); err != nil {
		return nil, err
	}
	params := all.RuntimeParams
	params["application_name"] = cmp.Or(params["application_name"], "nomen")
	params["statement_timeout"] = cmp.Or(params["statement_timeout"], strconv.FormatInt(defaultTimeout.Milliseconds(), 10))
	if !strings.Contains(url, "connect_timeout=") {
		all.ConnectTimeout = defaultConnect
	}
	all.OnNotice = noteUnreplicated
	all.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &canceller{asks: pgconn.CancelRequestContextWatcherHandler{Conn: conn, CancelRequestDelay: cancelAfter, DeadlineDelay: abandonAfter}}
	}
	c.servers = split(all)
	return c, nil
}

// own takes the parameters of this package out of those for the server.
func (c *config) own(params map[string]string) error {
	for name, set := range map[string]func(string) error{
		paramPool: func(s string) (err error) {
			if c.pool, err = strconv.Atoi(s); err == nil && c.pool < 1 {
				err = fmt.Errorf("%d is too few", c.pool)
			}
			return err
		},
		paramWait: func(s string) (err error) { c.wait, err = duration(s); c.waits = true; return err },
		paramLag:  func(s string) (err error) { c.lag, err = duration(s); return err },
	} {
		text, ok := params[name]
		if !ok {
			continue
		}
		delete(params, name)
		if err := set(text); err != nil {
			return fmt.Errorf("parameter %s of the connection string: %w", name, err)
		}
	}
	return nil
}

// duration reads one such as 5s; it is not negative.
func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", s)
	}
	return d, err
}

// split makes a configuration for each host, with those of its fallbacks that
// are about the same host: the ways to use TLS.
func split(all *pgx.ConnConfig) []*pgx.ConnConfig {
	type host struct {
		name string
		port uint16
	}
	first := &pgconn.FallbackConfig{Host: all.Host, Port: all.Port, TLSConfig: all.TLSConfig}
	ways := map[host][]*pgconn.FallbackConfig{}
	var hosts []host
	for _, way := range append([]*pgconn.FallbackConfig{first}, all.Fallbacks...) {
		h := host{way.Host, way.Port}
		if ways[h] == nil {
			hosts = append(hosts, h)
		}
		ways[h] = append(ways[h], way)
	}
	servers := make([]*pgx.ConnConfig, 0, len(hosts))
	for _, h := range hosts {
		c := all.Copy()
		c.ValidateConnect = nil // which server does what is found out all the time
		c.Host, c.Port, c.TLSConfig = h.name, h.port, ways[h][0].TLSConfig
		c.Fallbacks = slices.Clone(ways[h][1:])
		servers = append(servers, c)
	}
	return servers
}
