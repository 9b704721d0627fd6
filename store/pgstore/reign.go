package pgstore

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// A reign identifies the timeline of a primary. If several primaries have the same data, the
// primary with the highest timeline was promoted last. A former primary that has not noticed the
// promotion still accepts changes, which will be lost. The zero reign is for databases without
// timelines.
type reign struct{ system, timeline string }

func askedReign(ctx context.Context, c *pgx.Conn) (r reign, err error) {
	err = c.QueryRow(ctx, askReign).Scan(&r.system, &r.timeline)
	if state(err) != "" && !gone(err) {
		return reign{}, nil
	}
	return r, err
}

// A reigns records the timelines of the servers, and the latest timeline of each system.
type reigns struct {
	mu   sync.Mutex
	last map[string]string // highest timeline seen, by system identifier
	of   map[*server]reign
}

// holds records that the server s has the timeline r, and reports whether r is the latest timeline.
func (a *reigns) holds(s *server, r reign) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.last, a.of = map[string]string{}, map[*server]reign{}
	}
	a.of[s] = r
	a.last[r.system] = max(a.last[r.system], r.timeline) // both have eight hexadecimal digits
	return r.timeline == a.last[r.system]
}

// over reports whether a later timeline than that of s is known, because another server was
// promoted.
func (a *reigns) over(s *server) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.of[s]
	return r.timeline < a.last[r.system]
}

// A fences records when the primary reached each fence. The fence is a counter in the head of the
// log, which increases with every sealing.
type fences struct {
	mu   sync.Mutex
	seen []seenFence // oldest first
}

type seenFence struct {
	fence int64
	at    time.Time
}

func (f *fences) saw(fence int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.seen); n == 0 || fence > f.seen[n-1].fence {
		f.seen = append(f.seen, seenFence{fence, time.Now()})
	}
}

// passed returns the fence that the primary had at the time ago before now, or 0 if the fence is
// unknown.
func (f *fences) passed(ago time.Duration) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.seen) > 1 && time.Since(f.seen[1].at) >= ago {
		f.seen = f.seen[1:]
	}
	if len(f.seen) == 0 || time.Since(f.seen[0].at) < ago {
		return 0
	}
	return f.seen[0].fence
}
