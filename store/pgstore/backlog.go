package pgstore

import (
	"sync"
	"time"

	"github.com/nomen-project/nomen/store"
)

// A backlog records how long committed changes have been waiting without progress of the sealing.
type backlog struct {
	mu    sync.Mutex
	fence int64
	since time.Time // zero if no change is waiting
}

// saw records the fence of the log, which every sealing increments, and whether changes are
// waiting.
func (b *backlog) saw(fence int64, waiting bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !waiting:
		b.since = time.Time{}
	case b.since.IsZero() || fence != b.fence:
		b.since = now
	}
	b.fence = fence
}

// forget records that no server accepts changes, so that it is unknown whether changes are waiting.
func (b *backlog) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since = time.Time{}
}

func (b *backlog) age(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.since.IsZero() {
		return 0
	}
	return now.Sub(b.since)
}

// Usage implements [store.Measured].
func (s *Store) Usage() store.Usage {
	u := store.Usage{Failures: s.cluster.failures.Load(), Servers: map[string]int{}, Unsealed: s.sealer.backlog.age(time.Now())}
	for r := range roles {
		u.Servers[r.String()] = 0
	}
	for _, server := range s.cluster.servers {
		u.Servers[role(server.role.Load()).String()]++
	}
	return u
}
