// Package gate counts the calls under way in a store, so that closing it can wait
// for them.
package gate

import (
	"sync"

	"github.com/nomen-project/nomen/store"
)

// A Gate counts the calls under way and, once closed, lets none in. Unlike a
// read-write lock it can be entered again, by a call within a listing, while
// somebody waits for it to close. Its zero value is open.
type Gate struct {
	mu     sync.RWMutex
	closed bool
	calls  sync.WaitGroup
}

// Enter lets a call in, which must leave; or returns store.ErrClosed.
func (g *Gate) Enter() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return store.ErrClosed
	}
	g.calls.Add(1)
	return nil
}

// Leave lets a call out that has entered.
func (g *Gate) Leave() { g.calls.Done() }

// Close waits for the calls under way. It reports whether the gate was open.
func (g *Gate) Close() bool {
	g.mu.Lock()
	open := !g.closed
	g.closed = true
	g.mu.Unlock()
	g.calls.Wait()
	return open
}
