package store

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A Table is the set of a store's authorities, kept in memory because every
// request needs it and there are few. It is at most its lifetime behind the
// store; Forget makes the next question read anew. It is safe for concurrent
// use.
type Table struct {
	reader Reader
	now    func() time.Time
	life   time.Duration

	mu   sync.Mutex
	set  *AuthoritySet
	read time.Time
}

// NewTable returns a table of the authorities of r that is read again after the
// lifetime.
func NewTable(r Reader, now func() time.Time, life time.Duration) *Table {
	return &Table{reader: r, now: now, life: life}
}

// Set returns the authorities as they are now or, when at is not zero, as they
// were then. The set and what it returns must not be changed.
func (t *Table) Set(ctx context.Context, at time.Time) (*AuthoritySet, error) {
	if !at.IsZero() {
		return readSet(ctx, t.reader, at)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.set != nil && now.Sub(t.read) < t.life {
		return t.set, nil
	}
	set, err := readSet(ctx, t.reader, time.Time{})
	if err != nil {
		return nil, err
	}
	t.set, t.read = set, now
	return set, nil
}

// Forget makes the next call of Set read the store.
func (t *Table) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set = nil
}

// An AuthoritySet finds authorities by all that a request can say about them.
type AuthoritySet struct {
	all      []*Authority
	prefixes map[name.Prefix]*Authority
	hosts    map[string]*Authority
	address  map[netip.Addr]*Authority
	standard *Authority
}

func readSet(ctx context.Context, r Reader, at time.Time) (*AuthoritySet, error) {
	s := &AuthoritySet{
		prefixes: map[name.Prefix]*Authority{},
		hosts:    map[string]*Authority{},
		address:  map[netip.Addr]*Authority{},
	}
	for a, err := range r.Authorities(ctx, at) {
		if err != nil {
			return nil, err
		}
		s.add(a)
	}
	return s, nil
}

func (s *AuthoritySet) add(a *Authority) {
	s.all = append(s.all, a)
	s.prefixes[a.Prefix] = a
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

// CanonicalHost returns a Host field in the form in which hosts are compared:
// lower case, without port, without a final dot.
func CanonicalHost(h string) string {
	if i := strings.LastIndexByte(h, ':'); i >= 0 && strings.IndexByte(h[i:], ']') < 0 {
		h = h[:i]
	}
	return strings.ToLower(strings.TrimSuffix(h, "."))
}

// All returns the authorities in the order of their prefixes.
func (s *AuthoritySet) All() []*Authority { return s.all }

// Of returns the authority with the longest prefix that covers n, or nil.
func (s *AuthoritySet) Of(n name.Name) *Authority {
	if len(s.prefixes) == 0 {
		return nil
	}
	for p := range n.Prefixes {
		if a := s.prefixes[p]; a != nil {
			return a
		}
	}
	return nil
}

// At returns the authority that a request with this Host field, to this local
// address, means: by host, else by address, else the default one, else nil
// (1995, A95-3).
func (s *AuthoritySet) At(host string, local netip.Addr) *Authority {
	if a := s.Host(host); a != nil {
		return a
	}
	if a := s.address[local.Unmap()]; a != nil {
		return a
	}
	return s.standard
}

// Host returns the authority that is asked under a Host field, or nil.
func (s *AuthoritySet) Host(host string) *Authority {
	if host == "" {
		return nil
	}
	return s.hosts[CanonicalHost(host)]
}
