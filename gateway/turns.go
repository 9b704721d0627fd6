package gateway

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// Turns bound how many do something at once, and how many of them are of one
// address, or at one place. It is safe for concurrent use.
type Turns struct {
	all, each, place int // at once: of all, of one address, and at one place
	queue            int // how many may wait

	mu    sync.Mutex
	taken tally
	wait  tally
	line  []*waiter // who waits, the first one first
}

// A tally counts turns.
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

// A waiter waits for a turn.
type waiter struct {
	from  netip.Addr
	at    string
	each  int
	ready chan struct{} // closed when it has its turn
}

// NewTurns returns turns for so many, and for so many of one address, where an IPv6
// network of one link is one. Half of them can be at one place.
func NewTurns(all, each int) *Turns {
	return &Turns{all: all, each: each, place: max(all/2, 1), queue: all, taken: newTally(), wait: newTally()}
}

// Take takes a turn, which has to be given back, once or more often. It is not ok if
// there is none.
func (t *Turns) Take(from netip.Addr) (back func(), ok bool) {
	back, err := t.take(Guest(from), t.each, 1)
	return back, err == nil
}

// TakeFor takes n turns at once for an asker. Behind an address that many clients share
// three quarters can be taken, and a nil asker has no share. The error is a [*LimitError].
func (t *Turns) TakeFor(a *Asker, n int) (back func(), err error) {
	return t.take(Guest(a.addr()), t.share(a), n)
}

// most returns how many of all turns somebody may have who has no small share: there is
// always room for others.
func most(all int) int { return max(all*3/4, 1) }

func (t *Turns) share(a *Asker) int {
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

// giving returns what gives turns back.
func (t *Turns) giving(from netip.Addr, at string, n int) (back func()) {
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.taken.add(from, at, -n)
		t.next()
	})
}

// patience is when a client may come again for whom there was no room in the queue.
const patience = 5 * time.Second

// Wait takes a turn at a place for an asker, and waits for it until ctx ends. As many can
// wait as there are turns, of one address as many as can have one. The error is a
// [*LimitError], or that of a context that was cancelled.
func (t *Turns) Wait(ctx context.Context, a *Asker, at string) (back func(), err error) {
	w := &waiter{from: Guest(a.addr()), at: at, each: t.share(a), ready: make(chan struct{})}
	t.mu.Lock()
	switch {
	case t.free(w):
		t.taken.add(w.from, at, 1)
		back = t.giving(w.from, at, 1)
	case t.wait.n >= t.queue:
		err = &LimitError{After: patience, Full: true}
	case t.wait.of[w.from] >= w.each, t.wait.at[at] >= t.place:
		err = &LimitError{After: patience, Full: t.wait.of[w.from] < w.each}
	default:
		t.wait.add(w.from, at, 1)
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
	return t.giving(w.from, at, 1), nil
}

// free reports whether there is a turn for w.
func (t *Turns) free(w *waiter) bool {
	return t.taken.n < t.all && t.taken.of[w.from] < w.each && (w.at == "" || t.taken.at[w.at] < t.place)
}

// next gives the turns that are free to those who wait for them, the first one first.
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

// leave takes w out of the line. It is not ok if w has its turn already.
func (t *Turns) leave(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.line {
		if other == w {
			t.line = append(t.line[:i], t.line[i+1:]...)
			t.wait.add(w.from, w.at, -1)
			return true
		}
	}
	return false
}
