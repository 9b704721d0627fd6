// Package gate counts the calls in progress in a store, so that closing the store can wait for
// them.
package gate

import (
	"sync"

	"github.com/nomen-project/nomen/store"
)

// A Gate counts calls in progress. After it is closed, it admits no further calls. Unlike the
// holder of a read lock, a call that has entered can enter again, even while Close waits. The zero
// Gate is open.
type Gate struct {
	mu     sync.RWMutex
	closed bool
	calls  sync.WaitGroup
}

// Enter admits a call, which must end with [Gate.Leave]. If the gate is closed, Enter returns
// [store.ErrClosed].
func (g *Gate) Enter() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return store.ErrClosed
	}
	g.calls.Add(1)
	return nil
}

// Leave ends a call that [Gate.Enter] has admitted.
func (g *Gate) Leave() { g.calls.Done() }

// Close closes the gate and waits for the calls in progress. It returns false if the gate was
// already closed.
func (g *Gate) Close() bool {
	g.mu.Lock()
	open := !g.closed
	g.closed = true
	g.mu.Unlock()
	g.calls.Wait()
	return open
}
