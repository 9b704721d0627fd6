package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A role is what a server can do.
type role int32

const (
	unknown role = iota // nobody has asked yet
	primary             // it takes changes
	standby             // it only reads
	late                // it only reads, and has not received for too long what the primary has
	down                // it cannot be reached
)

func (r role) String() string {
	return [...]string{"unknown", "primary", "replica", "late replica", "down"}[r]
}

// Short work has connections of its own, so that it never waits for listings,
// from within which it may be done.
const longPool = 32 // connections to a server for listings and other long work

const (
	watchEvery   = 500 * time.Millisecond // the role of each server is asked
	watchTimeout = 5 * time.Second
	firstPause   = 5 * time.Millisecond // between attempts; it doubles
	lastPause    = 250 * time.Millisecond
	readTimeout  = 10 * time.Second // of one attempt, while others could do it
	maxHeld      = 5 * time.Second  // that locks are held by who does nothing
)

// A work says which connections something is done on.
type work bool

const (
	short work = false // a statement or a few, none for longer than readTimeout
	long  work = true  // may wait for its consumer
)

func (s *server) pool(w work) *pool {
	if w == long {
		return s.long
	}
	return s.short
}

// errNoPrimary is what a writer gets who found no server that takes changes.
var errNoPrimary = errors.New("no server that takes changes can be reached")

// A server is one of those that the connection string names.
type server struct {
	addr        string
	short, long *pool
	watch       *pool
	role        atomic.Int32
	life        atomic.Pointer[life]
}

// A life is the time from one loss of a server to the next.
type life struct {
	ctx context.Context
	end context.CancelFunc
}

func newLife() *life {
	ctx, end := context.WithCancel(context.Background())
	return &life{ctx, end}
}

// while returns a context that ends with ctx, or when the server is lost: who
// waits for one that hangs need not wait for its own time to end.
func (s *server) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life.Load().ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (s *server) is(r role) bool { return role(s.role.Load()) == r }

// A cluster is the servers of one store: one that takes changes at a time (or,
// in some engines, each), and its replicas.
type cluster struct {
	servers []*server
	wait    time.Duration
	lag     time.Duration
	fences  fences
	log     *slog.Logger
	turn    atomic.Uint32 // of the replica that reads next
	stop    context.CancelFunc
	watches sync.WaitGroup
}

func newCluster(c *config, log *slog.Logger) *cluster {
	ctx, stop := context.WithCancel(context.Background())
	cl := &cluster{wait: c.wait, lag: c.lag, log: log, stop: stop}
	for _, config := range c.servers {
		s := &server{
			addr:  fmt.Sprintf("%s:%d", config.Host, config.Port),
			short: newPool(impatient(config), c.pool),
			long:  newPool(config, longPool),
			watch: newPool(config, 1),
		}
		s.life.Store(newLife())
		cl.servers = append(cl.servers, s)
	}
	for _, s := range cl.servers {
		cl.watches.Go(func() { cl.keepWatch(ctx, s) })
	}
	return cl
}

// impatient returns config with a bound for transactions in which nothing is done:
// a node that stands still must not hold what it has locked. Listings have none,
// since they wait for their consumers.
func impatient(config *pgx.ConnConfig) *pgx.ConnConfig {
	const name = "idle_in_transaction_session_timeout"
	config = config.Copy()
	if config.RuntimeParams[name] == "" {
		config.RuntimeParams[name] = strconv.FormatInt(maxHeld.Milliseconds(), 10)
	}
	return config
}

func (cl *cluster) close() {
	cl.stop()
	cl.watches.Wait()
	for _, s := range cl.servers {
		s.short.close()
		s.long.close()
		s.watch.close()
	}
}

// keepWatch asks s for its role now and then, until ctx ends.
func (cl *cluster) keepWatch(ctx context.Context, s *server) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		cl.ask(ctx, s)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

const (
	askRole  = "show transaction_read_only"
	askFence = "select fence from nomen_head where id = 1"
)

// ask finds out the role of s. Every change raises the fence of the head within
// a second, so a replica whose fence the primary had passed some time ago is late.
func (cl *cluster) ask(ctx context.Context, s *server) {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	var readOnly string
	var fence int64
	err := s.watch.with(ctx, func(c *pgx.Conn) error {
		if err := c.QueryRow(ctx, askRole).Scan(&readOnly); err != nil {
			return err
		}
		err := c.QueryRow(ctx, askFence).Scan(&fence)
		if missing(err) {
			err = nil // there is no store yet, or a damaged one: that is no matter of the server
		}
		return err
	})
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		cl.set(s, down, err)
	case readOnly != "on":
		cl.fences.saw(fence)
		cl.set(s, primary, nil)
	case fence < cl.fences.passed(cl.lag):
		cl.set(s, late, nil)
	default:
		cl.set(s, standby, nil)
	}
}

// A fences remembers when the primary had which fence.
type fences struct {
	mu   sync.Mutex
	seen []seenFence // the oldest first
}

type seenFence struct {
	fence int64
	at    time.Time
}

func (f *fences) saw(fence int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.seen); n == 0 || fence > f.seen[n-1].fence {
		f.seen = append(f.seen, seenFence{fence, time.Now()})
	}
}

// passed returns the fence that the primary had some time ago.
func (f *fences) passed(ago time.Duration) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.seen) > 1 && time.Since(f.seen[1].at) >= ago {
		f.seen = f.seen[1:]
	}
	if len(f.seen) == 0 || time.Since(f.seen[0].at) < ago {
		return 0
	}
	return f.seen[0].fence
}

// set takes note of the role of s.
func (cl *cluster) set(s *server, r role, err error) {
	was := role(s.role.Swap(int32(r)))
	if was == r {
		return
	}
	if r == down {
		s.life.Swap(newLife()).end()
		s.short.drop()
		s.long.drop()
		s.watch.drop()
		cl.log.Warn("database server lost", "server", s.addr, "err", err)
	} else {
		cl.log.Info("database server found", "server", s.addr, "role", r.String())
	}
}

// fail draws from an error of s what it says about s.
func (cl *cluster) fail(s *server, err error) {
	switch {
	case state(err) == readOnlyTransaction:
		cl.set(s, standby, nil)
	case gone(err):
		cl.set(s, down, err)
	}
}

// forWriting returns the server that takes changes, or errNoPrimary.
func (cl *cluster) forWriting() (*server, error) {
	var maybe *server
	for _, s := range cl.servers {
		switch {
		case s.is(primary):
			return s, nil
		case s.is(unknown), s.is(down) && len(cl.servers) == 1:
			maybe = s
		}
	}
	if maybe == nil {
		return nil, errNoPrimary
	}
	return maybe, nil
}

// forReading returns all servers, the best to read from first: replicas in turn,
// then the primary, then those that were not there when they were last asked.
func (cl *cluster) forReading(fresh bool) []*server {
	if len(cl.servers) == 1 {
		return cl.servers
	}
	order := [...]role{standby, primary, late, unknown, down}
	if fresh {
		order = [...]role{primary, standby, late, unknown, down}
	}
	turn := int(cl.turn.Add(1))
	list := make([]*server, 0, len(cl.servers))
	for _, r := range order {
		for i := range cl.servers {
			if s := cl.servers[(turn+i)%len(cl.servers)]; s.is(r) {
				list = append(list, s)
			}
		}
	}
	return list
}

// read does f on a server, on another one if that is lost or a replica that does
// not have everything yet, and so on for the time that a call may wait. With
// fresh, it tries the primary first. f is told the server's role; it is called
// again only when it returned an error.
func (cl *cluster) read(ctx context.Context, w work, fresh bool, f func(context.Context, *pgx.Conn, role) error) error {
	return cl.readWithin(ctx, cl.wait, w, fresh, f)
}

// denies reports whether err is the last word of the only server.
func (cl *cluster) denies(err error) bool { return len(cl.servers) == 1 && denied(err) }

// readWithin is read with another time.
func (cl *cluster) readWithin(ctx context.Context, wait time.Duration, w work, fresh bool, f func(context.Context, *pgx.Conn, role) error) error {
	stale := false
	for p := newPatience(wait); ; {
		var err error
		for _, s := range cl.forReading(fresh) {
			if err = cl.readOn(ctx, s, w, f); err == nil || ctx.Err() != nil {
				return ended(ctx, err)
			}
			switch {
			case errors.Is(err, errStale):
				stale = true
			case !gone(err) && !again(err) && (state(err) != undefinedTable || s.is(primary)):
				return err
			}
		}
		if cl.denies(err) || !p.pause(ctx) {
			if stale {
				err = errStale
			}
			return ended(ctx, err)
		}
	}
}

func (cl *cluster) readOn(ctx context.Context, s *server, w work, f func(context.Context, *pgx.Conn, role) error) error {
	call, cancel := s.while(ctx)
	defer cancel()
	if w == short && len(cl.servers) > 1 {
		call, cancel = context.WithTimeout(call, readTimeout)
		defer cancel()
	}
	err := s.pool(w).with(call, func(c *pgx.Conn) error { return f(call, c, role(s.role.Load())) })
	if err != nil && ctx.Err() == nil {
		cl.fail(s, err)
	}
	return err
}

// A patience is how long somebody goes on trying.
type patience struct {
	deadline time.Time
	next     time.Duration
}

func newPatience(wait time.Duration) *patience {
	return &patience{deadline: time.Now().Add(wait), next: firstPause}
}

// pause waits a moment, longer each time and never the same. It reports false
// when there was time enough, or ctx has ended.
func (p *patience) pause(ctx context.Context) bool {
	if !time.Now().Before(p.deadline) {
		return false
	}
	select {
	case <-time.After(p.next/2 + rand.N(p.next)):
	case <-ctx.Done():
		return false
	}
	p.next = min(2*p.next, lastPause)
	return true
}
