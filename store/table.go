package store

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A Table caches the set of all authorities of a store, which every request needs. When the set is
// older than the lifetime of the table, one caller reads the store again. Meanwhile other callers
// get the previous set, which can therefore be older than the lifetime by the duration of one read.
// A Table is safe for concurrent use.
type Table struct {
	reader Reader
	now    func() time.Time
	life   time.Duration

	reading sync.Mutex // held while a caller reads the store
	last    atomic.Pointer[edition]
	forgets atomic.Uint64
	tried   atomic.Bool // a read of the store has begun
}

// An edition is the result of reading the store once.
type edition struct {
	set     *AuthoritySet
	read    time.Time
	since   time.Time // if the store returned stale data, the time at which it was last known to be current; else zero
	forgets uint64    // value of Table.forgets before the store was read
}

// NewTable returns a table of the authorities of r with the lifetime life.
func NewTable(r Reader, now func() time.Time, life time.Duration) *Table {
	return &Table{reader: r, now: now, life: life}
}

// Set returns the authorities in the state at a time; the zero time means now. Successive calls
// return the same set until an authority changes. The caller must not modify the set or the results
// of its methods. With a context from [WithStaleness], the set may be stale.
func (t *Table) Set(ctx context.Context, at time.Time) (*AuthoritySet, error) {
	if !at.IsZero() {
		return readSet(ctx, t.reader, at, nil)
	}
	stale := StalenessOf(ctx)
	e, known := t.known(stale)
	if known && (t.young(e) || !t.reading.TryLock()) {
		stale.Note(e.since)
		return e.set, nil
	}
	if !known {
		t.reading.Lock()
	}
	defer t.reading.Unlock()
	if e, known = t.known(stale); known && t.young(e) {
		stale.Note(e.since)
		return e.set, nil
	}
	return t.readAgain(ctx, e, stale)
}

// readAgain reads the set from the store. The parameter e is the result of the previous read, or
// nil. The caller must hold t.reading.
func (t *Table) readAgain(ctx context.Context, e *edition, stale *Staleness) (*AuthoritySet, error) {
	t.tried.Store(true)
	next := &edition{read: t.now(), forgets: t.forgets.Load()}
	var last *AuthoritySet
	if e != nil {
		last = e.set
	}
	if stale != nil {
		own := WithStaleness(ctx)
		defer func() { stale.Note(own.Since()) }()
		ctx = own
	}
	var err error
	if next.set, err = readSet(ctx, t.reader, time.Time{}, last); err != nil {
		return nil, err
	}
	next.since = StalenessOf(ctx).Since()
	t.last.Store(next)
	return next.set, nil
}

// Missing reports whether all attempts of the table to read the authorities have failed. Without an
// attempt, it returns false.
func (t *Table) Missing() bool { return t.tried.Load() && t.last.Load() == nil }

func (t *Table) young(e *edition) bool { return t.now().Sub(e.read) < t.life }

// known returns the result of the last read, and whether the caller can use it. A result from
// before a call of Forget cannot be used. A stale result can be used only by a caller that accepts
// stale data.
func (t *Table) known(stale *Staleness) (*edition, bool) {
	e := t.last.Load()
	return e, e != nil && e.forgets == t.forgets.Load() && (e.since.IsZero() || stale != nil)
}

// Forget makes the next call of Set read the store again.
func (t *Table) Forget() { t.forgets.Add(1) }

// Replace updates one authority in the table, without reading the other authorities. The parameter
// revision must have just been read from the store. The table keeps the pointer.
func (t *Table) Replace(revision *Authority) {
	t.reading.Lock()
	defer t.reading.Unlock()
	e, known := t.known(nil)
	if !known {
		return // the next call of Set reads all authorities
	}
	next := *e
	if next.set = e.set.with(revision); next.set != e.set {
		t.last.Store(&next)
	}
}

// An AuthoritySet finds the authority of a name, of a host or of a local address.
type AuthoritySet struct {
	all      []*Authority // in the byte order of their prefixes
	parents  []int        // for each authority, the index of the authority with the next shorter prefix that covers it, or -1
	hosts    map[string]*Authority
	address  map[netip.Addr]*Authority
	compiled map[*Authority]*compilation
	standard *Authority
}

// A compilation compiles an authority when it is first needed.
type compilation struct {
	once sync.Once
	made *Compiled
	err  error
}

// readSet reads the authorities from the store. The parameter last is the previous set, or nil.
// Authorities that are the same in the previous set are not compiled again.
func readSet(ctx context.Context, r Reader, at time.Time, last *AuthoritySet) (*AuthoritySet, error) {
	s := newSet()
	known := 0
	for a, err := range r.Authorities(ctx, at) {
		if err != nil {
			return nil, err
		}
		old := last.Exactly(a.Prefix)
		if old == nil || old.Revision != a.Revision || !old.Modified.Equal(a.Modified) || old.Redacted != a.Redacted {
			s.add(a, &compilation{})
			continue
		}
		known++
		s.add(old, last.compiled[old])
	}
	if last != nil && known == len(last.all) && known == len(s.all) {
		return last, nil
	}
	s.finish()
	return s, nil
}

func newSet() *AuthoritySet {
	return &AuthoritySet{
		hosts:    map[string]*Authority{},
		address:  map[netip.Addr]*Authority{},
		compiled: map[*Authority]*compilation{},
	}
}

func (s *AuthoritySet) finish() {
	slices.SortFunc(s.all, func(a, b *Authority) int { return strings.Compare(a.Prefix.String(), b.Prefix.String()) })
	s.nest()
}

// with returns a copy of s in which a replaces the revision of the same authority. If that revision
// is not older than a, with returns s.
func (s *AuthoritySet) with(a *Authority) *AuthoritySet {
	at, found := s.search(a.Prefix.String())
	if found && s.all[at].Revision >= a.Revision {
		return s
	}
	next := newSet()
	next.all = make([]*Authority, 0, len(s.all)+1)
	for i, other := range s.all {
		if i == at {
			next.add(a, &compilation{})
		}
		if i != at || !found {
			next.add(other, s.compiled[other])
		}
	}
	if at == len(s.all) {
		next.add(a, &compilation{})
	}
	next.nest()
	return next
}

func (s *AuthoritySet) nest() {
	s.parents = make([]int, len(s.all))
	for i, a := range s.all {
		p := i - 1
		for p >= 0 && !strings.HasPrefix(a.Prefix.String(), s.all[p].Prefix.String()) {
			p = s.parents[p]
		}
		s.parents[i] = p
	}
}

func (s *AuthoritySet) add(a *Authority, c *compilation) {
	s.all = append(s.all, a)
	if len(a.Rules) > 0 || a.Delegation != nil {
		s.compiled[a] = c
	}
	for _, h := range a.Hosts {
		s.hosts[CanonicalHost(h)] = a
	}
	// The authority in a name with the scheme urn:dns is the host that resolves the name (draft of
	// 1995, 2.2.1).
	if fqdn, ok := strings.CutPrefix(a.Prefix.String(), "urn:dns:"); ok && s.hosts[fqdn] == nil {
		s.hosts[fqdn] = a
	}
	for _, text := range a.Addresses {
		if ip, err := netip.ParseAddr(text); err == nil {
			s.address[ip.Unmap()] = a
		}
	}
	if a.Default && s.standard == nil {
		s.standard = a
	}
}

// CanonicalHost returns the canonical form of the value of a Host header field: in lower case,
// without the port and the final dot.
func CanonicalHost(h string) string {
	if i := strings.LastIndexByte(h, ':'); i >= 0 && strings.IndexByte(h[i:], ']') < 0 {
		h = h[:i]
	}
	return strings.ToLower(strings.TrimSuffix(h, "."))
}

// All returns the authorities in the byte order of their prefixes.
func (s *AuthoritySet) All() []*Authority { return s.all }

// Of returns the authority of the name n, or nil. If the prefixes of several authorities cover n,
// Of returns the authority with the longest prefix. Of takes time logarithmic in the number of
// authorities.
func (s *AuthoritySet) Of(n name.Name) *Authority {
	key := n.Key()
	i, found := s.search(key)
	if !found {
		i--
	}
	// The prefixes that can cover a key are the last prefix that sorts before the key, and the
	// parents of this prefix.
	for ; i >= 0; i = s.parents[i] {
		if s.all[i].Prefix.Covers(n) {
			return s.all[i]
		}
	}
	return nil
}

// search returns the index in s.all of the authority with exactly this prefix, and true. If s has no
// such authority, search returns the index at which it would be inserted, and false.
func (s *AuthoritySet) search(prefix string) (int, bool) {
	return slices.BinarySearchFunc(s.all, prefix, func(a *Authority, key string) int {
		return strings.Compare(a.Prefix.String(), key)
	})
}

// Exactly returns the authority whose prefix is exactly p, or nil.
func (s *AuthoritySet) Exactly(p name.Prefix) *Authority {
	if s == nil {
		return nil
	}
	if i, found := s.search(p.String()); found {
		return s.all[i]
	}
	return nil
}

// Compiled returns the compiled rules and the parsed delegation of a, which must be an authority of
// s. Each revision of an authority is compiled only once. The error is that of [Authority.Compile].
func (s *AuthoritySet) Compiled(a *Authority) (*Compiled, error) {
	c := s.compiled[a]
	if c == nil {
		return &Compiled{}, nil
	}
	c.once.Do(func() { c.made, c.err = a.Compile() })
	return c.made, c.err
}

// At returns the authority that a request selects by its Host field or, otherwise, by its local
// address (A95-3). If the request selects no authority, At returns the default authority, or nil.
func (s *AuthoritySet) At(host string, local netip.Addr) *Authority {
	if a := s.Meant(host, local); a != nil {
		return a
	}
	return s.standard
}

// Meant is like At, but never returns the default authority.
func (s *AuthoritySet) Meant(host string, local netip.Addr) *Authority {
	if a := s.Host(host); a != nil {
		return a
	}
	return s.address[local.Unmap()]
}

// Host returns the authority that a Host field selects, or nil.
func (s *AuthoritySet) Host(host string) *Authority {
	if host == "" {
		return nil
	}
	return s.hosts[CanonicalHost(host)]
}

// IsLoopbackHost reports whether h is a name or an address of the loopback interface. The host must
// be in the form of [CanonicalHost].
func IsLoopbackHost(h string) bool {
	ip, err := netip.ParseAddr(strings.Trim(h, "[]"))
	return h == "localhost" || strings.HasSuffix(h, ".localhost") || err == nil && ip.IsLoopback()
}
