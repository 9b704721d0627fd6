// Package answercache keeps complete HTTP responses in memory, so that a server can repeat one
// without reading its store.
//
// # Validity
//
// A response is repeated only for a request with the same [Request], while the set of authorities is
// the same, and until something changes on which the response depends; see [store.Validity]. The
// caller decides which responses may be kept. It must not add a response that depends on the client,
// the time or chance.
//
// # Size
//
// The cache is bounded in bytes, in equal parts for its shards. The answers for many names differ
// only in the target of the request, the location and its length. So an entry stores only these, and
// shares the other bytes with other entries.
//
// A client cannot empty the cache with many different requests: each shard has rules for admitting
// and removing entries (see the type shard), and only the [maxTriples] most frequent combinations of
// Accept, Accept-Language and Accept-Encoding are cached.
package answercache

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"

	"github.com/nomen-project/nomen/store"
)

const (
	// MaxAnswer is the maximum length in bytes of a response.
	MaxAnswer = 8 << 10
	// MaxTarget is the maximum length in bytes of a target whose response is kept.
	MaxTarget = 1 << 10

	shardBits  = 4
	shardShift = 64 - shardBits  // the first bits of a hash number the shard
	tagShift   = shardShift - 16 // the next ones are the tag of a key that has missed; see shard.missed
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
	scope
	target string
	hash   uint64
}

// A scope has all parts of a Key but the target.
type scope struct {
	mount, host, country  string
	local                 netip.AddrPort
	fields, edition       uint32
	head, secure, proxied bool
}

// A Cache keeps responses. It is safe for concurrent use.
type Cache struct {
	invalidations *store.Invalidations
	capacity      int64
	triples       triples
	edition       atomic.Pointer[edition]
	counts        *numbers
	seed          maphash.Seed
	shards        [1 << shardBits]shard
}

// numbers are what metrics show.
type numbers struct{ hits, misses, evictions atomic.Uint64 }

// An edition numbers a set of authorities. Keys have the number, so that the entries of earlier sets
// are not found; they are removed when room is needed.
type edition struct {
	set    *store.AuthoritySet
	number uint32
}

// New returns a cache of at most the given size in bytes, for answers from a store with these
// invalidations. It returns nil if the size is 0 or there are no invalidations; a nil Cache is
// valid, and always empty.
func New(size int64, v *store.Invalidations) *Cache {
	if size <= 0 || v == nil {
		return nil
	}
	c := &Cache{invalidations: v, capacity: size, counts: new(numbers), seed: maphash.MakeSeed()}
	c.edition.Store(new(edition))
	for i := range c.shards {
		c.shards[i].init(size / int64(len(c.shards)))
	}
	return c
}

// Continue makes c add its counts to those of an earlier cache, which may be nil. It must be called
// before c is used.
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
	k = Key{target: r.Target, scope: scope{
		mount: r.Mount, host: r.Host, country: r.Country, local: r.Local,
		fields: fields, edition: c.editionOf(set), head: r.Head, secure: r.Secure, proxied: r.Proxied,
	}}
	k.hash = maphash.String(c.seed, k.target) ^ maphash.Comparable(c.seed, k.scope)
	return k, ok
}

func (c *Cache) shard(k *Key) *shard { return &c.shards[k.hash>>shardShift] }

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

// Get returns the response for a key. If there is none that is valid, ok is false.
func (c *Cache) Get(k *Key) (a Answer, ok bool) {
	if a, ok = c.shard(k).get(k, c.invalidations); ok {
		c.counts.hits.Add(1)
	}
	return a, ok
}

// Begin counts a miss. If the response may enter the cache, Begin begins to record what the response
// depends on, and returns true. It must be called before records are read.
func (c *Cache) Begin(k *Key, d *store.Dependencies) bool {
	c.counts.misses.Add(1)
	if !c.shard(k).miss(k.hash) {
		return false
	}
	d.Begin(c.invalidations)
	return true
}

// Put keeps the response if what was recorded since Begin permits it. The parameter set is the one
// that was passed to Key. The text must be a complete response of HTTP/1.1 with a field Date.
func (c *Cache) Put(k *Key, set *store.AuthoritySet, d *store.Dependencies, a Answer, text []byte) {
	if len(text) > MaxAnswer || len(a.Name) > MaxTarget {
		return
	}
	if valid, ok := d.Validity(set); ok {
		c.counts.evictions.Add(c.shard(k).put(k, a, text, valid))
	}
}

// Usage describes the cache for metrics. It returns false for a nil cache.
func (c *Cache) Usage() (store.CacheUsage, bool) {
	if c == nil {
		return store.CacheUsage{}, false
	}
	var bytes int64
	for i := range c.shards {
		bytes += c.shards[i].memory()
	}
	return store.CacheUsage{
		Name: "answers", Hits: c.counts.hits.Load(), Misses: c.counts.misses.Load(),
		Evictions: c.counts.evictions.Load(), CountsEvictions: true,
		Bytes: uint64(bytes), Capacity: uint64(c.capacity),
	}, true
}
