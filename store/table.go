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

// A Table caches the set of all authorities of a store, because every request needs it. While one
// caller reads the store again, other callers get the previous set. So a set can be older than the
// lifetime of the table by the duration of one read. After Forget, the next call reads the store. A
// Table is safe for concurrent use.
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

// NewTable returns a table of the authorities of r. When the set is older than the time life, the
// table reads r again.
func NewTable(r Reader, now func() time.Time, life time.Duration) *Table {
	return &Table{reader: r, now: now, life: life}
}

// Set returns the authorities as of a time; the zero time means now. The caller must not modify the
// set, or anything that methods of the set return. As long as no authority changes, successive
// calls return the same set. If ctx is from [WithStaleness], the set may be stale.
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

// readAgain reads the set from the store again. The parameter e is the last edition, or nil if
// there is none. The caller must hold t.reading.
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

// Missing reports whether the table has tried to read the authorities, but has none yet.
func (t *Table) Missing() bool { return t.tried.Load() && t.last.Load() == nil }

// young reports whether the edition e is younger than the lifetime of the table.
func (t *Table) young(e *edition) bool { return t.now().Sub(e.read) < t.life }

// known returns the last edition, and whether it can be used. It cannot be used if Forget was
// called after the store was read. A stale edition can be used only if the caller accepts stale
// data.
func (t *Table) known(stale *Staleness) (*edition, bool) {
	e := t.last.Load()
	return e, e != nil && e.forgets == t.forgets.Load() && (e.since.IsZero() || stale != nil)
}

// Forget makes the next call of Set read the store.
func (t *Table) Forget() { t.forgets.Add(1) }

// Replace replaces the revision of an authority in the table by one that was just read from the
// store. It does not read the other authorities. The table keeps the pointer.
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
	parents  []int        // for each authority, the index of its parent, which has the longest other prefix that its own prefix begins with; -1 if none
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

// readSet reads the authorities from the store. For authorities that have not changed, it takes the
// compiled form from the parameter last, the previous set.
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

// finish sorts the authorities of a new set.
func (s *AuthoritySet) finish() {
	slices.SortFunc(s.all, func(a, b *Authority) int { return strings.Compare(a.Prefix.String(), b.Prefix.String()) })
	s.nest()
}

// with returns a copy of s that has the revision a of an authority instead of an earlier one. If s
// already has this revision or a later one, it returns s.
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

// nest sets the field parents.
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
	// The AuthorityID of a dns name is the host that resolves it (1995, 2.2.1).
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

// CanonicalHost returns the value of a Host field in a form that can be compared. This form is in
// lower case, without port and without a final dot.
func CanonicalHost(h string) string {
	if i := strings.LastIndexByte(h, ':'); i >= 0 && strings.IndexByte(h[i:], ']') < 0 {
		h = h[:i]
	}
	return strings.ToLower(strings.TrimSuffix(h, "."))
}

// All returns the authorities in the byte order of their prefixes.
func (s *AuthoritySet) All() []*Authority { return s.all }

// Of returns the authority of the name n. Of all authorities whose prefixes cover n, this is the
// authority with the longest prefix. If there is none, Of returns nil. It takes logarithmic time.
func (s *AuthoritySet) Of(n name.Name) *Authority {
	key := n.Key()
	i, found := s.search(key)
	if !found {
		i--
	}
	// A key can begin only with the last prefix that sorts before the key, or with a parent of that
	// prefix.
	for ; i >= 0; i = s.parents[i] {
		if s.all[i].Prefix.Covers(n) {
			return s.all[i]
		}
	}
	return nil
}

// search returns the index of the authority with this prefix. If there is none, it returns false
// and the index at which it would be inserted.
func (s *AuthoritySet) search(prefix string) (int, bool) {
	return slices.BinarySearchFunc(s.all, prefix, func(a *Authority, key string) int {
		return strings.Compare(a.Prefix.String(), key)
	})
}

// Exactly returns the authority that has exactly this prefix, or nil.
func (s *AuthoritySet) Exactly(p name.Prefix) *Authority {
	if s == nil {
		return nil
	}
	if i, found := s.search(p.String()); found {
		return s.all[i]
	}
	return nil
}

// Compiled returns the compiled rules and delegation of an authority, which must be from s. If it
// has neither rules nor a delegation, the result is empty. Each revision of an authority is
// compiled only once. The error is that of [Authority.Compile].
func (s *AuthoritySet) Compiled(a *Authority) (*Compiled, error) {
	c := s.compiled[a]
	if c == nil {
		return &Compiled{}, nil
	}
	c.once.Do(func() { c.made, c.err = a.Compile() })
	return c.made, c.err
}

// At returns the authority that a request selects (1995, A95-3). The Host field decides first, then
// the local address of the request, then the default authority. Without any of these, At returns
// nil.
func (s *AuthoritySet) At(host string, local netip.Addr) *Authority {
	if a := s.Meant(host, local); a != nil {
		return a
	}
	return s.standard
}

// Meant returns the authority that a request selects by its Host field, or otherwise by its local
// address. If neither selects an authority, Meant returns nil. Unlike At, it ignores the default
// authority.
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

// IsLoopbackHost reports whether h, a result of [CanonicalHost], is a name or address of the
// loopback interface.
func IsLoopbackHost(h string) bool {
	ip, err := netip.ParseAddr(strings.Trim(h, "[]"))
	return h == "localhost" || strings.HasSuffix(h, ".localhost") || err == nil && ip.IsLoopback()
}
