package counts

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	clickTime  = 30 * time.Second // as in the COUNTER Code of Practice
	secretLife = time.Hour        // time after which a secret is replaced

	bucketSlots = 8           // the slots of a bucket fill a cache line
	tick        = time.Second // resolution of the times in slots, as in the examples of the Code of Practice
)

// clicks recognises double clicks. It has a table of fixed size with numbers and times, which it
// reads and writes without locks.
type clicks struct {
	size    int // number of slots in a generation, a power of two
	now     atomic.Pointer[generation]
	turning sync.Mutex // held while now is replaced

	overflow atomic.Uint64 // clicks that were counted without a check because the table was full
}

// A generation has the clicks that were hashed with the same secret. Each slot has a click: the
// number of the click in its upper 48 bits, and the time of the last such click in its lower 16
// bits. The time is the number of ticks since begin, plus 1.
type generation struct {
	secret   maphash.Seed
	begin    time.Time
	previous atomic.Pointer[generation] // nil after all of its clicks are older than clickTime
	slots    []atomic.Uint64
}

func newClicks(size int) *clicks {
	k := &clicks{size: bucketSlots}
	for k.size < size {
		k.size *= 2
	}
	return k
}

// at returns the generation for a time. If the secret is too old, or if the clock was set back, at
// makes a new generation.
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

// forget removes generations that are not needed at the given time or later.
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

// clientHash returns a hash of a client with the secret of the generation.
func (g *generation) clientHash(addr netip.Addr, agent string) uint64 {
	var h maphash.Hash
	h.SetSeed(g.secret)
	raw := addr.As16()
	_, _ = h.Write(raw[:]) // never fails
	_, _ = h.WriteString(agent)
	return h.Sum64()
}

// client returns the hash of a client in the generation for a time. It stores both in c.
func (k *clicks) client(c *Client, now time.Time) uint64 {
	if g := k.at(now); c.generation != g {
		c.generation, c.hash = g, g.clientHash(c.addr, c.agent)
	}
	return c.hash
}

// again reports whether the client has clicked on the subject within the last 30 seconds. The
// subject is a hash. again also records the click, so that the 30 seconds start again.
func (k *clicks) again(c *Client, subject uint64, now time.Time) bool {
	k.client(c, now)
	return c.generation.again(k, c, subject, now)
}

// again is like [clicks.again] for the generation that is stored in c.
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

// note records a click, and reports whether the last click with this number was within 30 seconds.
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
		if same && last >= at { // a concurrent click has recorded a later time
			return last-at <= clickTicks
		}
		if slots[free].CompareAndSwap(old, value) {
			return same && at-last <= clickTicks
		}
	}
}

// has reports whether a click with this number was recorded within the last 30 seconds.
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

// A Client has the address and the User-Agent field of a client while a connection lasts. It is
// kept only in memory. The zero value is a client without an address and a User-Agent field.
type Client struct {
	addr       netip.Addr
	agent      string
	class      Class
	known      bool // class is set
	generation *generation
	hash       uint64 // hash of the client in generation
}

// Set sets the address and the User-Agent field of the client. Set is cheap if both are the same as
// before.
func (c *Client) Set(addr netip.Addr, agent string) {
	if c.agent != agent || c.addr != addr {
		*c = Client{addr: addr, agent: agent[:min(len(agent), maxAgent)]}
	}
}
