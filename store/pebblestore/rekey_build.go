package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

var kinds = [...]store.Kind{store.KindName, store.KindAuthority, store.KindToken}

// build writes the new store, whole or not at all, and compares it with the old
// one.
func (r *rekeyer) build() error {
	w, err := r.filler(r.o.Dir + suffixBuilding)
	if err != nil {
		return err
	}
	defer w.batch.Close()
	for m, err := range r.everything("writing") {
		if err == nil {
			err = w.write(store.Subject{Kind: m.Kind, Key: m.New}, r.changes(m))
		}
		if err != nil {
			return err
		}
	}
	if err := w.end(); err != nil {
		return err
	}
	return errors.Join(r.compare(w.db), w.failed())
}

// everything yields what all subjects come to.
func (r *rekeyer) everything(stage string) iter.Seq2[Move, error] {
	return func(yield func(Move, error) bool) {
		done := int64(0)
		for _, k := range kinds {
			for m, err := range r.outcomes(k) {
				if err == nil {
					err = r.progress(stage, done)
				}
				done++
				if !yield(m, err) {
					return
				}
			}
		}
	}
}

// A filler fills a database that is not there yet, and leaves nothing of it in
// memory alone when flush has returned. Pebble tries again for ever when it cannot
// write a table; a filler gives up.
type filler struct {
	db        *pebble.DB
	batch     *pebble.Batch
	unflushed int        // bytes
	failure   chan error // the first one of Pebble's own goroutines

	count      int64 // of records
	key, value []byte
}

const (
	fillerBatch = 4 << 20  // bytes
	fillerFlush = 16 << 20 // bytes, after which it waits for the disk
)

func (r *rekeyer) filler(dir string) (*filler, error) {
	w := &filler{failure: make(chan error, 1)}
	db, err := r.database(dir, func(p *pebble.Options) {
		p.DisableWAL = true
		p.MemTableSize = 2 * fillerFlush
		p.L0StopWritesThreshold = math.MaxInt // a compaction that fails must not stop the writer, but end it
		p.EventListener.BackgroundError = func(err error) {
			select {
			case w.failure <- err:
			default:
			}
		}
	})
	if err != nil {
		return nil, err
	}
	w.db, w.batch = db, db.NewBatch()
	return w, nil
}

// failed returns the failure of Pebble's own goroutines, if there was one.
func (w *filler) failed() error {
	select {
	case err := <-w.failure:
		return err
	default:
		return nil
	}
}

// write writes the changes of a subject, the first one first.
func (w *filler) write(s store.Subject, changes iter.Seq2[*store.Change, error]) error {
	var last *store.Change
	for c, err := range changes {
		if err == nil && last != nil {
			w.key = appendStamp(appendHistory(w.key[:0], s), last.Time, last.Expected+1)
			err = w.put(last)
		}
		if err != nil {
			return err
		}
		last = c
	}
	w.count += records(last)
	w.key = appendKey(w.key[:0], s)
	return w.put(last)
}

// put writes a change under the key that is prepared.
func (w *filler) put(c *store.Change) error {
	w.value = appendValue(w.value[:0], c)
	return w.set(w.key, w.value)
}

func (w *filler) set(key, value []byte) error {
	if err := w.batch.Set(key, value, nil); err != nil || w.batch.Len() < fillerBatch {
		return err
	}
	return w.apply()
}

// apply hands over the batch, and waits for the disk now and then.
func (w *filler) apply() error {
	w.unflushed += w.batch.Len()
	if err := w.db.Apply(w.batch, pebble.NoSync); err != nil {
		return err
	}
	w.batch.Reset()
	if w.unflushed < fillerFlush {
		return nil
	}
	return w.flush()
}

// flush waits until all that was handed over is on disk.
func (w *filler) flush() error {
	w.unflushed = 0
	done, err := w.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-done:
		return w.failed()
	case err := <-w.failure:
		return err
	}
}

// end writes what the store says of itself, and waits for the disk.
func (w *filler) end() error {
	err := errors.Join(
		w.set([]byte(metaFormat), encodeNumber(formatVersion)),
		w.set([]byte(metaRules), encodeNumber(name.RulesVersion)),
	)
	if w.count > 0 {
		err = errors.Join(err, w.set([]byte(metaCount), encodeNumber(uint64(w.count))))
	}
	if err != nil {
		return err
	}
	return errors.Join(w.apply(), w.flush())
}

// compare reads the new store again: it has what everything in the old one comes
// to, every change of it, and nothing else.
func (r *rekeyer) compare(db *pebble.DB) error {
	fresh, err := newView(db)
	if err != nil {
		return err
	}
	defer fresh.close()
	unions := int64(0)
	for m, err := range r.everything("verifying") {
		if err != nil {
			return err
		}
		s := store.Subject{Kind: m.Kind, Key: m.New}
		if err := same(s, r.changes(m), fresh.changes(s)); err != nil {
			return err
		}
		if m.Collides() {
			last, err := r.lasts(m)
			if err != nil {
				return err
			}
			if union(m, last, r.o.Now) != nil {
				unions++
			}
		}
	}
	before, err := r.old.entries()
	if err != nil {
		return err
	}
	after, err := fresh.entries()
	if err == nil && after != before+unions {
		err = fmt.Errorf("the new store has %d changes, not %d: the old one was left as it is", after, before+unions)
	}
	return err
}

// same returns an error if two histories are not the same.
func same(s store.Subject, want, got iter.Seq2[*store.Change, error]) error {
	next, stop := iter.Pull2(got)
	defer stop()
	var a, b []byte
	for w, err := range want {
		if err != nil {
			return err
		}
		g, err, ok := next()
		if err != nil {
			return err
		}
		if a = appendValue(a[:0], w); ok {
			b = appendValue(b[:0], g)
		}
		if !ok || !bytes.Equal(a, b) {
			return fmt.Errorf("revision %d of %q was not written as it should be: the old store was left as it is", w.Expected+1, s.Key)
		}
	}
	if _, err, ok := next(); ok || err != nil {
		return errors.Join(err, fmt.Errorf("%q has more changes than it should: the old store was left as it is", s.Key))
	}
	return nil
}

// entries counts all changes.
func (v *view) entries() (n int64, err error) {
	for ok := v.it.First(); ok; ok = v.it.Next() {
		if v.it.Key()[0] != spaceMeta {
			n++
		}
	}
	return n, v.failure("store")
}
