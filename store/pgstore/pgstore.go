package pgstore

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
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
}

// A Store is a database that is open. [Open] makes one.
type Store struct {
	cluster  *cluster
	readOnly bool
	gate     gate.Gate
	recent   recent
	sealer   *sealer
	settling sync.Mutex // held by who seals in a store that was opened for reading

	requests chan *request // from Apply to write
	writers  sync.WaitGroup
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
)

// Open opens the store in a database, or makes one there. While no server takes
// changes, a store that is there is opened from a replica. The error contains a
// [*store.VersionError] when the store was made by other rules.
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
	s := &Store{
		cluster:  newCluster(config, o.Log),
		readOnly: o.ReadOnly,
		requests: make(chan *request),
	}
	if len(config.servers) > 1 {
		s.recent.lag = config.lag
	}
	if err := s.identify(ctx, schema, o.MustExist); err != nil {
		s.cluster.close()
		return nil, failed("open", err)
	}
	s.sealer = newSealer(s.cluster)
	if !o.ReadOnly {
		for range writers {
			s.writers.Go(s.write)
		}
		s.sealer.start()
	}
	return s, nil
}

// identify checks that the store was made by the rules of this program, or makes
// it so.
func (s *Store) identify(ctx context.Context, schema schema, mustExist bool) error {
	for p := newPatience(s.cluster.wait); !s.readOnly; {
		server, err := s.cluster.forWriting()
		if err == nil {
			err = server.long.with(ctx, func(c *pgx.Conn) error {
				if mustExist && missing(schema.check(ctx, c)) {
					return errNoStore
				}
				return schema.migrate(ctx, c)
			})
		}
		if err == nil || !transient(err) || s.cluster.denies(err) || ctx.Err() != nil {
			return ended(ctx, err)
		}
		if server != nil {
			s.cluster.fail(server, err)
		}
		if !p.pause(ctx) {
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
	close(s.requests)
	s.writers.Wait()
	s.sealer.stop()
	s.cluster.close()
	return nil
}

// failed returns err with what was to be done, nil if it is nil.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pgstore: %s: %w", what, err)
}
