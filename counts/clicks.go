package counts

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	clickTime  = 30 * time.Second // by the COUNTER Code of Practice
	secretLife = time.Hour        // how long a secret is used

	bucketSlots = 8           // a cache line
	tick        = time.Second // resolution of times in slots, as in the examples of the Code
)

// clicks recognises double clicks. It keeps numbers and times in a table of fixed size, and works
// without locks.
type clicks struct {
	size    int // slots of a generation, a power of two
	now     atomic.Pointer[generation]
	turning sync.Mutex // held while now is replaced

	overflow atomic.Uint64 // clicks that were counted without a check, because there was no room
}

// A generation has the clicks that were hashed with one secret. A slot has a number in its upper 48
// bits, and the time of the last click in its lower 16 bits, in ticks since begin, plus 1.
type generation struct {
	secret   maphash.Seed
	begin    time.Time
	previous atomic.Pointer[generation] // nil as soon as its clicks are older than clickTime
	slots    []atomic.Uint64
}

func newClicks(size int) *clicks {
	k := &clicks{size: bucketSlots}
	for k.size < size {
		k.size *= 2
	}
	return k
}

// at returns the generation for a time. It makes the next generation if the secret is too old, or
// if the clock was set back.
func (k *clicks) at(now time.Time) *generation {
	g := k.now.Load()
	if g == nil || !g.covers(now) {
		g = k.turn(now)
	}
	if g.previous.Load() != nil && now.Sub(g.begin) > clickTime+tick {
		g.previous.Store(nil)
	}
	return g
}

func (g *generation) covers(now time.Time) bool {
	age := now.Sub(g.begin)
	return age >= 0 && age < secretLife
}

func (k *clicks) turn(now time.Time) *generation {
	k.turning.Lock()
	defer k.turning.Unlock()
	old := k.now.Load()
	if old != nil && old.covers(now) {
		return old
	}
	g := &generation{secret: maphash.MakeSeed(), begin: now.Truncate(tick), slots: make([]atomic.Uint64, k.size)}
	if old != nil {
		old.previous.Store(nil)
		if now.After(old.begin) && now.Sub(old.begin) <= secretLife+clickTime+tick {
			g.previous.Store(old)
		}
	}
	k.now.Store(g)
	return g
}

// forget removes what is no longer needed at the given time.
func (k *clicks) forget(now time.Time) {
	g := k.now.Load()
	switch {
	case g == nil:
	case !g.covers(now):
		k.turning.Lock()
		defer k.turning.Unlock()
		if now := k.now.Load(); now == g {
			k.now.Store(nil)
		}
	default:
		k.at(now)
	}
}

// clientHash returns a number for a client, which only this generation can compute.
func (g *generation) clientHash(addr netip.Addr, agent string) uint64 {
	var h maphash.Hash
	h.SetSeed(g.secret)
	raw := addr.As16()
	_, _ = h.Write(raw[:]) // never fails
	_, _ = h.WriteString(agent)
	return h.Sum64()
}

// client returns the number of a client in the generation of a time, and notes both in c.
func (k *clicks) client(c *Client, now time.Time) uint64 {
	if g := k.at(now); c.generation != g {
		c.generation, c.hash = g, g.clientHash(c.addr, c.agent)
	}
	return c.hash
}

// again reports whether the client has clicked on the subject, which is a hash, within the last 30
// seconds. It notes the click, so that the next 30 seconds begin now.
func (k *clicks) again(c *Client, subject uint64, now time.Time) bool {
	k.client(c, now)
	return c.generation.again(k, c, subject, now)
}

// again is [clicks.again] for the generation that c has noted.
func (g *generation) again(k *clicks, c *Client, subject uint64, now time.Time) bool {
	if before := g.previous.Load(); before != nil && before.has(mix(before.clientHash(c.addr, c.agent), subject), now) {
		g.note(k, mix(c.hash, subject), now)
		return true
	}
	return g.note(k, mix(c.hash, subject), now)
}

// mix combines two hashes.
func mix(a, b uint64) uint64 {
	x := a ^ b*0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

const tagMask = ^uint64(1<<16 - 1)

func (g *generation) bucket(number uint64) []atomic.Uint64 {
	i := int(number&0xffff_ffff) * bucketSlots & (len(g.slots) - 1)
	return g.slots[i : i+bucketSlots : i+bucketSlots]
}

func (g *generation) ticks(now time.Time) uint64 { return uint64(now.Sub(g.begin)/tick) + 1 }

const clickTicks = uint64(clickTime / tick)

// note notes a click, and reports whether the last click with the number was within 30 seconds.
func (g *generation) note(k *clicks, number uint64, now time.Time) bool {
	at := g.ticks(now)
	value := number&tagMask | at
	slots := g.bucket(number)
	for {
		free, old := -1, uint64(0)
		for i := range slots {
			v := slots[i].Load()
			if v != 0 && v&tagMask == number&tagMask {
				free, old = i, v
				break
			}
			if free < 0 && (v == 0 || at > v&^tagMask+clickTicks) {
				free, old = i, v
			}
		}
		if free < 0 {
			k.overflow.Add(1)
			return false
		}
		same := old != 0 && old&tagMask == number&tagMask
		last := old &^ tagMask
		if same && last >= at { // a concurrent click has noted a later time
			return last-at <= clickTicks
		}
		if slots[free].CompareAndSwap(old, value) {
			return same && at-last <= clickTicks
		}
	}
}

// has reports whether a number was noted within the last 30 seconds.
func (g *generation) has(number uint64, now time.Time) bool {
	at := g.ticks(now)
	slots := g.bucket(number)
	for i := range slots {
		if v := slots[i].Load(); v != 0 && v&tagMask == number&tagMask {
			last := v &^ tagMask
			return at-last <= clickTicks || last > at
		}
	}
	return false
}

// A Client is a client as far as counting needs it: for as long as a connection, and only in memory.
// The zero value is a client without an address and User-Agent field.
type Client struct {
	addr       netip.Addr
	agent      string
	class      Class
	known      bool // class is set
	generation *generation
	hash       uint64 // of the client in generation
}

// Set sets the address and the User-Agent field of the client. It costs next to nothing if they are
// the same as before.
func (c *Client) Set(addr netip.Addr, agent string) {
	if c.agent != agent || c.addr != addr {
		*c = Client{addr: addr, agent: agent[:min(len(agent), maxAgent)]}
	}
}
