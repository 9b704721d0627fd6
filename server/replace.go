package server

import (
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/health"
)

// carried is the state that a server passes on to its replacement, such as how much of their limits
// clients have used.
type carried struct {
	current   atomic.Pointer[Server] // the server that answers new requests
	replacing sync.Mutex

	health    health.State
	listening openListeners
	rates     *gateway.Rates // of costly requests
	turns     *pool          // of costly requests
	lookups   chan struct{}  // one element for each name of a list that is being answered from the store
	bodies    *gateway.Turns // one turn per byte of a buffered body
	resources *pool
	sizes     sizes
}

func newCarried(o Options) *carried {
	c := &carried{
		rates:     gateway.NewRates(o.Limits.Rate, o.Limits.Burst, maxAddresses),
		turns:     newPool(gateway.NewTurns(o.Limits.Costly, perAddress(o.Limits.Costly, 8))),
		lookups:   make(chan struct{}, 4*runtime.GOMAXPROCS(0)+batchAhead),
		bodies:    gateway.NewTurns(maxBodies, maxBodies/4),
		resources: newPool(gateway.NewTurns(o.Limits.Resources, perAddress(o.Limits.Resources, 4))),
	}
	c.health.Store, c.health.Clock, c.health.Authorities = o.Store, o.Clock, o.Authorities
	if o.Publication != nil {
		c.health.Warnings = func() []string {
			if problem := o.Publication.Status().Problem; problem != "" {
				return []string{"log: " + problem}
			}
			return nil
		}
	}
	return c
}

// perAddress returns the limit for one address, which is a fraction of the limit for all addresses,
// but at least 1.
func perAddress(all, parts int) int { return max(all/parts, 1) }

// Replace replaces the server without closing the listeners. From now on, the parameter next is the
// server that answers all requests. The previous server completes the requests that it has begun.
// Then the returned channel is closed, and the caller may close what only the previous server used.
//
// The new server takes over the counts of open connections, and how much of their limits clients
// have used. Its options Store, Admin, Metrics, Clock, Now and Log must be those of the previous
// server. The limits HeadTimeout, IdleTimeout and Timeout of connections do not change. The new
// server must not have answered a request or replaced a server before.
func (l *Listening) Replace(next *Server) (completed <-chan struct{}) {
	c := l.server.carried
	c.replacing.Lock()
	defer c.replacing.Unlock()
	next.carried, next.admin = c, l.server.admin
	limits := l.limits(next)
	c.rates.Set(limits.Rate, limits.Burst, next.now())
	c.turns.Resize(limits.Costly, perAddress(limits.Costly, 8))
	c.resources.Resize(limits.Resources, perAddress(limits.Resources, 4))
	next.answers.Continue(c.current.Load().answers)
	before := c.current.Swap(next)
	c.listening.limit(limits)
	before.users.end()
	return before.users.gone
}

func (s *Server) serveCurrent(w http.ResponseWriter, r *http.Request) {
	now := s.use()
	defer now.users.done()
	now.handler.ServeHTTP(w, r)
}

// use returns the current server and counts a request to it. The caller must call users.done after
// the request.
func (c *carried) use() *Server {
	for {
		now := c.current.Load()
		now.users.add()
		if now == c.current.Load() { // otherwise the server was replaced before the request was counted
			return now
		}
		now.users.done()
	}
}

// users counts the requests that a server is answering.
type users struct {
	n     atomic.Int64
	ended atomic.Bool // set when the server is replaced; serveCurrent then passes requests to the next server
	once  sync.Once
	gone  chan struct{} // closed when ended is set and n is zero
}

func (u *users) add() { u.n.Add(1) }

func (u *users) done() {
	if u.n.Add(-1) == 0 && u.ended.Load() {
		u.once.Do(func() { close(u.gone) })
	}
}

// end closes the channel gone as soon as all requests are answered.
func (u *users) end() {
	u.add()
	u.ended.Store(true)
	u.done()
}
