// Package gate counts the calls in progress in a store, so that closing it can wait for them.
package gate

import (
	"sync"

	"github.com/nomen-project/nomen/store"
)

// A Gate counts calls in progress and admits none once it is closed. Unlike a read-write lock
// it can be entered again by a nested call, even while Close waits. The zero value is open.
type Gate struct {
	mu     sync.RWMutex
	closed bool
	calls  sync.WaitGroup
}

// Enter admits a call, which must call Leave when done. It returns store.ErrClosed if the gate
// is closed.
func (g *Gate) Enter() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return store.ErrClosed
	}
	g.calls.Add(1)
	return nil
}

// Leave ends a call.
func (g *Gate) Leave() { g.calls.Done() }

// Close closes the gate and waits for the calls in progress. It reports whether the gate was
// open.
func (g *Gate) Close() bool {
	g.mu.Lock()
	open := !g.closed
	g.closed = true
	g.mu.Unlock()
	g.calls.Wait()
	return open
}
