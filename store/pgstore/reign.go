package pgstore

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// A reign identifies the timeline of a primary. Of several primaries with the same data, the
// one with the highest timeline was promoted last. An old primary whose failover agent is dead
// does not know this and continues; changes committed there are lost. The zero reign is used
// for engines without timelines.
type reign struct{ system, timeline string }

func askedReign(ctx context.Context, c *pgx.Conn) (r reign, err error) {
	err = c.QueryRow(ctx, askReign).Scan(&r.system, &r.timeline)
	if state(err) != "" && !gone(err) {
		return reign{}, nil
	}
	return r, err
}

// A reigns records the latest timelines.
type reigns struct {
	mu   sync.Mutex
	last map[string]string // the highest timeline, by system identifier
	of   map[*server]reign
}

// holds records the timeline of a primary, and reports whether it is the latest.
func (a *reigns) holds(s *server, r reign) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.last, a.of = map[string]string{}, map[*server]reign{}
	}
	a.of[s] = r
	a.last[r.system] = max(a.last[r.system], r.timeline) // eight hexadecimal digits each
	return r.timeline == a.last[r.system]
}

// over reports whether another server was promoted since s was last checked.
func (a *reigns) over(s *server) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.of[s]
	return r.timeline < a.last[r.system]
}

// A fences records when the primary reached each fence, the counter in the head of the log
// that every change raises.
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

// passed returns the fence that the primary had some time ago, 0 if unknown.
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
