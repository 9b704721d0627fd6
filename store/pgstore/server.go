package pgstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/internal/quiet"
)

// A role is the state of a server.
type role int32

const (
	unknown    role = iota // not yet checked
	primary                // accepts changes
	standby                // read-only
	late                   // read-only, and has lagged behind the primary for too long
	superseded             // accepts changes, although another server was promoted in its place
	down                   // cannot be reached
	roles                  // number of roles
)

func (r role) String() string {
	return [...]string{"unknown", "primary", "replica", "late replica", "superseded primary", "down"}[r]
}

// Short calls have connections of their own. They never wait for listings, and are possible inside
// a loop over a listing.
const longPool = 32 // maximum number of connections to a server for listings and other long work

// A work is the class of a call, which determines the connection pool that is used.
type work bool

const (
	short work = false // one or a few statements, each no longer than readTimeout
	long  work = true  // may wait for the caller who consumes the result
)

func (s *server) pool(w work) *pool {
	if w == long {
		return s.long
	}
	return s.short
}

// A server is one of the servers named by the connection string.
type server struct {
	addr        string
	short, long *pool
	watch       *pool
	role        atomic.Int32
	life        atomic.Pointer[life]
	doubted     chan struct{} // receives when a connection to it was lost

	mu    sync.Mutex
	since time.Time // when its role last changed; zero if it never did
	good  time.Time // start of the last check that it answered
	lost  error     // why it is down
	told  []string  // causes that were logged since it is down

	logged  role // the role that was logged last; unknown if none was
	changes int  // changes of the role since then
	lines   quiet.Lines
}

// A life is a period in which a server is available. Its context ends when the server is lost.
type life struct {
	ctx context.Context
	end context.CancelFunc
}

func newLife() *life {
	ctx, end := context.WithCancel(context.Background())
	return &life{ctx, end}
}

// while returns a context derived from ctx that also ends when the server is lost, with the cause
// errServerLost. Calls to a server that hangs thus end early.
func (s *server) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life.Load().ctx, func() { cancel(errServerLost) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (s *server) is(r role) bool { return role(s.role.Load()) == r }

// lose aborts all work in progress on a server.
func (s *server) lose() {
	s.life.Swap(newLife()).end()
	s.short.drop()
	s.long.drop()
	s.watch.drop()
}

// An aspect is the result of a check of a server.
type aspect struct {
	readOnly bool
	fence    int64
	reign    reign // of a server that is not read-only
}

// lookAt reads the state of s within watchTimeout. After an error, it tries a new connection. If an
// administrator ends the sessions of the server, lookAt tries several connections.
func (s *server) lookAt(ctx context.Context) (a aspect, err error) {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	look := func(c *pgx.Conn) error { return a.read(ctx, c) }
	err = s.watch.with(ctx, look)
	for tries := 0; err != nil && ctx.Err() == nil && (tries == 0 || state(err) == sessionEnded && tries < maxSessions); tries++ {
		s.watch.drop() // only the connection may be lost
		err = s.watch.with(ctx, look)
	}
	if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = &lostError{errHangs}
	}
	return a, err
}

func (a *aspect) read(ctx context.Context, c *pgx.Conn) error {
	var readOnly string
	if err := c.QueryRow(ctx, askRole).Scan(&readOnly); err != nil {
		return err
	}
	a.readOnly = readOnly == "on"
	var any bool
	err := c.QueryRow(ctx, askFence).Scan(&a.fence, &any)
	if missing(err) {
		err = nil // the store is missing or damaged, which is not the server's fault
	}
	if err == nil && !a.readOnly {
		a.reign, err = askedReign(ctx, c)
	}
	return err
}
