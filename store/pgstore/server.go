package pgstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/internal/quiet"
)

// A role is the state of a server.
type role int32

const (
	unknown    role = iota // not yet checked
	primary                // accepts changes
	standby                // read-only
	late                   // read-only, and has lagged behind the primary for too long
	superseded             // accepts changes, but another server was promoted in its place
	down                   // cannot be reached
)

func (r role) String() string {
	return [...]string{"unknown", "primary", "replica", "late replica", "superseded primary", "down"}[r]
}

// Short work has separate connections, so that it never waits for listings. It may even be
// called from within the loop over a listing.
const longPool = 32 // maximum number of connections to a server for listings and other long work

// A work determines which connections are used.
type work bool

const (
	short work = false // one or a few statements, each no longer than readTimeout
	long  work = true  // may wait for its consumer
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
	told  []string  // causes logged since it is down

	logged  role // that was logged last; unknown if none was
	changes int  // of the role, since then
	lines   quiet.Lines
}

// A life is the time until a server is next lost.
type life struct {
	ctx context.Context
	end context.CancelFunc
}

func newLife() *life {
	ctx, end := context.WithCancel(context.Background())
	return &life{ctx, end}
}

// while returns a context that ends with ctx, or when the server is lost, so that calls to
// a server that hangs end early. The cause is then errServerLost.
func (s *server) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life.Load().ctx, func() { cancel(errServerLost) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (s *server) is(r role) bool { return role(s.role.Load()) == r }

// lose aborts everything in progress on a server.
func (s *server) lose() {
	s.life.Swap(newLife()).end()
	s.short.drop()
	s.long.drop()
	s.watch.drop()
}
