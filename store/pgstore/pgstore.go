package pgstore

import (
	"cmp"
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
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// Options say which database [Open] opens, and how.
type Options struct {
	URL      string       // postgres://USER@HOST:PORT,HOST:PORT/DATABASE?...; see the package comment
	Log      *slog.Logger // logger for changes in the state of servers; nil for no log
	ReadOnly bool         // write nothing; the store must exist

	MustExist bool // if the store does not exist, return fs.ErrNotExist and create nothing

	// Node is for servers that must start even if the database is unavailable. In that case Open
	// succeeds, and the store is opened or created in the background when the database is
	// available. Until then, calls fail with a [*store.AwayError]. While the database is known to
	// be unavailable, calls fail at once, or after the time of the parameter wait if the URL has
	// this parameter.
	Node bool

	Now func() time.Time // returns the time of this machine; time.Now if nil
}

// A Store is an open store in a database. It is made by [Open].
type Store struct {
	reader

	cluster  *cluster
	readOnly bool
	now      func() time.Time
	gate     gate.Gate
	recent   recent
	sealer   *sealer
	settling sync.Mutex    // held while a read-only store seals
	split    atomic.Uint32 // whether digests are split: splitUnknown, splitNo or splitYes

	requests chan *request // requests that Apply passes to write
	writers  sync.WaitGroup

	opening atomic.Pointer[store.Condition] // condition of a node until its database is open; then nil
	end     context.CancelFunc              // ends the attempts to open the database
	opened  sync.WaitGroup
}

type reader = reading.Reader

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
	_ store.Confirmer          = (*Store)(nil)
	_ store.Prover             = (*Store)(nil)
	_ store.TreeReader         = (*Store)(nil)
	_ store.Splitter           = (*Store)(nil)
	_ store.Loader             = (*Store)(nil)
	_ store.Verifier           = (*Store)(nil)
	_ store.Watched            = (*Store)(nil)
	_ store.Measured           = (*Store)(nil)
	_ store.Clocked            = (*Store)(nil)
	_ store.Vault              = (*Store)(nil)
	_ store.Users              = (*Store)(nil)
)

// Open opens the store in a database, or creates a store if the database has none. If no server
// accepts changes, Open can open an existing store on a replica. If the store has another version,
// the error wraps a [*store.VersionError]. If no server can be reached within the time of the
// parameter wait of the URL, the error wraps a [*store.AwayError].
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := parseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("pgstore: %w", err)
	}
	schema, err := readSchema(migrationFiles())
	if err != nil {
		return nil, err
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{
		cluster:  newCluster(config, o.Log),
		readOnly: o.ReadOnly,
		now:      o.Now,
		requests: make(chan *request),
	}
	s.reader = reading.Of(reading.Changes{Find: s.find, Scan: s.scan, History: s.history, Owner: s.owner})
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
	firstOpening = 50 * time.Millisecond // pause between attempts to open an unavailable database; doubles each time
	lastOpening  = 500 * time.Millisecond
)

// openLater opens the store in the background as soon as its database is available.
func (s *Store) openLater(err error, schema schema) {
	s.opening.Store(&store.Condition{NoReads: true, NoWrites: true, Cause: causeOf(err), Since: time.Now()})
	s.cluster.log.Warn("the database is unavailable: the store will be opened when it is available", "err", err)
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
			c.Cause = causeOfClosed(err)
			s.opening.Store(&c)
			if !away(err) && err.Error() != told && ctx.Err() == nil {
				told = err.Error()
				s.cluster.log.Error("the store cannot be opened", "err", err)
			}
		}
		since := s.opening.Load().Since
		s.start()
		s.opening.Store(nil)
		s.cluster.log.Info("the database is available, and the store is open", "after", time.Since(since).Round(time.Millisecond).String())
	})
}

func causeOfClosed(err error) string {
	var version *store.VersionError
	switch {
	case errors.As(err, &version):
		return version.Error()
	case away(err):
		return causeOf(err)
	default:
		return "the database cannot be used"
	}
}

// enter begins a call of the store. If enter returns nil, the call must leave s.gate at its end.
// The error says that the store is closed or not open yet, or that ctx has ended.
func (s *Store) enter(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	if c := s.opening.Load(); c != nil {
		s.gate.Leave()
		return &store.AwayError{Cause: c.Cause, After: retryAfter}
	}
	if err := ctx.Err(); err != nil {
		s.gate.Leave()
		return err
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

// identify checks the versions of the store. It creates or migrates the store if necessary.
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

var errNoStore = fmt.Errorf("there is no store of names in this database: %w", fs.ErrNotExist)

// check checks the schema without changing anything.
func (s *Store) check(ctx context.Context, wait time.Duration, schema schema) error {
	err := s.cluster.readWithin(ctx, wait, short, false, func(ctx context.Context, c *pgx.Conn, _ role) error {
		return schema.check(ctx, c)
	})
	if missing(err) {
		err = errNoStore
	}
	return err
}

// Close implements [store.Store]. It waits until all listings have ended, and must not be called in
// a loop over a listing.
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

// failed adds the operation to err, and converts it to a [*store.AwayError] if the database is
// unavailable. For nil it returns nil.
func failed(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case away(err) && !store.IsAway(err):
		err = awayError(err)
	}
	return fmt.Errorf("pgstore: %s: %w", what, err)
}
