package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

var kinds = [...]store.Kind{store.KindName, store.KindAuthority, store.KindToken}

// build writes the new store, whole or not at all, and compares it with the old
// one.
func (r *rekeyer) build() error {
	db, err := r.database(r.o.Dir+suffixBuilding, func(p *pebble.Options) { p.DisableWAL = true })
	if err != nil {
		return err
	}
	w := &writer{db: db, batch: db.NewBatch()}
	for m, err := range r.everything("writing") {
		if err == nil {
			err = w.write(store.Subject{Kind: m.Kind, Key: m.New}, r.changes(m))
		}
		if err != nil {
			return errors.Join(err, w.batch.Close())
		}
	}
	if err := w.end(); err != nil {
		return err
	}
	return r.compare(db)
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

// A writer fills an empty store with whole histories.
type writer struct {
	db         *pebble.DB
	batch      *pebble.Batch
	count      int64 // of records
	key, value []byte
}

// write writes the changes of a subject, the first one first.
func (w *writer) write(s store.Subject, changes iter.Seq2[*store.Change, error]) error {
	var last *store.Change
	for c, err := range changes {
		if err == nil && last != nil {
			w.key = appendStamp(appendHistory(w.key[:0], s), last.Time, last.Expected+1)
			err = w.set(last)
		}
		if err != nil {
			return err
		}
		last = c
	}
	w.count += records(last)
	w.key = appendKey(w.key[:0], s)
	return w.set(last)
}

// set writes a change under the key that is prepared.
func (w *writer) set(c *store.Change) error {
	const enough = 4 << 20 // bytes of a batch
	w.value = appendValue(w.value[:0], c)
	if err := w.batch.Set(w.key, w.value, nil); err != nil || w.batch.Len() < enough {
		return err
	}
	err := w.db.Apply(w.batch, pebble.NoSync)
	w.batch.Reset()
	return err
}

// end writes what the store says of itself, and waits for the disk.
func (w *writer) end() error {
	defer w.batch.Close()
	err := errors.Join(
		w.batch.Set([]byte(metaFormat), encodeNumber(formatVersion), nil),
		w.batch.Set([]byte(metaRules), encodeNumber(name.RulesVersion), nil),
	)
	if w.count > 0 {
		err = errors.Join(err, w.batch.Set([]byte(metaCount), encodeNumber(uint64(w.count)), nil))
	}
	return errors.Join(err, w.db.Apply(w.batch, pebble.NoSync), w.db.Flush())
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
