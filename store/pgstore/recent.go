package pgstore

import (
	"errors"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/nomen-project/nomen/store"
)

// maxRecent is the maximum number of tracked subjects. After writes to more subjects, all subjects
// are treated as recently written.
const maxRecent = 100_000

var errStale = errors.New("no replica has received the latest changes of this server yet, and the primary cannot be reached")

// A need is the minimum revision that an answer must have so that a client sees its own changes.
type need struct {
	revision uint64    // minimum revision; an answer of the primary may have any
	until    time.Time // from then on, any answer of a replica is accepted
}

func (n need) over() bool { return time.Now().After(n.until) }

// A recent tracks the recent writes of this node, so that the node does not accept older data from
// a replica. If the lag is zero, nothing is tracked.
type recent struct {
	lag time.Duration

	mu       sync.RWMutex
	subjects map[store.Subject]need
	last     time.Time // time of the last write
	crowded  time.Time // until then, everything counts as recently written, because too much was written to be tracked
}

// wrote records the revisions that the steps have made.
func (r *recent) wrote(steps []store.Step) {
	if r.lag == 0 || len(steps) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.last = now
	if len(r.subjects)+len(steps) > maxRecent {
		maps.DeleteFunc(r.subjects, func(_ store.Subject, n need) bool { return n.over() })
	}
	if len(r.subjects)+len(steps) > maxRecent {
		r.crowded, r.subjects = now.Add(r.lag), nil
	}
	if now.Before(r.crowded) {
		r.crowded = now.Add(r.lag)
		return
	}
	if r.subjects == nil {
		r.subjects = map[store.Subject]need{}
	}
	for _, step := range steps {
		r.subjects[step.Subject] = need{step.Next.Revision(), now.Add(r.lag)}
	}
}

// need returns the requirement for an answer about the subject. The zero need accepts any answer.
func (r *recent) need(subject store.Subject) need {
	if r.lag == 0 {
		return need{}
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch n := r.subjects[subject]; {
	case time.Now().Before(r.crowded):
		return need{math.MaxUint64, r.crowded}
	case n.over():
		return need{}
	default:
		return n
	}
}

// any reports whether this node has written something that a replica may lack.
func (r *recent) any() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.lag > 0 && time.Since(r.last) < r.lag
}
