// Package answercache keeps complete HTTP responses in memory, so that a server can repeat one
// without reading its store.
//
// # Validity
//
// A response is repeated only for a request with the same [Request], while the set of authorities is
// the same, and until the store counts a change of anything that the response depends on
// ([store.Validity]). The caller decides which responses may be kept. It must not add one that
// depends on the client, the time or chance.
//
// # Size
//
// The cache is bounded in bytes. Which responses it removes is decided by otter, whose policy
// (W-TinyLFU) prefers frequent requests, so that a client cannot empty the cache with many different
// ones. For the same reason only the [maxTriples] most frequent combinations of Accept,
// Accept-Language and Accept-Encoding are cached.
package answercache

import (
	"bytes"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"github.com/nomen-project/nomen/store"
)

const (
	// MaxAnswer is the maximum length in bytes of a response.
	MaxAnswer = 8 << 10
	// MaxTarget is the maximum length in bytes of a target whose response is kept.
	MaxTarget = 1 << 10

	overhead = 400 // approximate memory of an entry in bytes, besides its texts
)

// A Request has the parts of a request that decide about a response. The method is GET, or HEAD if
// Head is true.
type Request struct {
	Head                         bool
	Target, Mount, Host          string
	Accept, Languages, Encodings string
	Country                      string
	Local                        netip.AddrPort
	Secure, Proxied              bool
}

// A Key identifies a Request under a set of authorities.
type Key struct {
	target, mount, host, country string
	local                        netip.AddrPort
	fields, edition              uint32
	head, secure, proxied        bool
}

// An Answer is a response that is kept.
type Answer struct {
	Status int
	Form   uint8  // of the request, for metrics; the caller defines the values
	text   string // the head and the body, as in HTTP/1.1
	date   int    // offset of the value of Date
	body   int    // offset of the body
	valid  store.Validity
}

// A Cache keeps responses. It is safe for concurrent use.
type Cache struct {
	invalidations *store.Invalidations
	entries       *otter.Cache[Key, *Answer]
	capacity      int64
	triples       triples
	edition       atomic.Pointer[edition]
	counts        *counts
}

// counts has the numbers that metrics show.
type counts struct{ hits, misses, evictions atomic.Uint64 }

// An edition numbers a set of authorities. Keys have the number, so that the entries of earlier sets
// are not found; they are removed when room is needed.
type edition struct {
	set    *store.AuthoritySet
	number uint32
}

// New returns a cache of at most the given size in bytes, for answers from a store with these
// invalidations. It returns nil if the size is 0 or there are no invalidations; a nil Cache is
// valid, and always empty.
func New(size int64, v *store.Invalidations) (*Cache, error) {
	if size <= 0 || v == nil {
		return nil, nil
	}
	c := &Cache{invalidations: v, capacity: size, counts: new(counts)}
	c.edition.Store(new(edition))
	var err error
	c.entries, err = otter.New(&otter.Options[Key, *Answer]{
		MaximumWeight: uint64(size),
		Weigher: func(k Key, a *Answer) uint32 {
			return uint32(overhead + len(k.target) + len(k.mount) + len(k.host) + len(a.text))
		},
		OnAtomicDeletion: func(e otter.DeletionEvent[Key, *Answer]) {
			if e.WasEvicted() {
				c.counts.evictions.Add(1)
			}
		},
	})
	return c, err
}

// Continue makes c count on from the counters of an earlier cache, which may be nil. It must be
// called before c is used.
func (c *Cache) Continue(before *Cache) {
	if c != nil && before != nil {
		c.counts = before.counts
	}
}

// Key returns the key of a request under a set of authorities. If the response to the request must
// not be kept, ok is false. The key refers to the strings of the request.
func (c *Cache) Key(r *Request, set *store.AuthoritySet) (k Key, ok bool) {
	if c == nil || len(r.Target) > MaxTarget {
		return Key{}, false
	}
	fields, ok := c.triples.number(triple{r.Accept, r.Languages, r.Encodings})
	return Key{
		target: r.Target, mount: r.Mount, host: r.Host, country: r.Country, local: r.Local,
		fields: fields, edition: c.editionOf(set), head: r.Head, secure: r.Secure, proxied: r.Proxied,
	}, ok
}

// editionOf returns the number of a set of authorities.
func (c *Cache) editionOf(set *store.AuthoritySet) uint32 {
	for {
		now := c.edition.Load()
		if now.set == set {
			return now.number
		}
		next := &edition{set, now.number + 1}
		if c.edition.CompareAndSwap(now, next) {
			return next.number
		}
	}
}

// Get returns the response for a key, or nil if there is none that is valid.
func (c *Cache) Get(k Key) *Answer {
	if a, ok := c.entries.GetIfPresent(k); ok && a.valid.Holds(c.invalidations) {
		c.counts.hits.Add(1)
		return a
	}
	return nil
}

// Begin begins to record what the response to a request depends on. It must be called before records
// are read.
func (c *Cache) Begin(d *store.Dependencies) { d.Begin(c.invalidations) }

// Put counts a miss, and keeps the response if what was recorded since Begin permits it. The
// parameter set is the one that was passed to Key. The text must be a complete response of HTTP/1.1
// with a field Date.
func (c *Cache) Put(k Key, set *store.AuthoritySet, d *store.Dependencies, a Answer, text []byte) {
	c.counts.misses.Add(1)
	if len(text) > MaxAnswer {
		return
	}
	var ok bool
	if a.valid, ok = d.Validity(set); !ok {
		return
	}
	head, _, _ := bytes.Cut(text, []byte(headEnd))
	date := bytes.Index(head, []byte(dateField))
	if date < 0 {
		return
	}
	a.date, a.body, a.text = date+len(dateField), len(head)+len(headEnd), string(text)
	if bytes.HasSuffix(head, []byte(closing)) {
		a.text = a.text[:len(head)-len(closing)] + a.text[len(head):]
		a.body -= len(closing)
	}
	k.target, k.mount, k.host, k.country = strings.Clone(k.target), strings.Clone(k.mount), strings.Clone(k.host), strings.Clone(k.country)
	c.entries.Set(k, &a)
}

// Usage describes the cache for metrics. It returns false for a nil cache.
func (c *Cache) Usage() (store.CacheUsage, bool) {
	if c == nil {
		return store.CacheUsage{}, false
	}
	return store.CacheUsage{
		Name: "answers", Hits: c.counts.hits.Load(), Misses: c.counts.misses.Load(),
		Evictions: c.counts.evictions.Load(), CountsEvictions: true,
		Bytes: c.entries.WeightedSize(), Capacity: uint64(c.capacity),
	}, true
}
