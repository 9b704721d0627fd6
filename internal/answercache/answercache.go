// Package answercache keeps complete HTTP responses in memory, so that a server can repeat one
// without reading its store.
//
// # Validity
//
// A response is repeated only for the same [Request], as long as the set of authorities is the same
// and nothing has changed on which the response depends; see [store.Validity]. The caller decides
// which responses to keep. It must not add a response that depends on the client, the time or
// chance.
//
// # Size
//
// The cache has a limit in bytes, which its shards divide equally. The answers for many names
// differ only in the target of the request, the location and the length of the body. So an entry
// stores only these, and shares all other bytes with other entries.
//
// A client cannot empty the cache by sending many different requests. Each shard has rules for what
// enters and what is removed (see the type shard). Of the combinations of Accept, Accept-Language
// and Accept-Encoding, only the [maxTriples] most frequent are cached.
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
	// MaxTarget is the maximum length in bytes of a request target.
	MaxTarget = 1 << 10

	shardBits  = 4
	shardShift = 64 - shardBits  // the first bits of a hash select the shard
	tagShift   = shardShift - 16 // the next bits are the tag of a key; see shard.missed
)

// A Request has the parts of a request that decide the response. The method is GET, or HEAD if Head
// is true.
type Request struct {
	Head                         bool
	Target, Mount, Host          string
	Accept, Languages, Encodings string
	Country                      string
	Local                        netip.AddrPort
	Secure, Proxied              bool
}

// A Key identifies a Request to a set of authorities.
type Key struct {
	scope
	target string
	hash   uint64
}

// A scope is a Key without its target.
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

type numbers struct{ hits, misses, evictions atomic.Uint64 }

// An edition is the number of a set of authorities. Keys contain it, so entries for earlier sets
// are not found, and are removed when room is needed.
type edition struct {
	set    *store.AuthoritySet
	number uint32
}

// New returns a Cache with a limit in bytes, for answers from a store with these invalidations. It
// returns nil if the limit is 0 or there are no invalidations. A nil Cache is always empty.
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

// Continue makes c continue the counts of an earlier Cache, which may be nil. It must be called
// before c is used.
func (c *Cache) Continue(before *Cache) {
	if c != nil && before != nil {
		c.counts = before.counts
	}
}

// Key returns the key of a request to a set of authorities. It returns false if the response must
// not be kept. The key refers to the strings of the request.
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

// Get returns the response for a key, and whether the cache has a valid one.
func (c *Cache) Get(k *Key) (a Answer, ok bool) {
	if a, ok = c.shard(k).get(k, c.invalidations); ok {
		c.counts.hits.Add(1)
	}
	return a, ok
}

// Begin must be called after Get has found no response, and before records are read to make one. It
// counts a miss, and decides whether the response may enter the cache. If so, it makes d record the
// data on which the response depends, and returns true.
func (c *Cache) Begin(k *Key, d *store.Dependencies) bool {
	c.counts.misses.Add(1)
	if !c.shard(k).miss(k.hash) {
		return false
	}
	d.Begin(c.invalidations)
	return true
}

// Put adds a response, if what was recorded since Begin permits it. The parameter set is the set
// that Key had. The text is a complete HTTP/1.1 response with a Date field.
func (c *Cache) Put(k *Key, set *store.AuthoritySet, d *store.Dependencies, a Answer, text []byte) {
	if len(text) > MaxAnswer || len(a.Name) > MaxTarget {
		return
	}
	if valid, ok := d.Validity(set); ok {
		c.counts.evictions.Add(c.shard(k).put(k, a, text, valid))
	}
}

// Usage returns numbers for metrics. It returns false for a nil Cache.
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
