package pgstore

import (
	"errors"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/nomen-project/nomen/store"
)

// maxRecent is how many subjects are remembered; beyond, all are taken for
// written.
const maxRecent = 100_000

// errStale is an answer of a replica that is older than what this node wrote.
var errStale = errors.New("no replica has received yet what was written here, and the primary cannot be reached")

// A need is what an answer must have at least to be no step back for who wrote.
type need struct {
	revision uint64    // at least this one, if not from the primary
	until    time.Time // then a replica's answer will do
}

func (n need) over() bool { return time.Now().After(n.until) }

// A recent remembers what this node has written a short time ago, so that it
// does not take older data from a replica. With no lag it remembers nothing. Its
// zero value is that.
type recent struct {
	lag time.Duration

	mu       sync.RWMutex
	subjects map[store.Subject]need
	last     time.Time // anything was written
	crowded  time.Time // until then, more was written than could be remembered
}

// wrote takes note of the last revisions of what was written.
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

// need returns what an answer about subject must have; the zero need is nothing.
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

// any reports whether anything was written that a replica may not have.
func (r *recent) any() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.lag > 0 && time.Since(r.last) < r.lag
}
