package store

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const maxDependencies = 16

// Dependencies records the data on which an answer depends, so that a cache knows when the answer
// becomes invalid. The cache calls Begin before it requests the answer, and Stop and Validity
// afterwards. Between these calls, stores and resolvers record what they read. They find the
// Dependencies in the context of the request (see [DependenciesOf]).
//
// Only the cache may call Begin and Validity. The other methods are safe for concurrent use, and do
// nothing if the receiver is nil.
type Dependencies struct {
	active  atomic.Bool
	mu      sync.Mutex
	table   *invalidationTable
	all     uint32 // the counter as it was before the reading
	until   int64
	keys    []dependency
	keyRoom [maxDependencies]dependency // backing array of keys
	unknown bool
	vouched int
	set     *AuthoritySet // the set of the last call of Vouch
}

// A dependency consists of a key, and of the value of its counter in [Invalidations] before the key
// was read.
type dependency struct {
	count uint32
	slot  uint16
}

// Begin begins the recording for a new answer.
func (d *Dependencies) Begin(v *Invalidations) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table = v.counters()
	d.all, d.until, d.keys = d.table.all.Load(), 0, d.keyRoom[:0]
	d.unknown, d.vouched, d.set = !v.usable(), 0, nil
	d.active.Store(true)
}

// Stop ends the recording.
func (d *Dependencies) Stop() {
	if d != nil {
		d.active.Store(false)
	}
}

// On records that the answer depends on a key, as [Invalidations.Invalidate] defines keys. It must
// be called before the key is read.
func (d *Dependencies) On(key string) {
	if d == nil || !d.active.Load() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	slot := d.table.slot(key)
	if slices.ContainsFunc(d.keys, func(k dependency) bool { return k.slot == slot }) {
		return // the earlier value of the counter decides
	}
	if len(d.keys) == maxDependencies {
		d.unknown = true
		return
	}
	d.keys = append(d.keys, dependency{d.table.of[slot].Load(), slot})
}

// Unknown records that the answer depends on something for which [Invalidations] has no counter,
// such as a random choice, the time, the client or another server. Such an answer must not be
// cached.
func (d *Dependencies) Unknown() {
	if d == nil || !d.active.Load() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unknown = true
}

// Until records that the answer is valid only until the time t. It does nothing for the zero time.
func (d *Dependencies) Until(t time.Time) {
	if d == nil || t.IsZero() || !d.active.Load() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ns := t.UnixNano(); d.until == 0 || ns < d.until {
		d.until = ns
	}
}

// Vouch records a guarantee of a resolver: the answer depends only on this set of authorities and
// on the data that was recorded. A cache must not keep an answer without this guarantee, or with
// guarantees for two different sets.
func (d *Dependencies) Vouch(set *AuthoritySet) {
	if d == nil || !d.active.Load() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unknown = d.unknown || d.vouched > 0 && d.set != set
	d.set = set
	d.vouched++
}

// Vouched returns the number of calls of Vouch since Begin.
func (d *Dependencies) Vouched() int {
	if d == nil || !d.active.Load() {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.vouched
}

// Validity returns the conditions under which the answer is valid. It returns false if the answer
// must not be cached. The cache must also stop using the answer when set is no longer the current
// set of authorities.
func (d *Dependencies) Validity(set *AuthoritySet) (v Validity, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unknown || d.vouched == 0 || d.set != set || !d.active.Load() {
		return nil, false
	}
	v = make(Validity, 0, validityHead+len(d.keys)*dependencySize+8)
	v = binary.LittleEndian.AppendUint32(append(v, byte(len(d.keys))), d.all)
	for _, k := range d.keys {
		v = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(v, k.slot), k.count)
	}
	if d.until != 0 {
		v = binary.LittleEndian.AppendUint64(v, uint64(d.until))
	}
	return v, true
}

// A Validity describes how long an answer is valid: until a key on which the answer depends
// changes, or until a certain time. A cache stores a Validity with each answer, in a compact
// encoding. The encoding begins with the number of keys (1 byte) and the number of calls of
// InvalidateAll (4 bytes). Then come the slot (2 bytes) and the counter (4 bytes) of each key. The
// last field is the time in Unix nanoseconds (8 bytes), if the validity has a time. Numbers are
// little-endian.
type Validity []byte

const validityHead, dependencySize = 5, 6

// Holds reports whether the answer is still valid. The parameter now must be the Invalidations that
// were passed to [Dependencies.Begin].
func (v Validity) Holds(now *Invalidations) bool {
	t := now.counters()
	if binary.LittleEndian.Uint32(v[1:]) != t.all.Load() || !now.usable() {
		return false
	}
	rest := v[validityHead:]
	for range v[0] {
		if t.of[binary.LittleEndian.Uint16(rest)].Load() != binary.LittleEndian.Uint32(rest[2:]) {
			return false
		}
		rest = rest[dependencySize:]
	}
	return len(rest) == 0 || time.Now().UnixNano() < int64(binary.LittleEndian.Uint64(rest))
}

// DependenciesOf returns the Dependencies in ctx, in which a store must record what it reads, or
// nil.
func DependenciesOf(ctx context.Context) *Dependencies { return StalenessOf(ctx).dependencies() }
