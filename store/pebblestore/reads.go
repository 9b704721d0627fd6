package pebblestore

import (
	"sync"
	"time"

	"github.com/nomen-project/nomen/store"
)

// How much [reads] keeps, in bytes of encoded records, and for how long after its last use.
const (
	maxReads  = 16 << 20
	keepReads = time.Minute
)

// reads keeps the records that [Store.Records] has read to be changed, so that the batch
// that changes them does not read them again. All methods may be called at any time.
//
// A record that is kept is always the present one: Records announces a subject before it opens
// its view, and the writer removes the announcements of a batch's subjects after the batch has
// become visible. So a reader whose view is older than the batch finds its announcement gone
// and keeps nothing; a reader that announces later sees the batch.
type reads struct {
	mu   sync.Mutex
	all  map[store.Subject]*read
	size int // bytes of what was read
	used time.Time
}

// A read is a record that was read. While the record is being read, change is nil.
type read struct {
	subject store.Subject
	change  *store.Change
	raw     []byte // its encoding
}

// announce prepares to keep subjects and returns a place for each. If too much is kept
// already, it first drops everything.
func (r *reads) announce(subjects []store.Subject) []read {
	places := make([]read, len(subjects))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || r.size > maxReads {
		r.all, r.size = make(map[store.Subject]*read, len(subjects)), 0
	}
	for i, s := range subjects {
		places[i].subject = s
		r.remove(s)
		r.all[s] = &places[i]
	}
	r.used = time.Now()
	return places
}

// keep keeps what was read into places that were announced.
func (r *reads) keep(places, found []read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range places {
		p := &places[i]
		switch {
		case r.all[p.subject] != p: // dropped meanwhile
		case found[i].change == nil:
			delete(r.all, p.subject)
		default:
			*p = found[i]
			r.size += len(p.raw)
		}
	}
}

// take returns the last change of a subject and its encoding if they are kept, and drops
// them.
func (r *reads) take(s store.Subject) (*store.Change, []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.all[s]
	if p == nil {
		return nil, nil
	}
	r.remove(s)
	return p.change, p.raw
}

// forget drops the subjects of steps, which were written.
func (r *reads) forget(steps []store.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 {
		return
	}
	for i := range steps {
		r.remove(steps[i].Subject)
	}
}

// clear drops everything.
func (r *reads) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all, r.size = nil, 0
}

// expire drops everything if nothing was announced for keepReads.
func (r *reads) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.used) > keepReads {
		r.all, r.size = nil, 0
	}
}

// remove removes a subject; r is locked.
func (r *reads) remove(s store.Subject) {
	if p := r.all[s]; p != nil {
		r.size -= len(p.raw)
		delete(r.all, s)
	}
}
