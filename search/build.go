package search

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
)

// maxBatch is the size of a batch, in bytes, after which a writer applies the batch.
const maxBatch = 64 << 10

// A builder collects the names for a new segment, in the order of their keys.
type builder struct {
	keys  []string
	words map[string]int // word to index in lists
	lists [][]uint16     // for each word, the numbers of the names that have it
	size  int            // total length of lists
	bytes int            // total length of the words
	split splitter
}

func newBuilder() *builder {
	b := &builder{words: map[string]int{}}
	b.split.emit = b.add
	return b
}

func (b *builder) add(word []byte) {
	n := uint16(len(b.keys) - 1)
	i, ok := b.words[string(word)]
	switch {
	case !ok:
		b.words[string(word)] = len(b.lists)
		b.lists = append(b.lists, []uint16{n})
		b.bytes += len(word)
	case b.lists[i][len(b.lists[i])-1] != n:
		b.lists[i] = append(b.lists[i], n)
	default:
		return
	}
	b.size++
}

func (b *builder) record(r *store.Record) {
	b.keys = append(b.keys, r.Name.Key())
	b.split.record(r)
}

func (b *builder) full(names int) bool {
	return len(b.keys) >= names || b.size >= postings || b.bytes >= vocabular
}

// write writes the data of the segment without syncing. The next synced write to the database makes
// the data durable.
func (b *builder) write(ctx context.Context, db *pebble.DB, s *segment) error {
	w := writer{db: db, batch: db.NewBatch(), turn: pacer.Begin(ctx), done: ctx.Done()}
	defer func() { w.batch.Close() }()
	w.err = w.batch.DeleteRange(data(s.number), data(s.number+1), nil) // a build may have been interrupted
	var key, value []byte
	for i, name := range b.keys {
		key = s.appendName(key[:0], uint16(i))
		w.set(key, []byte(name))
	}
	for _, word := range w.sorted(b.words) {
		key = s.appendWord(key[:0], []byte(word))
		value = appendNumbers(value[:0], b.lists[b.words[word]])
		w.set(key, value)
	}
	w.flush()
	return w.err
}

// A writer splits a large write into batches. It stops at the first error.
type writer struct {
	db    *pebble.DB
	batch *pebble.Batch
	err   error
	turn  *pacer.Turn
	done  <-chan struct{} // when closed, stop resting
}

// compared is the number of comparisons between two calls of Rest while words are sorted.
const compared = 256

func (w *writer) sorted(words map[string]int) []string {
	list := slices.AppendSeq(make([]string, 0, len(words)), maps.Keys(words))
	n := 0
	slices.SortFunc(list, func(a, b string) int {
		if n++; n%compared == 0 {
			w.turn.Rest(w.done)
		}
		return strings.Compare(a, b)
	})
	return list
}

func (w *writer) set(key, value []byte) {
	w.turn.Rest(w.done)
	if w.err != nil {
		return
	}
	if w.err = w.batch.Set(key, value, nil); w.err == nil && w.batch.Len() >= maxBatch {
		w.flush()
	}
}

func (w *writer) flush() {
	if w.err == nil {
		w.err = w.db.Apply(w.batch, pebble.NoSync)
		w.batch.Reset()
	}
}

// rebuild replaces segment i by new segments, which it builds from the present records in the
// store. It builds at most limit segments. If the range of the segment has more names, they belong
// to another segment, which is pending: it has no data yet.
func (x *Index) rebuild(ctx context.Context, i, limit int) error {
	var made segments
	after, end, number := x.segments[i].after, x.segments.end(i), x.segments.next()
	for len(made) < limit {
		b := newBuilder()
		last, more, err := x.read(ctx, b, after, end)
		if err != nil {
			return err
		}
		g := segment{after: after, base: uint32(len(b.keys))}
		if len(b.keys) > 0 {
			g.number = number
			number++
			if err := b.write(ctx, x.db.DB, &g); err != nil {
				return err
			}
		}
		made = append(made, g)
		if after = last; !more {
			break
		}
		if len(made) == limit {
			made = append(made, segment{after: last, pending: true})
			break
		}
	}
	return x.commit(nil, x.position, x.segments.replaced(i, made))
}

// read adds the records with keys start < key <= end to a builder until the builder is full. If end
// is "", the range has no end. The result last is the last key that was added, and more reports
// whether more records follow in the range.
func (x *Index) read(ctx context.Context, b *builder, start, end string) (last string, more bool, err error) {
	last = start
	for rec, err := range x.o.Store.List(store.Fresh(ctx), store.Scan{After: start}) {
		if err != nil {
			return last, false, err
		}
		key := rec.Name.Key()
		if end != "" && key > end {
			break
		}
		if b.full(x.o.baseSize) {
			return last, true, nil
		}
		b.record(rec)
		last = key
	}
	return last, false, ctx.Err()
}

// chunk is how many changes are indexed at a time.
const chunk = 1024

// follow indexes the next changes of the log, at most chunk. The result more is false if the index
// is complete.
func (x *Index) follow(ctx context.Context) (more bool, err error) {
	list, err := x.changes(ctx)
	if err != nil || len(list) == 0 {
		return false, err
	}
	err = x.apply(ctx, list)
	return len(list) == chunk || x.segments.pending() >= 0, err
}

// changes returns the changes in the log after the position of the index, at most chunk.
func (x *Index) changes(ctx context.Context) (list []*store.Entry, err error) {
	for e, err := range x.o.Store.Changes(ctx, x.position.Seq) {
		if err != nil {
			return nil, err
		}
		if list = append(list, e); len(list) == chunk {
			break
		}
	}
	return list, nil
}

// apply adds changes to the index. It rebuilds segments that have too many changes. It also
// rebuilds segments in which content was redacted, and compacts the database, so that the redacted
// words disappear from the disk.
func (x *Index) apply(ctx context.Context, list []*store.Entry) error {
	last := list[len(list)-1]
	at := position{Version: version, Seq: last.Seq, Digest: last.Digest}
	changed := latestByName(list)
	redacted := x.again(changed)
	var erased []uint32
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(redacted))) { // backwards, so that positions stay valid
		number := x.segments[i].number
		maps.DeleteFunc(changed, func(key string, _ latest) bool { return x.segments.at(key) == i })
		if err := x.rebuild(ctx, i, maxRebuilt); err != nil {
			return err
		}
		if redacted[i] && number != 0 {
			erased = append(erased, number)
		}
	}
	if err := x.extend(ctx, changed, at); err != nil {
		return err
	}
	for _, n := range erased {
		if err := x.db.Compact(ctx, data(n), data(n+1), false); err != nil {
			return err
		}
	}
	return x.db.Err()
}

// maxRebuilt is the maximum number of segments that replace one segment when changes are indexed.
const maxRebuilt = 2

// A latest describes the changes of a name by the last change.
type latest struct {
	change *store.Change
	redact bool // one of the changes of the name redacts content
}

func latestByName(list []*store.Entry) map[string]latest {
	all := map[string]latest{}
	for _, e := range list {
		if s := e.Change.Subject(); s.Kind == store.KindName {
			all[s.Key] = latest{e.Change, all[s.Key].redact || len(e.Change.Redacts) > 0}
		}
	}
	return all
}

// again returns the segments to rebuild, by their position in x.segments. The value is true if
// content of the segment was redacted.
func (x *Index) again(all map[string]latest) map[int]bool {
	again, added := map[int]bool{}, map[int]int{}
	for key, l := range all {
		i := x.segments.at(key)
		if added[i]++; l.redact {
			again[i] = true
		}
	}
	for i, n := range added {
		g := &x.segments[i]
		if g.number == 0 || int(g.extra)+n > max(x.o.extraSize, x.o.baseSize-int(g.base)) {
			again[i] = again[i] || false
		}
	}
	return again
}

// extend assigns new numbers to changed names and adds them to their segments.
func (x *Index) extend(ctx context.Context, all map[string]latest, at position) error {
	turn := pacer.Begin(ctx)
	b := x.db.NewBatch()
	segments := slices.Clone(x.segments)
	var key []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		turn.Rest(ctx.Done())
		c, g := all[name].change, &segments[x.segments.at(name)]
		if c.Record == nil {
			continue // no record that a search could find
		}
		n := uint16(g.base + g.extra)
		g.extra++
		key = g.appendName(key[:0], n)
		err := b.Set(key, []byte(name), nil)
		s := splitter{emit: func(word []byte) {
			if err == nil {
				key = binary.BigEndian.AppendUint16(g.appendWord(key[:0], word), n)
				err = b.Set(key, nil, nil)
			}
		}}
		s.record(c.Record)
		if err != nil {
			b.Close()
			return err
		}
	}
	return x.commit(b, at, segments)
}
