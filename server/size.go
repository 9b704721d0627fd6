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

// remark describes the length and the order of a list for people (draft of 1995, 3.5.2).
func (z size) remark() string {
	about := "about"
	if z.more {
		about = "more than"
	}
	return fmt.Sprintf("All ElementIDs: %s %d, %s %dK, sorted by spelling.", about, z.names, about, (z.bytes+1023)>>10)
}

// sizes caches the lengths of the lists of authorities, because the server must read a whole list
// to measure it. Only one request at a time measures a list. Requests about other lists do not
// wait.
type sizes struct {
	mu       sync.Mutex
	known    map[name.Prefix]size
	counting map[name.Prefix]chan struct{} // closed when the counting of the list ends
}

// of returns the length of the list of an authority. If another request is already measuring this
// list, the call waits for the result. If that request fails, the call measures the list itself.
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

// begin returns the length of a list from the cache. If the length is not in the cache, begin
// returns a channel that is closed as soon as the list has been measured. If mine is true, the
// caller must measure the list. Otherwise another request is measuring it.
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

// end stores the length of a list. If the cache contains more than limit lengths, it is emptied
// first.
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

// count measures the list of an authority, up to a limit.
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
