package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// Parameters of the connection string in addition to those of libpq, and defaults.
const (
	paramPool = "pool" // maximum number of connections to each server, for short work
	paramWait = "wait" // how long a call retries while no server is available
	paramLag  = "lag"  // how long a node rejects data from a replica that is older than what the node has written

	defaultPool    = 16
	defaultWait    = 5 * time.Second
	defaultLag     = 5 * time.Second
	defaultTimeout = 30 * time.Second // timeout of a statement
	defaultConnect = 3 * time.Second  // timeout of an attempt to connect
)

// When a context ends during a statement, the store sends a cancel request to the server after
// cancelAfter, and closes the connection after abandonAfter.
const (
	cancelAfter  = 100 * time.Millisecond
	abandonAfter = 2 * time.Second
)

// A canceller sends a cancel request for a statement whose context has ended, unless the connection
// was lost.
type canceller struct {
	asks      pgconn.CancelRequestContextWatcherHandler
	abandoned bool
}

func (c *canceller) HandleCancel(ctx context.Context) {
	if c.abandoned = errors.Is(context.Cause(ctx), errServerLost); !c.abandoned {
		c.asks.HandleCancel(ctx)
		return
	}
	_ = c.asks.Conn.Conn().SetDeadline(time.Unix(1, 0)) // if this fails, pgx closes the connection
}

func (c *canceller) HandleUnwatchAfterCancel() {
	if !c.abandoned {
		c.asks.HandleUnwatchAfterCancel()
	}
}

// A config is a parsed connection string.
type config struct {
	servers []*pgx.ConnConfig // one configuration for each host
	pool    int
	wait    time.Duration
	waits   bool // the connection string has the parameter wait
	lag     time.Duration
}

// CheckURL returns an error if url is not valid for [Options].URL. It does not connect to a server.
func CheckURL(url string) error {
	_, err := parseConfig(url)
	return err
}

// parseConfig parses a connection string. Its errors do not contain passwords.
func parseConfig(url string) (*config, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, fmt.Errorf("invalid connection string: it must begin with postgres://")
	}
	all, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	c := &config{pool: defaultPool, wait: defaultWait, lag: defaultLag}
	params := all.RuntimeParams
	if err := c.own(params); err != nil {
		return nil, err
	}
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

func (c *config) own(params map[string]string) error {
	for name, set := range map[string]func(string) error{
		paramPool: func(s string) (err error) {
			if c.pool, err = strconv.Atoi(s); err == nil && c.pool < 1 {
				err = fmt.Errorf("%d must be positive", c.pool)
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
			return fmt.Errorf("invalid parameter %s of the connection string: %w", name, err)
		}
	}
	return nil
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s must not be negative", s)
	}
	return d, err
}

// split returns a configuration for each host. The fallbacks of a configuration are for the same
// host, and differ only in the use of TLS.
func split(all *pgx.ConnConfig) []*pgx.ConnConfig {
	first := &pgconn.FallbackConfig{Host: all.Host, Port: all.Port, TLSConfig: all.TLSConfig}
	ways := map[string][]*pgconn.FallbackConfig{}
	var hosts []string
	for _, way := range append([]*pgconn.FallbackConfig{first}, all.Fallbacks...) {
		h := net.JoinHostPort(way.Host, strconv.Itoa(int(way.Port)))
		if ways[h] == nil {
			hosts = append(hosts, h)
		}
		ways[h] = append(ways[h], way)
	}
	servers := make([]*pgx.ConnConfig, 0, len(hosts))
	for _, h := range hosts {
		c := all.Copy()
		c.ValidateConnect = nil // roles are checked continuously instead
		c.Host, c.Port, c.TLSConfig = ways[h][0].Host, ways[h][0].Port, ways[h][0].TLSConfig
		c.Fallbacks = slices.Clone(ways[h][1:])
		servers = append(servers, c)
	}
	return servers
}
