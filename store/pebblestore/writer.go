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
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A writer writes the steps ([store.Step]) of batches to the database: to the records, the history,
// the log, the Merkle tree and the index of locations. It reuses memory between batches. Only the
// goroutine decide uses the writer.
type writer struct {
	view  cursor
	plan  store.Planner
	reads *reads

	request *request   // the request being planned
	watch   *stopwatch // stopwatch of the request
	turn    *pacer.Turn

	batch  *pebble.Batch
	apart  []*pebble.Batch // batches for the parts of a long batch, which are added to batch after the last step
	parts                  // where to write everything except the content: batch, or a batch of apart
	size   int             // bytes per step, as in the last batch
	salts  salts
	log    ledger.Log
	count  int64
	format uint64                   // version of the format when last read; 0 if not read yet
	raw    map[*store.Change][]byte // encodings of the changes that the method last has returned
	scrub  []span

	entries    []store.Entry // entries of the steps
	grown      []ledger.Node // nodes that the step has added to the tree
	key, value []byte
	leaf       []byte
	seen       [2][]string // URLs in the index before and after a step
}

// A parts contains the batches to which the parts of a batch are written.
type parts struct {
	past  *pebble.Batch // the history
	rows  *pebble.Batch // the log
	nodes *pebble.Batch // the tree
	added *pebble.Batch // keys added to the index
	gone  *pebble.Batch // keys removed from the index
}

func together(b *pebble.Batch) parts { return parts{b, b, b, b, b} }

func (w *writer) reset() {
	w.plan.Reset()
	clear(w.raw)
	clear(w.entries)
	if cap(w.entries) > maxEntries {
		w.entries = nil
	}
	for _, b := range w.apart {
		_ = b.Close() // it closes only a buffer
	}
	clear(w.apart)
	w.batch, w.parts, w.apart, w.scrub, w.entries, w.request, w.watch = nil, parts{}, w.apart[:0], nil, w.entries[:0], nil, nil
	w.turn = nil
}

const maxEntries = 8192

func (w *writer) last(s store.Subject) (*store.Change, error) {
	w.touch()
	if c, raw := w.reads.take(s); c != nil {
		w.keepRaw(c, raw)
		return c, nil
	}
	found := false
	if err := w.request.waiting(func() error { found = w.view.seek(s); return nil }); err != nil {
		return nil, err
	}
	if !found {
		return nil, w.view.failure(s.Key)
	}
	c, err := w.view.change(s)
	if err == nil && s.Kind != store.KindToken {
		w.keepRaw(c, bytes.Clone(w.view.it.Value()))
	}
	return c, err
}

// touch restarts the time limit of the batch. If the batch is background work, touch may also
// pause.
func (w *writer) touch() {
	w.turn.Rest(nil)
	w.watch.touch()
}

func (w *writer) keepRaw(c *store.Change, raw []byte) {
	if w.raw == nil {
		w.raw = map[*store.Change][]byte{}
	}
	w.raw[c] = raw
}

// follow plans the loading of entries of another store. Each entry must follow the previous entry,
// and its number and digest must be correct. If an entry is wrong, follow returns the steps for the
// previous entries and the error.
func (w *writer) follow(entries []*store.Entry) ([]store.Step, error) {
	steps := make([]store.Step, 0, len(entries))
	planned := map[store.Subject]int{} // number of the last step of each subject, from 1
	last := func(s store.Subject) (*store.Change, error) {
		if n := planned[s]; n > 0 {
			return steps[n-1].Next, nil
		}
		return w.last(s)
	}
	for i, e := range entries {
		if want := w.log.Size() + uint64(i) + 1; e.Seq != want {
			return steps, &store.EntryError{Seq: e.Seq, Reason: fmt.Sprintf("expected change %d", want)}
		}
		step, err := store.Follow(e, last)
		if err != nil {
			return steps, err
		}
		if w.value, err = codec.CheckDigest(w.value, e, step.Next); err != nil {
			return steps, err
		}
		step.Prior = planned[step.Subject]
		steps = append(steps, step)
		planned[step.Subject] = len(steps)
	}
	return steps, nil
}

// Buffer sizes in bytes: the initial buffer of a batch for each step, the initial buffer of a
// separate part for each step, and the maximum buffer that is kept for later batches.
const (
	firstSize = 512
	partSize  = 128
	keptSize  = 8 << 20
)

// A batch of at least longBatch steps is first written to separate batches, one for each part.
// Successive keys of the combined batch are then close together, which makes insertion into the
// memtable faster.
const longBatch = 32

// begin creates the batch for the steps. If a step redacts content, it creates an indexed batch,
// from which redact can read.
func (w *writer) begin(db *pebble.DB, steps []store.Step) {
	if slices.ContainsFunc(steps, func(s store.Step) bool { return len(s.Next.Redacts) > 0 }) {
		w.batch = db.NewIndexedBatch()
	} else {
		w.batch = newBatch(db, len(steps)*max(w.size, firstSize)+1024)
	}
	w.parts = together(w.batch)
	again := func(s store.Step) bool { return s.Prior > 0 || len(s.Next.Redacts) > 0 } // such a step can write the same key again
	if len(steps) >= longBatch && !slices.ContainsFunc(steps, again) {
		part := func() *pebble.Batch {
			w.apart = append(w.apart, newBatch(db, len(steps)*partSize))
			return w.apart[len(w.apart)-1]
		}
		w.parts = parts{part(), part(), part(), part(), part()}
	}
}

func newBatch(db *pebble.DB, size int) *pebble.Batch {
	return db.NewBatch(pebble.WithInitialSizeBytes(size), pebble.WithMaxRetainedSizeBytes(keptSize))
}

// fill adds the steps to the batch. For steps that come from another store, the parameter entries
// contains the entries of that store.
func (w *writer) fill(steps []store.Step, entries []*store.Entry) error {
	count := w.count
	w.entries = slices.Grow(w.entries, len(steps))[:len(steps)]
	for i, step := range steps {
		w.touch()
		w.count += step.Next.Records() - step.Last.Records()
		var err error
		switch e := &w.entries[i]; {
		case step.Subject.Kind == store.KindToken:
			err = w.set(appendKey(w.key[:0], step.Subject), codec.Append(w.value[:0], step.Next))
		case entries != nil:
			e.Salt, e.Digest = entries[i].Salt, entries[i].Digest
			err = w.put(step, e, true)
		default:
			e.Salt = w.salts.next()
			err = w.put(step, e, false)
		}
		if err != nil {
			return err
		}
	}
	for _, part := range w.apart {
		if part.Empty() {
			continue
		}
		if err := w.batch.Apply(part, nil); err != nil {
			return err
		}
	}
	w.size = w.batch.Len() / len(steps)
	if w.count == count {
		return nil
	}
	w.value = binary.AppendUvarint(w.value[:0], uint64(w.count))
	return w.batch.Set([]byte(metaCount), w.value, nil)
}

func formatOf(steps []store.Step) uint64 {
	format := uint64(formatNoUsers)
	for i := range steps {
		switch {
		case steps[i].Next.Split:
			return formatVersion
		case steps[i].Subject.Kind == store.KindTokenRights:
			format = formatRights
		case steps[i].Next.HasValues():
			format = max(format, formatValues)
		case steps[i].Subject.Kind == store.KindUser:
			format = max(format, formatUsers)
		}
	}
	return format
}

// raise adds a new version of the format to the batch if the steps need a later version. Programs
// of earlier versions can therefore open the store as long as it contains only what they support.
func (w *writer) raise(db *database, steps []store.Step) error {
	need := formatOf(steps)
	if need <= max(w.format, formatNoUsers) {
		return nil
	}
	if err := w.readFormat(db); err != nil || need <= w.format {
		return err
	}
	return w.batch.Set([]byte(metaFormat), encodeNumber(need), nil)
}

func (w *writer) readFormat(db *database) (err error) {
	w.format, _, err = number(db.DB, metaFormat)
	return err
}

// split enables split digests for the steps if they are enabled for the store.
func (w *writer) split(db *database, steps []store.Step) error {
	if w.format == 0 {
		if err := w.readFormat(db); err != nil {
			return err
		}
	}
	if w.format >= formatVersion {
		store.SplitDigests(steps)
	}
	return nil
}

// set adds a key and a value to the batch, and keeps the buffers for the next call.
func (w *writer) set(key, value []byte) error {
	w.key, w.value = key, value
	return w.batch.Set(key, value, nil)
}

// put adds a step to the batch. If sealed is true, the entry e already has the salt and the digest.
func (w *writer) put(step store.Step, e *store.Entry, sealed bool) error {
	if step.Last != nil {
		if err := w.keep(step); err != nil {
			return err
		}
	}
	e.Change = step.Next
	if err := w.seal(e, sealed); err != nil {
		return err
	}
	if err := w.set(appendKey(w.key[:0], step.Subject), codec.AppendSeal(w.value, e)); err != nil {
		return err
	}
	if err := w.locate(step); err != nil {
		return err
	}
	return w.redact(step)
}

// keep moves the change that the step replaces to the history.
func (w *writer) keep(step store.Step) error {
	w.key = appendStamp(appendHistory(w.key[:0], step.Subject), step.Last.Time, step.Last.Revision())
	if step.Prior == 0 {
		return w.past.Set(w.key, w.raw[step.Last], nil)
	}
	w.value = codec.AppendEntry(w.value[:0], &w.entries[step.Prior-1])
	return w.past.Set(w.key, w.value, nil)
}

// seal appends an entry to the log. It computes the digest unless sealed is true, and leaves the
// encoded change in w.value.
func (w *writer) seal(e *store.Entry, sealed bool) error {
	c := e.Change
	e.Seq = w.log.Size() + 1
	w.value = codec.Append(w.value[:0], c)
	if !sealed {
		e.Digest = codec.Digest(e.Salt, w.value)
	}
	w.leaf = codec.AppendLeaf(w.leaf[:0], e)
	h := ledger.LeafHash(w.leaf)
	w.grown = w.log.AppendHash(w.grown[:0], h)
	for _, n := range w.grown {
		w.key = appendNode(w.key[:0], n.Level, n.Index)
		if err := w.nodes.Set(w.key, n.Hash[:], nil); err != nil {
			return err
		}
	}
	row := logRow{subject: c.Subject(), revision: c.Revision(), time: c.Time, mark: [markSize]byte(h[:])}
	w.key = appendSeq(w.key[:0], e.Seq)
	w.leaf = row.append(w.leaf[:0])
	return w.rows.Set(w.key, w.leaf, nil)
}

// locate updates the index of locations for a step.
func (w *writer) locate(step store.Step) error {
	before := step.Last.AppendIndexed(w.seen[0][:0])
	after := step.Next.AppendIndexed(w.seen[1][:0])
	w.seen[0], w.seen[1] = before, after
	n := name.FromKey(step.Subject.Key)
	for len(before) > 0 || len(after) > 0 {
		var err error
		switch {
		case len(after) == 0 || len(before) > 0 && before[0] < after[0]:
			err = w.gone.Delete(w.place(before[0], n), nil)
			before = before[1:]
		case len(before) == 0 || after[0] < before[0]:
			err = w.added.Set(w.place(after[0], n), nil, nil)
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

// place returns the key of a place in the index, which is valid until w.key changes.
func (w *writer) place(url string, n name.Name) []byte {
	w.key = appendPlace(w.key[:0], store.Place{URL: url, Name: n})
	return w.key
}

// redact replaces the revisions that a step redacts, which are in the history, by their redacted
// form.
func (w *writer) redact(step store.Step) error {
	if len(step.Next.Redacts) == 0 {
		return nil
	}
	beginning := appendHistory(nil, step.Subject)
	it, err := w.batch.NewIter(&pebble.IterOptions{LowerBound: beginning, UpperBound: successor(bytes.Clone(beginning))})
	if err != nil {
		return err
	}
	v := &view{it: it}
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

func (w *writer) remove(v *view, s store.Subject) error {
	e, err := v.entry(s)
	if err != nil || e.Change.Redacted {
		return err
	}
	for _, url := range e.Change.AppendIndexed(nil) {
		w.scrub = append(w.scrub, keySpan(appendPlace(nil, store.Place{URL: url, Name: name.FromKey(s.Key)})))
	}
	e.Change = e.Change.Redact()
	w.value = codec.AppendEntry(w.value[:0], e)
	return w.batch.Set(bytes.Clone(v.it.Key()), w.value, nil)
}

type salts struct {
	drawn [256 * store.SaltSize]byte
	left  []byte
}

func (s *salts) next() (salt [store.SaltSize]byte) {
	if len(s.left) == 0 {
		_, _ = rand.Read(s.drawn[:]) // Read never fails
		s.left = s.drawn[:]
	}
	copy(salt[:], s.left)
	s.left = s.left[store.SaltSize:]
	return salt
}
