package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/gate"
	"github.com/nomen-project/nomen/store"
)

// Options say where a store is and how it is opened.
type Options struct {
	URL      string       // postgres://USER@HOST:PORT,HOST:PORT/DATABASE?...; see the package
	Log      *slog.Logger // of servers that come and go; nil for nobody
	ReadOnly bool         // nothing is written, and the store must exist

	MustExist bool // the store must exist: else Open returns fs.ErrNotExist and makes nothing

	// Node says that the store is for a server that goes on without its database. Then
	// Open succeeds while the database is away; every call fails with a
	// [*store.AwayError] until it was there, and is a store, which is made if it is none.
	// And no call waits for a database that is known to be away, unless the URL has
	// wait.
	Node bool

	Now func() time.Time // the clock of this machine; time.Now if nil
}

// A Store is a database that is open. [Open] makes one.
type Store struct {
	cluster  *cluster
	readOnly bool
	now      func() time.Time
	gate     gate.Gate
	recent   recent
	sealer   *sealer
	settling sync.Mutex // held by who seals in a store that was opened for reading

	requests chan *request // from Apply to write
	writers  sync.WaitGroup

	opening atomic.Pointer[store.Condition] // while a node's database was not there yet; else nil
	end     context.CancelFunc              // of opening
	opened  sync.WaitGroup
}

var (
	_ store.Store              = (*Store)(nil)
	_ store.Historian          = (*Store)(nil)
	_ store.AuthorityHistorian = (*Store)(nil)
	_ store.Counter            = (*Store)(nil)
	_ store.Tokens             = (*Store)(nil)
	_ store.TokenLister        = (*Store)(nil)
	_ store.TokenHistorian     = (*Store)(nil)
	_ store.Finder             = (*Store)(nil)
	_ store.Feed               = (*Store)(nil)
	_ store.Settler            = (*Store)(nil)
	_ store.Prover             = (*Store)(nil)
	_ store.Loader             = (*Store)(nil)
	_ store.Verifier           = (*Store)(nil)
	_ store.Watched            = (*Store)(nil)
	_ store.Clocked            = (*Store)(nil)
)

// Open opens the store in a database, or makes one there. While no server takes
// changes, a store that is there is opened from a replica. The error contains a
// [*store.VersionError] when the store was made by other rules, and is a
// [*store.AwayError] when no server can be reached for the time that the connection
// string gives.
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := parseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("pgstore: %w", err)
	}
	schema, err := readSchema(migrationFiles())
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{
		cluster:  newCluster(config, o.Log),
		readOnly: o.ReadOnly,
		now:      o.Now,
		requests: make(chan *request),
	}
	if len(config.servers) > 1 {
		s.recent.lag = config.lag
	}
	if o.Node && !config.waits {
		s.cluster.wait = 0
	}
	s.sealer = newSealer(s.cluster)
	err = s.identify(ctx, schema, o.MustExist)
	switch {
	case err == nil:
		s.start()
	case o.Node && away(err) && !s.cluster.denies(err) && ctx.Err() == nil:
		s.openLater(err, schema)
	default:
		s.cluster.close()
		return nil, failed("open", err)
	}
	return s, nil
}

// start starts what writes.
func (s *Store) start() {
	if s.readOnly {
		return
	}
	for range writers {
		s.writers.Go(s.write)
	}
	s.sealer.start()
}

const (
	firstOpening = 50 * time.Millisecond // between attempts to open a database that is away; it doubles
	lastOpening  = 500 * time.Millisecond
)

// openLater opens the store when its database is there.
func (s *Store) openLater(err error, schema schema) {
	s.opening.Store(&store.Condition{NoReads: true, NoWrites: true, Cause: causeOf(err), Since: time.Now()})
	s.cluster.log.Warn("the database is away: the store is opened when it is there", "err", err)
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.opened.Go(func() {
		told := ""
		for pause := firstOpening; ; pause = min(2*pause, lastOpening) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			err := s.identify(ctx, schema, false)
			if err == nil {
				break
			}
			c := *s.opening.Load()
			var version *store.VersionError
			switch {
			case errors.As(err, &version):
				c.Cause = version.Error()
			case away(err):
				c.Cause = causeOf(err)
			default:
				c.Cause = "the database cannot be used"
			}
			s.opening.Store(&c)
			if !away(err) && err.Error() != told && ctx.Err() == nil {
				told = err.Error()
				s.cluster.log.Error("the store cannot be opened", "err", err)
			}
		}
		since := s.opening.Load().Since
		s.start()
		s.opening.Store(nil)
		s.cluster.log.Info("the database is there, and the store is open", "after", time.Since(since).Round(time.Millisecond).String())
	})
}

// enter begins a call, which has to leave by s.gate. The error is that the store is
// closed, or not open yet.
func (s *Store) enter() error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	if c := s.opening.Load(); c != nil {
		s.gate.Leave()
		return &store.AwayError{Cause: c.Cause, After: retryAfter}
	}
	return nil
}

// Condition implements [store.Watched].
func (s *Store) Condition() store.Condition {
	if c := s.opening.Load(); c != nil {
		return *c
	}
	return s.cluster.condition()
}

// identify checks that the store was made by the rules of this program, or makes
// it so.
func (s *Store) identify(ctx context.Context, schema schema, mustExist bool) error {
	for p := newPatience(s.cluster.wait); !s.readOnly; {
		server, err := s.cluster.forWriting()
		if err == nil {
			call, cancel := server.while(ctx)
			err = server.long.with(call, func(c *pgx.Conn) error {
				if mustExist && missing(schema.check(call, c)) {
					return errNoStore
				}
				return schema.migrate(call, c)
			})
			cancel()
		}
		if err == nil || !transient(err) || s.cluster.denies(err) || ctx.Err() != nil {
			return ended(ctx, err)
		}
		if server != nil {
			s.cluster.fail(server, err)
		}
		if !p.pause(ctx, server != nil) {
			if s.check(ctx, 0, schema) == nil {
				return nil
			}
			return err
		}
	}
	return s.check(ctx, s.cluster.wait, schema)
}

// errNoStore is returned by Open where there has to be a store and is none.
var errNoStore = fmt.Errorf("there is no store of names in this database: %w", fs.ErrNotExist)

// check looks at the schema without changing anything.
func (s *Store) check(ctx context.Context, wait time.Duration, schema schema) error {
	err := s.cluster.readWithin(ctx, wait, short, false, func(ctx context.Context, c *pgx.Conn, _ role) error {
		return schema.check(ctx, c)
	})
	if missing(err) {
		err = errNoStore
	}
	return err
}

// Close implements [store.Store]. It must not be called from within a listing,
// for whose end it waits.
func (s *Store) Close() error {
	if !s.gate.Close() {
		return nil
	}
	if s.end != nil {
		s.end()
		s.opened.Wait()
	}
	close(s.requests)
	s.writers.Wait()
	s.sealer.stop()
	s.cluster.close()
	return nil
}

// failed returns err with what was to be done, nil if it is nil: a [*store.AwayError]
// if it says that the database is away.
func failed(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case away(err) && !store.IsAway(err):
		err = awayError(err)
	}
	return fmt.Errorf("pgstore: %s: %w", what, err)
}
