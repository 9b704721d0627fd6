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

var kinds = [...]store.Kind{store.KindName, store.KindAuthority, store.KindToken, store.KindUser, store.KindTokenRights}

// build writes the new store and compares it with the old store. First it sorts the changes by
// time, which is their order in the new log.
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
	if err := cmp.Or(r.seal(w, order), w.end(r.format)); err != nil {
		return err
	}
	return cmp.Or(r.compare(w.db.DB), w.db.disk.err())
}

// seal copies the sorted changes from the database order to the new store w, and adds each change
// to the log.
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

func (w *filler) seal(sealer *writer, s store.Subject, c *store.Change, last bool) error {
	e := &store.Entry{Change: c}
	if !c.Redacted { // if the old content is redacted, its digest is unknown
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

// The first byte of a value in the database of sorted changes says whether the subject has another
// change after this one.
const (
	isFollowed = 0
	isLast     = 1
)

func appendOrdered(b []byte, c *store.Change) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(c.Time.UnixMilli())^1<<63)
	b = append(append(b, byte(c.Subject().Kind)), c.Subject().Key...)
	return binary.BigEndian.AppendUint64(append(b, 0), c.Revision())
}

func orderedSubject(key []byte) store.Subject {
	return store.Subject{Kind: store.Kind(key[8]), Key: string(key[9 : len(key)-9])}
}

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

// A filler writes a new database without a write-ahead log. The data is on disk after a call of
// flush. If the disk fails, all methods return an error.
type filler struct {
	db        *database
	batch     *pebble.Batch
	unflushed int // bytes written since the last flush

	count      int64 // number of records
	key, value []byte
}

const (
	fillerBatch = 4 << 20  // size of a batch, in bytes
	fillerFlush = 16 << 20 // number of bytes after which the filler waits for the disk
)

func (r *rekeyer) filler(dir string) (*filler, error) {
	db, err := r.database(dir, &dirLock{}, func(p *pebble.Options, _ *engineDisk) {
		p.DisableWAL = true
		p.MemTableSize = 2 * fillerFlush
		p.L0StopWritesThreshold = math.MaxInt // a failed compaction must not block the writer
	})
	if err != nil {
		return nil, err
	}
	return &filler{db: db, batch: db.NewBatch()}, nil
}

// write writes the changes of a subject, oldest first. Changes of tokens have the format of the new
// store, and other changes have the format of the database of sorted changes.
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
	w.count += last.Records()
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

// apply writes the batch to the database, and waits for the disk from time to time.
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

// end writes the metadata of the store, and waits until all data is on disk.
func (w *filler) end(format uint64) error {
	err := cmp.Or(
		w.set([]byte(metaID), newID()),
		w.set([]byte(metaFormat), encodeNumber(format)),
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
			if union(m, last, r.now, r.o.Who) != nil {
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
		return fmt.Errorf("the new store has %d changes, expected %d: the old store is unchanged", after, before+unions)
	}
	return r.verify(db)
}

func (r *rekeyer) verify(db *pebble.DB) error {
	snap := db.NewSnapshot()
	defer snap.Close()
	var first error
	_, err := verify(r.ctx, snap, time.Time{}, func(f store.Fault) {
		if first == nil {
			first = fmt.Errorf("the new store is damaged: %q: %s: the old store is unchanged", f.Subject.Key, f.Problem)
		}
	}, nil)
	return errors.Join(err, first)
}

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
			return fmt.Errorf("revision %d of %q was not written correctly: the old store is unchanged", w.Expected+1, s.Key)
		}
	}
	if _, err, ok := next(); ok || err != nil {
		return errors.Join(err, fmt.Errorf("%q has too many changes: the old store is unchanged", s.Key))
	}
	return nil
}

func (v *view) countChanges() (n int64, err error) {
	for ok := v.it.First(); ok; ok = v.it.Next() {
		switch v.it.Key()[0] {
		case spaceName, spaceAuthority, spaceToken, spaceUser, spaceRights, spaceHistory:
			n++
		}
	}
	return n, v.failure("store")
}
