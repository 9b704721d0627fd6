package pebblestore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

var kinds = [...]store.Kind{store.KindName, store.KindAuthority, store.KindToken}

// build writes the new store, whole or not at all, and compares it with the old
// one. Changes are put in the order of their times first: that is their order in
// the log of the new store.
func (r *rekeyer) build() error {
	w, err := r.filler(r.o.Dir + suffixBuilding)
	if err != nil {
		return err
	}
	defer w.batch.Close()
	order, err := r.filler(r.o.Dir + suffixOrder)
	if err != nil {
		return err
	}
	defer order.batch.Close()
	for m, err := range r.everything("writing") {
		if err != nil {
			return err
		}
		s, to := (store.Subject{Kind: m.Kind, Key: m.New}), order
		if s.Kind == store.KindToken {
			to = w
		}
		if err := to.write(s, r.changes(m)); err != nil {
			return err
		}
	}
	w.count = order.count
	if err := cmp.Or(r.seal(w, order), w.end()); err != nil {
		return err
	}
	return cmp.Or(r.compare(w.db.DB), w.db.disk.err())
}

// seal writes the changes as they are in order, with their places in the log.
func (r *rekeyer) seal(w, order *filler) error {
	v, err := order.view()
	if err != nil {
		return err
	}
	defer v.close()
	sealer := &writer{parts: together(w.batch)}
	done := int64(0)
	for ok := v.it.First(); ok; ok = v.it.Next() {
		value, err := v.it.ValueAndErr()
		if err == nil {
			err = r.progress("sealing", done)
		}
		if err != nil {
			return err
		}
		done++
		s, last := orderedSubject(v.it.Key()), value[0] == isLast
		c, err := codec.Decode(s, value[1:])
		if err == nil {
			err = w.seal(sealer, s, c, last)
		}
		if err != nil {
			return err
		}
	}
	return v.failure("order")
}

// seal writes a change that may be the last one of its subject.
func (w *filler) seal(sealer *writer, s store.Subject, c *store.Change, last bool) error {
	e := &store.Entry{Change: c}
	if !c.Redacted { // else the digest of what it was is not known any more
		e.Salt = sealer.salts.next()
	}
	if err := sealer.seal(e, c.Redacted); err != nil {
		return err
	}
	w.value = codec.AppendSeal(append(w.value[:0], sealer.value...), e)
	if !last {
		w.key = appendStamp(appendHistory(w.key[:0], s), c.Time, c.Revision())
		return w.set(w.key, w.value)
	}
	if err := sealer.locate(store.Step{Subject: s, Next: c}); err != nil {
		return err
	}
	w.key = appendKey(w.key[:0], s)
	return w.set(w.key, w.value)
}

// The first byte of a value in order: whether another change of the subject
// follows.
const (
	isFollowed = 0
	isLast     = 1
)

// appendOrdered appends a key by which changes are in the order of their times,
// then of their subjects and revisions.
func appendOrdered(b []byte, c *store.Change) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(c.Time.UnixMilli())^1<<63)
	b = append(append(b, byte(c.Subject().Kind)), c.Subject().Key...)
	return binary.BigEndian.AppendUint64(append(b, 0), c.Revision())
}

func orderedSubject(key []byte) store.Subject {
	return store.Subject{Kind: store.Kind(key[8]), Key: string(key[9 : len(key)-9])}
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
// memory alone when flush has returned. When the disk fails it gives up.
type filler struct {
	db        *database
	batch     *pebble.Batch
	unflushed int // bytes

	count      int64 // of records
	key, value []byte
}

const (
	fillerBatch = 4 << 20  // bytes
	fillerFlush = 16 << 20 // bytes, after which it waits for the disk
)

func (r *rekeyer) filler(dir string) (*filler, error) {
	db, err := r.database(dir, &dirLock{}, func(p *pebble.Options, _ *engineDisk) {
		p.DisableWAL = true
		p.MemTableSize = 2 * fillerFlush
		p.L0StopWritesThreshold = math.MaxInt // a compaction that fails must not stop the writer
	})
	if err != nil {
		return nil, err
	}
	return &filler{db: db, batch: db.NewBatch()}, nil
}

// write writes the changes of a subject, the first one first, in the order in
// which they are sealed; a token as it stays.
func (w *filler) write(s store.Subject, changes iter.Seq2[*store.Change, error]) error {
	var last *store.Change
	for c, err := range changes {
		if err == nil && last != nil {
			err = w.put(s, last, isFollowed)
		}
		if err != nil {
			return err
		}
		last = c
	}
	w.count += records(last)
	return w.put(s, last, isLast)
}

func (w *filler) put(s store.Subject, c *store.Change, end byte) error {
	if s.Kind == store.KindToken {
		w.key = appendKey(w.key[:0], s)
		w.value = codec.Append(w.value[:0], c)
		return w.set(w.key, w.value)
	}
	w.key = appendOrdered(w.key[:0], c)
	w.value = codec.Append(append(w.value[:0], end), c)
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
	if err := w.db.disk.err(); err != nil {
		return err
	}
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
	case <-w.db.disk.down:
	}
	return w.db.disk.err()
}

// end writes what the store says of itself, and waits for the disk.
func (w *filler) end() error {
	err := cmp.Or(
		w.set([]byte(metaID), newID()),
		w.set([]byte(metaFormat), encodeNumber(formatVersion)),
		w.set([]byte(metaRules), encodeNumber(name.RulesVersion)),
	)
	if w.count > 0 {
		err = cmp.Or(err, w.set([]byte(metaCount), encodeNumber(uint64(w.count))))
	}
	if err != nil {
		return err
	}
	return cmp.Or(w.apply(), w.flush())
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
			if union(m, last, r.now) != nil {
				unions++
			}
		}
	}
	before, err := r.old.countChanges()
	if err != nil {
		return err
	}
	after, err := fresh.countChanges()
	if err != nil {
		return err
	}
	if after != before+unions {
		return fmt.Errorf("the new store has %d changes, not %d: the old one was left as it is", after, before+unions)
	}
	return r.verify(db)
}

// verify checks the new store by itself.
func (r *rekeyer) verify(db *pebble.DB) error {
	snap := db.NewSnapshot()
	defer snap.Close()
	var first error
	_, err := check(r.ctx, snap, time.Time{}, func(f store.Fault) {
		if first == nil {
			first = fmt.Errorf("the new store is not sound: %q: %s: the old one was left as it is", f.Subject.Key, f.Problem)
		}
	}, nil)
	return errors.Join(err, first)
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
		if a = codec.Append(a[:0], w); ok {
			b = codec.Append(b[:0], g)
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

// countChanges counts all changes, and tokens.
func (v *view) countChanges() (n int64, err error) {
	for ok := v.it.First(); ok; ok = v.it.Next() {
		switch v.it.Key()[0] {
		case spaceName, spaceAuthority, spaceToken, spaceHistory:
			n++
		}
	}
	return n, v.failure("store")
}
