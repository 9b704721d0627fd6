package pebblestore

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A writer puts the steps of one batch where they belong: content, history, log,
// tree and index.
type writer struct {
	view  *view
	batch *pebble.Batch
	salts *salts
	log   ledger.Log
	count int64
	raw   map[store.Subject][]byte // the value of the last change of a subject
	scrub []span

	again      bool // a subject may come again
	nodes      []ledger.Node
	key, value []byte
	leaf       []byte
	seen       [2][]string // URLs before and after a step
}

func (s *Store) writer(v *view) *writer {
	return &writer{view: v, salts: &s.salts, log: s.log, count: s.count.Load(), raw: map[store.Subject][]byte{}}
}

// last is what [store.Plan] asks for.
func (w *writer) last(s store.Subject) (*store.Change, error) {
	if !w.view.seek(s) {
		return nil, w.view.failure(s.Key)
	}
	c, err := w.view.change(s)
	if err == nil && s.Kind != store.KindToken {
		w.raw[s] = bytes.Clone(w.view.it.Value())
	}
	return c, err
}

// follow plans what entries lead to, up to the first that does not follow.
func (w *writer) follow(entries []*store.Entry) ([]store.Step, error) {
	steps := make([]store.Step, 0, len(entries))
	planned := map[store.Subject]*store.Change{}
	last := func(s store.Subject) (*store.Change, error) {
		if c := planned[s]; c != nil {
			return c, nil
		}
		return w.last(s)
	}
	for i, e := range entries {
		if want := w.log.Size() + uint64(i) + 1; e.Seq != want {
			return steps, &store.EntryError{Seq: e.Seq, Reason: fmt.Sprintf("the next one is %d", want)}
		}
		step, err := store.Follow(e, last)
		if err != nil {
			return steps, err
		}
		w.value = codec.Append(w.value[:0], step.Next)
		if !step.Next.Redacted && codec.Digest(e.Salt, w.value) != e.Digest {
			return steps, &store.EntryError{Seq: e.Seq, Key: step.Subject.Key, Reason: "the digest is not that of the content"}
		}
		planned[step.Subject] = step.Next
		steps = append(steps, step)
	}
	return steps, nil
}

// begin makes the batch, one that can be read if something is redacted.
func (w *writer) begin(db *pebble.DB, steps []store.Step) {
	w.again = len(steps) > 1
	if slices.ContainsFunc(steps, func(s store.Step) bool { return len(s.Next.Redacts) > 0 }) {
		w.batch = db.NewIndexedBatch()
		return
	}
	w.batch = db.NewBatch()
}

// fill puts steps into the batch. The entries are those of the steps if they come
// from another store, else nil.
func (w *writer) fill(steps []store.Step, entries []*store.Entry) error {
	count := w.count
	for i, step := range steps {
		w.count += records(step.Next) - records(step.Last)
		var err error
		switch {
		case step.Subject.Kind == store.KindToken:
			err = w.set(appendKey(w.key[:0], step.Subject), codec.Append(w.value[:0], step.Next))
		case entries != nil:
			err = w.put(step, entries[i])
		default:
			err = w.put(step, &store.Entry{Salt: w.salts.next()}) // sealed anew
		}
		if err != nil {
			return err
		}
	}
	if w.count == count {
		return nil
	}
	return w.batch.Set([]byte(metaCount), encodeNumber(uint64(w.count)), nil)
}

// set keeps the buffers of key and value.
func (w *writer) set(key, value []byte) error {
	w.key, w.value = key, value
	return w.batch.Set(key, value, nil)
}

// put writes one step. Of the entry it takes the salt, or the digest of what was
// redacted.
func (w *writer) put(step store.Step, from *store.Entry) error {
	e, err := w.seal(step.Next, from)
	if err != nil {
		return err
	}
	if step.Last != nil {
		w.key = appendStamp(appendHistory(w.key[:0], step.Subject), step.Last.Time, step.Last.Revision())
		if err := w.batch.Set(w.key, w.raw[step.Subject], nil); err != nil {
			return err
		}
	}
	if err := w.set(appendKey(w.key[:0], step.Subject), codec.AppendSeal(w.value, e)); err != nil {
		return err
	}
	if w.again {
		w.raw[step.Subject] = bytes.Clone(w.value)
	}
	if err := w.index(step); err != nil {
		return err
	}
	return w.redact(step)
}

// seal gives a change its place in the log, with the salt of an entry; also with
// its digest, if it has a change and so comes from another store. The encoding is w.value afterwards.
func (w *writer) seal(c *store.Change, from *store.Entry) (*store.Entry, error) {
	e := &store.Entry{Seq: w.log.Size() + 1, Change: c, Salt: from.Salt, Digest: from.Digest}
	w.value = codec.Append(w.value[:0], c)
	if from.Change == nil {
		e.Digest = codec.Digest(e.Salt, w.value)
	}
	w.leaf = codec.AppendLeaf(w.leaf[:0], e)
	h := ledger.LeafHash(w.leaf)
	w.nodes = w.log.AppendHash(w.nodes[:0], h)
	for _, n := range w.nodes {
		w.key = appendNode(w.key[:0], n.Level, n.Index)
		if err := w.batch.Set(w.key, n.Hash[:], nil); err != nil {
			return nil, err
		}
	}
	row := logRow{subject: c.Subject(), revision: c.Revision(), time: c.Time, mark: [markSize]byte(h[:])}
	w.key = appendSeq(w.key[:0], e.Seq)
	w.leaf = row.append(w.leaf[:0])
	return e, w.batch.Set(w.key, w.leaf, nil)
}

// index keeps the locations of present content, and no others.
func (w *writer) index(step store.Step) error {
	before := urls(w.seen[0][:0], step.Last)
	after := urls(w.seen[1][:0], step.Next)
	w.seen[0], w.seen[1] = before, after
	n := name.FromKey(step.Subject.Key)
	for len(before) > 0 || len(after) > 0 {
		var err error
		switch {
		case len(after) == 0 || len(before) > 0 && before[0] < after[0]:
			w.key = appendPlace(w.key[:0], store.Place{URL: before[0], Name: n})
			err = w.batch.Delete(w.key, nil)
			before = before[1:]
		case len(before) == 0 || after[0] < before[0]:
			w.key = appendPlace(w.key[:0], store.Place{URL: after[0], Name: n})
			err = w.batch.Set(w.key, nil, nil)
			after = after[1:]
		default:
			before, after = before[1:], after[1:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// urls appends the URLs that a record has after c, in order, each once.
func urls(list []string, c *store.Change) []string {
	if c == nil || c.Record == nil {
		return list
	}
	for i := range c.Record.Locations {
		list = append(list, c.Record.Locations[i].URL)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// redact replaces the revisions that a step redacts, which are in the history by
// now, by what is left of them.
func (w *writer) redact(step store.Step) error {
	if len(step.Next.Redacts) == 0 {
		return nil
	}
	beginning := appendHistory(nil, step.Subject)
	it, err := w.batch.NewIter(&pebble.IterOptions{LowerBound: beginning, UpperBound: successor(bytes.Clone(beginning))})
	if err != nil {
		return err
	}
	v := &view{it: it, format: formatVersion}
	defer v.close()
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		if !isHistory(key, beginning) {
			continue
		}
		revision := ^binary.BigEndian.Uint64(key[len(key)-8:])
		if _, found := slices.BinarySearch(step.Next.Redacts, revision); !found {
			continue
		}
		if err := w.remove(v, step.Subject); err != nil {
			return err
		}
	}
	w.scrub = append(w.scrub, span{beginning, successor(bytes.Clone(beginning))}, keySpan(appendKey(nil, step.Subject)))
	return v.failure(step.Subject.Key)
}

// remove redacts the entry that v stands on.
func (w *writer) remove(v *view, s store.Subject) error {
	e, err := v.entry(s)
	if err != nil || e.Change.Redacted {
		return err
	}
	for _, url := range urls(nil, e.Change) {
		w.scrub = append(w.scrub, keySpan(appendPlace(nil, store.Place{URL: url, Name: name.FromKey(s.Key)})))
	}
	e.Change = e.Change.Redact()
	w.value = codec.AppendEntry(w.value[:0], e)
	return w.batch.Set(bytes.Clone(v.it.Key()), w.value, nil)
}

// salts gives out random salts.
type salts struct{ left []byte }

func (s *salts) next() (salt [store.SaltSize]byte) {
	if len(s.left) < store.SaltSize {
		s.left = make([]byte, 256*store.SaltSize)
		_, _ = rand.Read(s.left) // it never fails
	}
	copy(salt[:], s.left)
	s.left = s.left[store.SaltSize:]
	return salt
}
