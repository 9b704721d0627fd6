package gateway

import (
	"net/netip"
	"sync"
)

// Turns bound how many do something at once, and how many of them are of one
// address. It is safe for concurrent use.
type Turns struct {
	all, each int

	mu    sync.Mutex
	taken int
	of    map[netip.Addr]int
}

// NewTurns returns turns for so many, and for so many of one address, where an IPv6
// network of one link is one.
func NewTurns(all, each int) *Turns {
	return &Turns{all: all, each: each, of: map[netip.Addr]int{}}
}

// Take takes a turn, which has to be given back, once or more often. It is not ok if
// there is none.
func (t *Turns) Take(from netip.Addr) (back func(), ok bool) { return t.take(guest(from), t.each) }

func (t *Turns) take(from netip.Addr, each int) (back func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken >= t.all || t.of[from] >= each {
		return nil, false
	}
	t.taken++
	t.of[from]++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.taken--
		if t.of[from]--; t.of[from] == 0 {
			delete(t.of, from)
		}
	}), true
}
