package gateway

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Turns is a semaphore with several limits. A client takes a turn, for example to send a request to
// another server, and gives the turn back later. The target of a turn is the server for which it
// was taken. There are limits for all turns, for the turns of one client address, and for the turns
// for one target. Turns is safe for concurrent use.
type Turns struct {
	all, each, place int // limits: for all turns, for one address, and for one target
	queue            int // maximum number of waiting clients

	mu    sync.Mutex
	taken tally
	wait  tally
	line  []*waiter // waiting clients, in the order in which they came
}

// A tally counts turns or waiting clients: in total, by address and by target.
type tally struct {
	n  int
	of map[netip.Addr]int
	at map[string]int
}

func (c *tally) add(from netip.Addr, at string, n int) {
	c.n += n
	if c.of[from] += n; c.of[from] == 0 {
		delete(c.of, from)
	}
	if c.at[at] += n; c.at[at] == 0 || at == "" {
		delete(c.at, at)
	}
}

func newTally() tally { return tally{of: map[netip.Addr]int{}, at: map[string]int{}} }

type waiter struct {
	from  netip.Addr
	at    string
	each  int
	ready chan struct{} // closed when the client gets a turn
}

// NewTurns returns a semaphore with the given limits for all turns and for the turns of one
// address, where an IPv6 /64 counts as one address. At most half of all turns can be for one
// target.
func NewTurns(all, each int) *Turns {
	return &Turns{all: all, each: each, place: max(all/2, 1), queue: all, taken: newTally(), wait: newTally()}
}

// Resize changes the limits that NewTurns has set. If more turns are taken than a new limit
// permits, clients may keep their turns.
func (t *Turns) Resize(all, each int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all, t.each, t.place, t.queue = all, each, max(all/2, 1), all
	t.next()
}

func (t *Turns) load() (taken, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken.n, t.wait.n
}

// TakeFor takes n turns for a client without waiting. The caller must call back at least once to
// return the turns. An address that many clients share gets at most three quarters of all turns. A
// nil client has no limit of its own. The error is a [*LimitError].
func (t *Turns) TakeFor(a *Client, n int) (back func(), err error) {
	return t.take(Guest(a.addr()), t.share(a), n)
}

// most returns the limit of turns for an address of own users, or an address that many clients
// share. Some turns are left for other addresses.
func most(all int) int { return max(all*3/4, 1) }

func (t *Turns) share(a *Client) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case a == nil:
		return t.all
	case a.Many:
		return most(t.all)
	}
	return t.each
}

func (t *Turns) take(from netip.Addr, each, n int) (back func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.taken.of[from]+n > each && each < t.all:
		return nil, &LimitError{After: time.Second}
	case t.taken.n+n > t.all:
		return nil, &LimitError{After: time.Second, Full: true}
	}
	t.taken.add(from, "", n)
	return t.giving(from, "", n), nil
}

func (t *Turns) giving(from netip.Addr, at string, n int) (back func()) {
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.taken.add(from, at, -n)
		t.next()
	})
}

// patience is how long a client should wait before it tries again.
const patience = 5 * time.Second

// Wait takes a turn for a client and a target. If no turn is free, Wait waits until a turn is free
// or ctx ends. The number of waiting clients is limited too: in total, from one address, and for
// one target. The error is a [*LimitError], or the error of ctx if ctx is cancelled before its
// deadline.
func (t *Turns) Wait(ctx context.Context, a *Client, target string) (back func(), err error) {
	w := &waiter{from: Guest(a.addr()), at: target, each: t.share(a), ready: make(chan struct{})}
	t.mu.Lock()
	switch {
	case t.free(w):
		t.taken.add(w.from, target, 1)
		back = t.giving(w.from, target, 1)
	case t.wait.n >= t.queue:
		err = &LimitError{After: patience, Full: true}
	case t.wait.of[w.from] >= w.each, t.wait.at[target] >= t.place:
		err = &LimitError{After: patience, Full: t.wait.of[w.from] < w.each}
	default:
		t.wait.add(w.from, target, 1)
		t.line = append(t.line, w)
	}
	t.mu.Unlock()
	if back != nil || err != nil {
		return back, err
	}
	select {
	case <-w.ready:
	case <-ctx.Done():
		if t.leave(w) {
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				return nil, &LimitError{After: patience, Full: true}
			}
			return nil, ctx.Err()
		}
	}
	return t.giving(w.from, target, 1), nil
}

func (t *Turns) free(w *waiter) bool {
	return t.taken.n < t.all && t.taken.of[w.from] < w.each && (w.at == "" || t.taken.at[w.at] < t.place)
}

func (t *Turns) next() {
	kept := t.line[:0]
	for _, w := range t.line {
		if !t.free(w) {
			kept = append(kept, w)
			continue
		}
		t.wait.add(w.from, w.at, -1)
		t.taken.add(w.from, w.at, 1)
		close(w.ready)
	}
	clear(t.line[len(kept):])
	t.line = kept
}

// leave removes w from the waiting clients, or returns false if w already has a turn.
func (t *Turns) leave(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.line, w)
	if i < 0 {
		return false
	}
	t.line = slices.Delete(t.line, i, i+1)
	t.wait.add(w.from, w.at, -1)
	return true
}
