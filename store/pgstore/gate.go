package pgstore

import (
	"sync"

	"github.com/nomen-project/nomen/store"
)

// A gate counts the calls under way and, once closed, lets none in. Unlike a
// read-write lock it can be entered again, by a call within a listing, while
// somebody waits for it to close. Its zero value is open.
type gate struct {
	mu     sync.RWMutex
	closed bool
	calls  sync.WaitGroup
}

// enter lets a call in, which must leave; or returns store.ErrClosed.
func (g *gate) enter() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return store.ErrClosed
	}
	g.calls.Add(1)
	return nil
}

func (g *gate) leave() { g.calls.Done() }

// close waits for the calls under way. It reports whether the gate was open.
func (g *gate) close() bool {
	g.mu.Lock()
	open := !g.closed
	g.closed = true
	g.mu.Unlock()
	g.calls.Wait()
	return open
}
