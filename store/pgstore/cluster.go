package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/quiet"
	"github.com/nomen-project/nomen/store"
)

const (
	watchEvery   = 500 * time.Millisecond // time between two checks of a server
	watchSoon    = 25 * time.Millisecond  // minimum time between two checks
	watchTimeout = 3 * time.Second        // maximum duration of a check, after which the server counts as hanging
	maxSessions  = 10                     // maximum number of new sessions for one check, while an administrator ends sessions
	maxLooks     = 6                      // maximum number of checks of one server at the same time
	firstPause   = 5 * time.Millisecond   // pause before the first retry; doubles with each retry
	lastPause    = 250 * time.Millisecond
	grace        = time.Second     // a call that loses a server retries at least this long, because the server may not be down
	readTimeout  = 4 * time.Second // maximum duration of one attempt of short work
	maxHeld      = 5 * time.Second // maximum time for which an idle transaction may hold locks
)

var errNoPrimary = errors.New("no database server that accepts changes can be reached")

// A cluster is the set of servers of one store: a primary and its replicas. With some databases,
// several servers are primaries.
type cluster struct {
	servers []*server
	wait    time.Duration
	lag     time.Duration
	fences  fences
	reigns  reigns
	log     *slog.Logger
	turn    atomic.Uint32 // index of the next replica to read from
	stop    context.CancelFunc
	watches sync.WaitGroup
	state   atomic.Pointer[store.Condition]

	failures atomic.Uint64 // how often the condition has become bad
	judging  sync.Mutex    // held while state is recomputed

	logged store.Condition // condition that was last logged; guarded by judging, like lines
	lines  quiet.Lines
}

func newCluster(c *config, log *slog.Logger) *cluster {
	ctx, stop := context.WithCancel(context.Background())
	cl := &cluster{wait: c.wait, lag: c.lag, log: log, stop: stop}
	cl.state.Store(&store.Condition{})
	for _, config := range c.servers {
		s := &server{
			addr:  fmt.Sprintf("%s:%d", config.Host, config.Port),
			short: newPool(impatient(config), c.pool),
			long:  newPool(config, longPool),
			watch: newPool(config, maxLooks),

			doubted: make(chan struct{}, 1),
		}
		s.watch.keep = 1
		s.life.Store(newLife())
		cl.servers = append(cl.servers, s)
	}
	for _, s := range cl.servers {
		cl.watches.Go(func() { cl.keepWatch(ctx, s) })
	}
	return cl
}

// impatient returns config with a timeout for idle transactions, so that a node that hangs does not
// keep its locks. The connections for listings have no such timeout, because a listing waits for
// its caller.
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

// keepWatch checks the server s regularly until ctx ends, and also after a connection was lost.
// Other calls therefore need not try a server that is down. After a lost connection, the checks are
// more frequent at first. A check does not wait for the previous checks, whose connections can hang
// even after the server is available again.
func (cl *cluster) keepWatch(ctx context.Context, s *server) {
	var looks sync.WaitGroup
	defer looks.Wait()
	under := make(chan struct{}, maxLooks)
	look := func() {
		select {
		case under <- struct{}{}:
			looks.Go(func() {
				cl.ask(ctx, s)
				<-under
			})
		default:
		}
	}
	pause := 2 * watchSoon
	for {
		look()
		if pause *= 2; pause > watchEvery || !s.is(down) {
			pause = watchEvery
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-s.doubted:
			pause = 2 * watchSoon
			time.Sleep(watchSoon)
		case <-ctx.Done():
			return
		}
	}
}

const (
	askRole = "show transaction_read_only"
	// The query also checks that the table of current records can be read.
	askFence = "select fence, exists(select 1 from nomen_present where kind = 0 and key = '') from nomen_head where id = 1"
	// Every promotion of a PostgreSQL server begins a timeline with a higher number. The first
	// eight digits of the name of a WAL file are the number of the timeline. Other databases do not
	// have these functions.
	askReign = `select system_identifier::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) from pg_control_system()`
)

// ask determines the role of the server s. The fence is a counter in the head of the log, which
// increases within a second after a change. A replica is late if its fence is lower than the fence
// that the primary had cl.lag ago.
func (cl *cluster) ask(ctx context.Context, s *server) {
	begun := time.Now()
	a, err := s.lookAt(ctx)
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		cl.judge(s, begun, down, err)
	case !a.readOnly && !cl.reigns.holds(s, a.reign):
		cl.judge(s, begun, superseded, nil)
	case !a.readOnly:
		cl.fences.saw(a.fence)
		cl.judge(s, begun, primary, nil)
		for _, other := range cl.servers {
			if other.is(primary) && cl.reigns.over(other) {
				cl.set(other, superseded, nil)
			}
		}
	case a.fence < cl.fences.passed(cl.lag):
		cl.judge(s, begun, late, nil)
	default:
		cl.judge(s, begun, standby, nil)
		if cl.condition().NoWrites {
			s.watch.drop() // this session may be the only one that is read-only
		}
	}
}

// judge records the result of a check of s that began at the time begun. It ignores the result if a
// check that began later has already succeeded.
func (cl *cluster) judge(s *server, begun time.Time, r role, err error) {
	s.mu.Lock()
	late := begun.Before(s.good)
	if r != down && !late {
		s.good = begun
	}
	s.mu.Unlock()
	if !late {
		cl.set(s, r, err)
	}
}

// set records the role of s, and the reason if s is down. The reason can change, for example if the
// server is available again but rejects the password.
func (cl *cluster) set(s *server, r role, err error) {
	s.mu.Lock()
	was := role(s.role.Swap(int32(r)))
	changed := was != r || r == down && causeOf(s.lost) != causeOf(err)
	if was != r {
		s.since = time.Now()
		s.changes++
	}
	s.lost = err
	if r != down {
		s.told = nil
	}
	s.mu.Unlock()
	if changed {
		cl.judgeAll()
	}
	if was != r && (r == down || r == superseded) {
		s.lose()
	}
	if r == primary && was == standby { // sessions from the time when the server was read-only may stay read-only
		s.short.drop()
		s.long.drop()
	}
	cl.logCondition()
	cl.logServer(s)
}

// logServer logs a new role of s, or a new reason why s is down. If too many such lines were logged
// recently, a later check logs the change.
func (cl *cluster) logServer(s *server) {
	s.mu.Lock()
	r, err := role(s.role.Load()), s.lost
	news := r != s.logged || r == down && !slices.Contains(s.told, causeOf(err))
	if news = news && s.lines.Take(time.Now()); !news {
		s.mu.Unlock()
		return
	}
	log, changes := cl.log, s.changes
	if changes > 1 {
		log = log.With("suppressed", changes-1)
	}
	s.logged, s.changes = r, 0
	if r == down {
		s.told = append(s.told, causeOf(err))
	}
	s.mu.Unlock()
	switch {
	case r == down && changes == 0:
		log.Warn("database server still down, for another reason", "server", s.addr, "err", err)
	case r == down:
		log.Warn("database server lost", "server", s.addr, "err", err)
	case r == superseded:
		log.Warn("database server ignored: it accepts changes, but another one was promoted in its place", "server", s.addr)
	default:
		log.Info("database server found", "server", s.addr, "role", r.String())
	}
}

func (cl *cluster) judgeAll() {
	cl.judging.Lock()
	defer cl.judging.Unlock()
	c := store.Condition{NoReads: true, NoWrites: true}
	for _, s := range cl.servers {
		if !s.is(down) {
			c.NoReads = false
		}
		if s.is(primary) || s.is(unknown) {
			c.NoWrites = false
		}
	}
	was := cl.state.Load()
	if c.NoWrites {
		c.Cause = causeOf(cl.unable())
		c.Since = was.Since
		if c.Since.IsZero() {
			c.Since = time.Now()
			cl.failures.Add(1)
		}
	}
	cl.state.Store(&c)
}

func (cl *cluster) logCondition() {
	cl.judging.Lock()
	defer cl.judging.Unlock()
	c, was := cl.condition(), cl.logged
	if len(cl.servers) == 1 || c.NoReads == was.NoReads && c.NoWrites == was.NoWrites || !cl.lines.Take(time.Now()) {
		return
	}
	cl.logged = c
	if c.Cause == "" {
		cl.log.Info("the database accepts changes again", "after", time.Since(was.Since).Round(time.Millisecond).String())
	} else {
		cl.log.Warn("the database is unavailable", "reads", !c.NoReads, "writes", !c.NoWrites, "cause", c.Cause)
	}
}

func (cl *cluster) condition() store.Condition { return *cl.state.Load() }

func (cl *cluster) unable() error {
	var last error
	for _, s := range cl.servers {
		if !s.is(down) {
			return errNoPrimary
		}
		s.mu.Lock()
		last = s.lost
		s.mu.Unlock()
	}
	return &lostError{fmt.Errorf("%w: %w", errNoPrimary, last)}
}

// fail updates the state of s after an error. If a connection was lost, fail only starts a check of
// the server, because the server may still be available.
func (cl *cluster) fail(s *server, err error) {
	switch {
	case state(err) == readOnlyTransaction:
		cl.set(s, standby, nil)
	case gone(err):
		select {
		case s.doubted <- struct{}{}:
		default:
		}
	}
}

func (cl *cluster) forWriting() (*server, error) {
	var maybe *server
	for _, s := range cl.servers {
		switch {
		case s.is(primary):
			return s, nil
		case s.is(unknown):
			maybe = s
		}
	}
	if maybe == nil {
		return nil, cl.unable()
	}
	return maybe, nil
}

// forReading returns the available servers in the order in which a read should try them: first the
// replicas in turn, then the primary, then servers that are late or not checked yet. If fresh is
// true, the primary is first.
func (cl *cluster) forReading(fresh bool) []*server {
	if len(cl.servers) == 1 && !cl.servers[0].is(down) {
		return cl.servers
	}
	order := [...]role{standby, primary, late, unknown, superseded}
	if fresh {
		order = [...]role{primary, standby, late, unknown, superseded}
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

// forPlanning returns the server that accepts changes, or nil. Changes must not be planned from the
// data of a replica, which may be behind and cause false conflicts.
func (cl *cluster) forPlanning() []*server {
	s, err := cl.forWriting()
	if err != nil {
		return nil
	}
	return []*server{s}
}

// read calls f with a connection to a server and the role of the server. If the server is lost, or
// is a replica without recent data, read calls f with other servers, for as long as a call may
// wait. If fresh is true, read tries the primary first. If ctx is from [store.Fresh], read tries
// only the primary.
func (cl *cluster) read(ctx context.Context, w work, fresh bool, f func(context.Context, *pgx.Conn, role) error) error {
	return cl.readWithin(ctx, max(cl.wait, store.PatienceOf(ctx)), w, fresh, f)
}

// denies reports whether err is a rejected login at the only server.
func (cl *cluster) denies(err error) bool { return len(cl.servers) == 1 && denied(err) }

func (cl *cluster) readWithin(ctx context.Context, wait time.Duration, w work, fresh bool, f func(context.Context, *pgx.Conn, role) error) error {
	stale := false
	for p := newPatience(wait); ; {
		servers, err := cl.forReading(fresh), error(nil)
		if store.IsFresh(ctx) {
			servers = cl.forPlanning()
		}
		if len(servers) == 0 {
			err = cl.unable()
		}
		for _, s := range servers {
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
		if cl.denies(err) || !p.pause(ctx, len(servers) > 0) {
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
	if w == short {
		call, cancel = context.WithTimeout(call, readTimeout)
		defer cancel()
	}
	err := s.pool(w).within(call, readWait, func(c *pgx.Conn) error { return f(call, c, role(s.role.Load())) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	switch call.Err() { // the context of the attempt has ended, but ctx has not
	case context.Canceled:
		err = &lostError{errServerLost}
	case context.DeadlineExceeded:
		err = &lostError{errHangs}
	}
	cl.fail(s, err)
	return err
}

// A patience limits how long a call is retried.
type patience struct {
	begun    time.Time
	deadline time.Time
	next     time.Duration
}

func newPatience(wait time.Duration) *patience {
	now := time.Now()
	return &patience{begun: now, deadline: now.Add(wait), next: firstPause}
}

// pause waits for a random time, which grows with each call. It returns false if ctx has ended or
// the time limit is over. If hope is true, a server may still be available, and the time limit is
// at least the constant grace.
func (p *patience) pause(ctx context.Context, hope bool) bool {
	now := time.Now()
	if !now.Before(p.deadline) && !(hope && now.Before(p.begun.Add(grace))) {
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
