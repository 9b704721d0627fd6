// Package answercache keeps complete HTTP responses in memory, so that a server can repeat one
// without reading its store.
//
// # Validity
//
// A cached response is sent only for an equal [Request]. It becomes invalid when the set of
// authorities changes, or the data on which it depends; see [store.Validity]. The caller decides
// which responses to cache. It must not add a response that depends on the client, on the time, or
// on a random choice.
//
// # Size
//
// The cache has a limit in bytes, which is divided equally among its shards. The responses for many
// names differ only in the request target, the location, and the length of the body. An entry
// stores only these texts, and shares all other bytes with other entries.
//
// A client cannot displace useful entries by sending many different requests; the type shard has
// the rules for adding and removing entries. The cache serves only the [maxTriples] most frequent
// combinations of the fields Accept, Accept-Language and Accept-Encoding.
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

// A Request consists of the parts of a GET or HEAD request on which the response depends.
type Request struct {
	Head                         bool
	Target, Mount, Host          string
	Accept, Languages, Encodings string
	Country                      string
	Local                        netip.AddrPort
	Secure, Proxied              bool
}

// A Key identifies a [Request] together with the set of authorities that answers it.
type Key struct {
	scope
	target string
	hash   uint64
}

// A scope is the part of a [Key] that many entries share: everything except the request target.
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

// An edition is a number for a set of authorities. A key contains the number, so that entries for
// earlier sets are not found. Such entries remain until the cache needs their memory.
type edition struct {
	set    *store.AuthoritySet
	number uint32
}

// New returns a Cache of at most size bytes for answers from the store whose invalidations are v.
// If size is not positive or v is nil, New returns nil. A nil Cache is always empty.
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

// Continue copies the hit and miss counts of an earlier Cache to c. The earlier Cache may be nil.
// Continue must be called before c is used.
func (c *Cache) Continue(before *Cache) {
	if c != nil && before != nil {
		c.counts = before.counts
	}
}

// Key returns the key of a request that the given set of authorities answers. It returns false if
// the response cannot be cached. The key shares the strings of the request.
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

// Get returns the response for a key. It returns false if the cache has no valid response.
func (c *Cache) Get(k *Key) (a Answer, ok bool) {
	if a, ok = c.shard(k).get(k, c.invalidations); ok {
		c.counts.hits.Add(1)
	}
	return a, ok
}

// Begin counts a miss, and decides whether the new response for the key may enter the cache. It
// must be called after Get has returned false, and before the records for the new response are
// read. If Begin returns true, d records the data on which the response depends.
func (c *Cache) Begin(k *Key, d *store.Dependencies) bool {
	c.counts.misses.Add(1)
	if !c.shard(k).miss(k.hash) {
		return false
	}
	d.Begin(c.invalidations)
	return true
}

// Put adds a response to the cache, unless the dependencies that d has recorded since Begin forbid
// it. The parameter set is the set of authorities that was passed to Key. The parameter text is a
// complete HTTP/1.1 response with a Date field.
func (c *Cache) Put(k *Key, set *store.AuthoritySet, d *store.Dependencies, a Answer, text []byte) {
	if len(text) > MaxAnswer || len(a.Name) > MaxTarget {
		return
	}
	if valid, ok := d.Validity(set); ok {
		c.counts.evictions.Add(c.shard(k).put(k, a, text, valid))
	}
}

// Usage returns the usage of the cache for metrics, or false for a nil Cache.
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
