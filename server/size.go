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

// A size tells how long a list is.
type size struct {
	names, bytes int
	more         bool // than were counted
	counted      time.Time
}

// The bounds of counting.
const (
	maxCounted = 100_000 // records read, whether or not they are listed
	sizeLife   = time.Minute
)

// remark says how long the list is and in what order (1995, 3.5.2).
func (z size) remark() string {
	about := "about"
	if z.more {
		about = "more than"
	}
	return fmt.Sprintf("The list of all ElementIDs: %s %d, %s %dK, in the order of their spelling.", about, z.names, about, (z.bytes+1023)>>10)
}

// sizes remembers for a while how long the lists of authorities are, since to
// know it they have to be read.
type sizes struct {
	mu    sync.Mutex
	known map[name.Prefix]size
}

// of returns the size of the list of a.
func (z *sizes) of(ctx context.Context, s *Server, set *store.AuthoritySet, a *store.Authority) (size, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	now := s.now()
	if known, ok := z.known[a.Prefix]; ok && now.Sub(known.counted) < sizeLife {
		return known, nil
	}
	n := size{counted: now}
	read := 0
	for at, err := range gateway.Walk(ctx, s.store, set, a, "") {
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
	if z.known == nil || len(z.known) > len(set.All()) {
		z.known = map[name.Prefix]size{}
	}
	z.known[a.Prefix] = n
	return n, nil
}
