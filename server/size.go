package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A size says how long a list of ElementIDs is.
type size struct {
	names, bytes int
	more         bool // the list is longer, because counting stopped at a limit
	counted      time.Time
}

// Limits of counting.
const (
	maxCounted  = 100_000 // records to read, including those that are not listed
	maxCounting = time.Second
	sizeLife    = time.Minute
)

// remark describes for people how long a list is and how it is sorted (1995, 3.5.2).
func (z size) remark() string {
	about := "about"
	if z.more {
		about = "more than"
	}
	return fmt.Sprintf("All ElementIDs: %s %d, %s %dK, sorted by spelling.", about, z.names, about, (z.bytes+1023)>>10)
}

// sizes caches how long the lists of authorities are, because finding out takes a reading of the
// whole list. Only one request at a time counts each list. Requests about different lists do not
// wait for each other.
type sizes struct {
	mu       sync.Mutex
	known    map[name.Prefix]size
	counting map[name.Prefix]chan struct{} // closed when the counting of the list ends
}

// of returns the size of the list of an authority. If another request is already counting this
// list, of waits for its result; if that request fails, of counts the list itself.
func (z *sizes) of(ctx context.Context, s *Server, set *store.AuthoritySet, a *store.Authority) (size, error) {
	for {
		known, counted, mine := z.begin(a.Prefix, s.now())
		switch {
		case counted == nil:
			return known, nil
		case mine:
			n, err := s.count(ctx, set, a)
			z.end(a.Prefix, counted, n, err, len(set.All()))
			return n, err
		}
		select {
		case <-counted:
		case <-ctx.Done():
			return size{}, context.Cause(ctx)
		}
	}
}

// begin returns the size of a list from the cache. If it is not there, begin returns a channel that
// is closed when the counting of the list ends. The caller must count it if mine is true; otherwise
// another request is counting.
func (z *sizes) begin(p name.Prefix, now time.Time) (n size, counted chan struct{}, mine bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if n, ok := z.known[p]; ok && now.Sub(n.counted) < sizeLife {
		return n, nil, false
	}
	if counted, ok := z.counting[p]; ok {
		return size{}, counted, false
	}
	if z.counting == nil {
		z.counting = map[name.Prefix]chan struct{}{}
	}
	counted = make(chan struct{})
	z.counting[p] = counted
	return size{}, counted, true
}

// end stores the result of counting a list. If the cache already has more sizes than limit, end
// first drops them all.
func (z *sizes) end(p name.Prefix, counted chan struct{}, n size, err error, limit int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if err == nil {
		if z.known == nil || len(z.known) > limit {
			z.known = map[name.Prefix]size{}
		}
		z.known[p] = n
	}
	delete(z.counting, p)
	close(counted)
}

// count counts the list of an authority until it reaches a limit.
func (s *Server) count(ctx context.Context, set *store.AuthoritySet, a *store.Authority) (size, error) {
	n := size{counted: s.now()}
	read := 0
	within, cancel := context.WithTimeout(ctx, maxCounting)
	defer cancel()
	for at, err := range gateway.Walk(within, s.store, set, a, "") {
		if err != nil && within.Err() != nil && ctx.Err() == nil {
			n.more = true
			break
		}
		if err != nil {
			return size{}, err
		}
		if read++; read > maxCounted {
			n.more = true
			break
		}
		if at.Listed {
			n.names++
			n.bytes += len(a.Prefix.Element(at.Record.Name)) + len("\r\n")
		}
	}
	return n, nil
}
