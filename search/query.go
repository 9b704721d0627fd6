package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Limits on a page of results.
const (
	maxSteps = 200_000 // reads of the index
	maxReads = 2000    // records read from the store
	minStem  = 2       // characters that an incomplete word needs
)

// A terms is a parsed query.
type terms struct {
	words  [][]byte // a name must have all of them
	stem   []byte   // an incomplete word, with which a word of a name must begin; may be nil
	status [][]byte // a name must have one of these words for statuses; nil means any status
}

// parse splits the text of a query into words.
func parse(q *store.Query) (*terms, error) {
	t := &terms{}
	split := splitter{left: maxWords}
	split.emit = func(word []byte) { t.words = append(t.words, bytes.Clone(word)) }
	split.text(q.Text)
	switch {
	case len(t.words) == 0:
		return nil, store.ErrNoWords
	case len(t.words) > store.MaxQueryWords:
		return nil, store.ErrTooManyWords
	}
	if last := t.words[len(t.words)-1]; utf8.RuneCount(last) >= minStem {
		t.stem, t.words = last, t.words[:len(t.words)-1]
	}
	slices.SortFunc(t.words, func(a, b []byte) int { return len(b) - len(a) }) // longer words are usually rarer
	t.words = slices.CompactFunc(t.words, bytes.Equal)
	for _, s := range q.Status {
		t.status = append(t.status, []byte(statusWord(s)))
	}
	return t, nil
}

func (t *terms) match(r *store.Record) bool {
	found, stem, status := make([]bool, len(t.words)), t.stem == nil, t.status == nil
	s := splitter{emit: func(word []byte) {
		for i, w := range t.words {
			found[i] = found[i] || bytes.Equal(w, word)
		}
		stem = stem || bytes.HasPrefix(word, t.stem)
		status = status || slices.ContainsFunc(t.status, func(w []byte) bool { return bytes.Equal(w, word) })
	}}
	s.record(r)
	return stem && status && !slices.Contains(found, false)
}

// Search implements [store.Searcher].
func (x *Index) Search(ctx context.Context, q store.Query) (store.QueryPage, error) {
	t, err := parse(&q)
	if err != nil {
		return store.QueryPage{}, err
	}
	if q.Limit <= 0 || q.Limit > store.MaxQueryPage {
		q.Limit = store.MaxQueryPage
	}
	snap, segments, err := x.snapshot()
	if err != nil {
		return store.QueryPage{}, err
	}
	defer x.using.Done()
	defer snap.Close()
	it, err := snap.NewIter(nil)
	if err != nil {
		return store.QueryPage{}, err
	}
	defer it.Close()
	s := &searching{ctx: ctx, q: &q, t: t, it: it, segments: segments, source: x.o.Store, steps: x.o.steps, reads: maxReads, last: q.After}
	if err := s.run(); err != nil {
		if s.outside == nil && (errors.Is(err, errForm) || pebble.IsCorruptionError(err)) {
			x.damaged.Store(true)
		}
		return store.QueryPage{}, err
	}
	return s.page, nil
}

func (x *Index) snapshot() (*pebble.Snapshot, segments, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	switch {
	case x.closed:
		return nil, nil, ErrClosed
	case x.db == nil:
		return nil, nil, fmt.Errorf("%w because its disk has failed", store.ErrNoIndex)
	}
	x.using.Add(1)
	return x.db.NewSnapshot(), x.segments, nil
}

type searching struct {
	ctx      context.Context
	q        *store.Query
	t        *terms
	it       *pebble.Iterator
	segments segments
	source   store.Reader
	steps    int // how many reads of the index are left
	reads    int // how many reads of records are left

	key  []byte
	part set      // for the names with one word
	keys []string // candidates whose records have not been read
	last string   // last candidate
	done string   // last candidate whose record was read
	page store.QueryPage

	outside error // error of the store
}

// run searches the spans of the query in order until the page is complete. A span is the set of
// keys with a certain prefix.
func (s *searching) run() error {
	spans := s.q.Spans
	if spans == nil {
		spans = []string{""}
	}
	for _, span := range spans {
		if err := s.span(span); err != nil || s.page.Next != "" {
			return err
		}
	}
	return nil
}

func (s *searching) span(begin string) error {
	after := s.q.After
	if after > begin && !strings.HasPrefix(after, begin) {
		return nil // the span comes before the page
	}
	for i := s.segments.at(max(after, begin)); i < len(s.segments); i++ {
		if g := &s.segments[i]; g.after > begin && !strings.HasPrefix(g.after, begin) {
			return nil // the segment comes after the span
		}
		if s.steps <= 0 && s.segments[i].after > max(s.q.After, begin) && s.may(s.segments[i].after) { // after at least one segment, so that each page makes progress
			s.page.Next = s.segments[i].after
			return nil
		}
		more, err := s.segment(i, begin)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// segment searches segment i. It returns false if the page is complete.
func (s *searching) segment(i int, begin string) (more bool, err error) {
	g := &s.segments[i]
	if err := s.ctx.Err(); err != nil {
		return false, err
	}
	if g.number == 0 {
		return true, nil
	}
	found, err := s.numbers(g)
	if err != nil || found == nil {
		return err == nil, err
	}
	return s.candidates(g, found, begin)
}

// numbers returns the numbers of the candidates in a segment. The candidates include all names that
// match the query, but may include other names. If there are no candidates, numbers returns nil.
func (s *searching) numbers(g *segment) (*set, error) {
	var all *set
	and := func(load func(*set) error) error {
		if all != nil {
			s.part = set{}
			if err := load(&s.part); err != nil {
				return err
			}
			all.and(&s.part)
			return nil
		}
		all = new(set)
		return load(all)
	}
	for _, w := range s.t.words {
		if err := and(func(into *set) error { return s.word(g, w, into) }); err != nil || all.size() == 0 {
			return nil, err
		}
	}
	if s.t.status != nil {
		if err := and(func(into *set) error { return s.statuses(g, into) }); err != nil || all.size() == 0 {
			return nil, err
		}
	}
	if s.t.stem != nil && (all == nil || all.size() > few) {
		if err := and(func(into *set) error { return s.stem(g, into) }); err != nil || all.size() == 0 {
			return nil, err
		}
	}
	return all, nil
}

// few is the maximum number of candidates for which a search ignores the incomplete word of the
// query in the index, and reads the records instead. For more candidates, looking up the incomplete
// word is faster.
const few = 8

func (s *searching) word(g *segment, word []byte, numbers *set) error {
	s.key = g.appendWord(s.key[:0], word)
	return s.collect(numbers)
}

func (s *searching) statuses(g *segment, into *set) error {
	for _, w := range s.t.status {
		if err := s.word(g, w, into); err != nil {
			return err
		}
	}
	return nil
}

// stem adds the numbers of names with a word that begins with the incomplete last word of the
// query.
func (s *searching) stem(g *segment, into *set) error {
	s.key = g.appendPrefix(s.key[:0], s.t.stem)
	return s.collect(into)
}

// collect adds the numbers from all entries of the database whose keys begin with s.key.
func (s *searching) collect(into *set) error {
	for ok := s.it.SeekGE(s.key); ok && bytes.HasPrefix(s.it.Key(), s.key); ok = s.it.Next() {
		s.steps--
		value, err := s.it.ValueAndErr()
		if err != nil {
			return err
		}
		if len(value) > 0 {
			if err := into.addStored(value); err != nil {
				return err
			}
			continue
		}
		key := s.it.Key()
		if len(key) < 2 {
			return errForm
		}
		into.add(binary.BigEndian.Uint16(key[len(key)-2:]))
	}
	s.steps -= seekSteps
	return s.it.Error()
}

const seekSteps = 20

// candidates reads the records of the names with these numbers, and adds the matching records to
// the page. It returns false if the page is complete.
func (s *searching) candidates(g *segment, found *set, begin string) (more bool, err error) {
	added, err := s.added(g, found, begin)
	if err != nil {
		return false, err
	}
	first, err := s.first(g, max(s.q.After, begin))
	if err != nil {
		return false, err
	}
	for n := range found.from(first) {
		if uint32(n) >= g.base {
			break
		}
		key, err := s.name(g, n)
		if err != nil {
			return false, err
		}
		if !strings.HasPrefix(key, begin) {
			break
		}
		before := sort.SearchStrings(added, key)
		if more, err := s.put(append(added[:before:before], key)); err != nil || !more {
			return false, err
		}
		added = added[before:]
	}
	if more, err := s.put(added); err != nil || !more {
		return false, err
	}
	return s.check()
}

// added returns the keys of the candidates that were changed after the segment was built, in
// ascending order.
func (s *searching) added(g *segment, found *set, begin string) (keys []string, err error) {
	for n := range found.from(int(g.base)) {
		key, err := s.name(g, n)
		if err != nil {
			return nil, err
		}
		if key > s.q.After && strings.HasPrefix(key, begin) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// checked is the maximum number of records that are read in one call of the store.
const checked = 100

// put adds candidates, whose keys must be in ascending order. It returns false if the page is
// complete.
func (s *searching) put(keys []string) (more bool, err error) {
	for _, key := range keys {
		if key <= s.last || !s.may(key) {
			continue // the name has two numbers, belongs to an earlier page, or is hidden from the caller
		}
		s.last = key
		if s.keys = append(s.keys, key); len(s.keys) < min(s.q.Limit+1, checked) {
			continue
		}
		if more, err := s.check(); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// may reports whether the client is allowed to see a key, as a result or as the end of a page.
func (s *searching) may(key string) bool { return s.q.May == nil || s.q.May(name.FromKey(key)) }

func (s *searching) name(g *segment, n uint16) (string, error) {
	s.key = g.appendName(s.key[:0], n)
	s.steps--
	if s.it.Valid() && bytes.Compare(s.it.Key(), s.key) < 0 && s.it.Next() && bytes.Equal(s.it.Key(), s.key) { // the next number is often the one to read
		return s.value()
	}
	s.steps -= seekSteps
	if s.it.SeekGE(s.key) && bytes.Equal(s.it.Key(), s.key) {
		return s.value()
	}
	return "", cmp.Or(s.it.Error(), errForm)
}

func (s *searching) value() (string, error) {
	value, err := s.it.ValueAndErr()
	return string(value), err
}

// first returns the number of the first name with at least the given key. It considers only names
// that had a number when the segment was built. If there is no such name, first returns g.base.
func (s *searching) first(g *segment, key string) (int, error) {
	if key <= g.after {
		return 0, nil
	}
	var failed error
	i := sort.Search(int(g.base), func(i int) bool {
		k, err := s.name(g, uint16(i))
		if err != nil {
			failed = err
		}
		return k >= key
	})
	return i, failed
}

// check reads the records of the candidates, and adds the matching ones to the page. It returns
// false if the page is complete.
func (s *searching) check() (more bool, err error) {
	keys := s.keys
	s.keys = s.keys[:0]
	if len(keys) == 0 {
		return true, nil
	}
	names := make([]name.Name, len(keys))
	for i, k := range keys {
		names[i] = name.FromKey(k)
	}
	records, err := store.Records(s.ctx, s.source, names, false)
	if err != nil {
		s.outside = err
		return false, err
	}
	for i, r := range records {
		if len(s.page.Records) == s.q.Limit {
			s.page.Next = s.done
			return false, nil
		}
		s.done = keys[i]
		if r != nil && s.t.match(r) {
			s.page.Records = append(s.page.Records, r)
		}
	}
	if s.reads -= len(keys); s.reads <= 0 || s.steps <= 0 {
		s.page.Next = s.done
		return false, nil
	}
	return true, nil
}
