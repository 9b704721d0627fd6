package pebblestore

import (
	"sync"
	"time"

	"github.com/nomen-project/nomen/store"
)

// Limits of [reads]: the size of the encoded records in bytes, and how long the records are kept
// after the last use.
const (
	maxReads  = 16 << 20
	keepReads = time.Minute
)

// reads keeps records that [Store.Records] has read for a future batch, so that the batch need not
// read them again. It is safe for concurrent use.
//
// A record in reads is always current. Records announces the subjects before it opens a view. When
// a batch has become visible, the writer removes the announcements of the subjects in the batch. If
// a view is older than the batch, the announcement no longer exists, and the record is not kept. If
// a subject is announced after the batch, the view includes the batch.
type reads struct {
	mu   sync.Mutex
	all  map[store.Subject]*read
	size int // size of the encoded records, in bytes
	used time.Time
}

type read struct {
	subject store.Subject
	change  *store.Change
	raw     []byte // encoding of the record
}

// announce returns a place for each subject that is about to be read. If the records are too large
// in total, announce drops them all first.
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

// keep puts records into the places that were announced for them.
func (r *reads) keep(places, found []read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range places {
		p := &places[i]
		switch {
		case r.all[p.subject] != p: // the announcement was dropped after it was made
		case found[i].change == nil:
			delete(r.all, p.subject)
		default:
			*p = found[i]
			r.size += len(p.raw)
		}
	}
}

// take removes the last change of a subject from r, and returns the change with its encoding. If r
// does not have the change, take returns nil.
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

// forget drops the records and announcements of the subjects of written steps.
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

func (r *reads) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all, r.size = nil, 0
}

// expire drops all records if r was not used for the time keepReads.
func (r *reads) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.used) > keepReads {
		r.all, r.size = nil, 0
	}
}

func (r *reads) remove(s store.Subject) {
	if p := r.all[s]; p != nil {
		r.size -= len(p.raw)
		delete(r.all, s)
	}
}
