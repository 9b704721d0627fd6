package memstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"iter"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// A sealed log is the one order of changes. Entries are never changed; a
// redaction puts another in their place.
type sealed struct {
	entries []*store.Entry
	tree    ledger.Log
	nodes   map[place]ledger.Hash
	buf     []byte
}

// A place is that of a node of the tree.
type place struct {
	level int
	index uint64
}

// seal adds a change and returns its place.
func (l *sealed) seal(c *store.Change) uint64 {
	e := &store.Entry{Seq: uint64(len(l.entries)) + 1, Change: c}
	_, _ = rand.Read(e.Salt[:]) // it never fails
	l.buf = codec.Append(l.buf[:0], c)
	e.Digest = codec.Digest(e.Salt, l.buf)
	l.add(e)
	return e.Seq
}

// add adds an entry that has all it needs.
func (l *sealed) add(e *store.Entry) {
	l.entries = append(l.entries, e)
	l.buf = codec.AppendLeaf(l.buf[:0], e)
	for _, n := range l.tree.Append(nil, l.buf) {
		l.nodes[place{n.Level, n.Index}] = n.Hash
	}
}

// redact puts what is left of a change in its place.
func (l *sealed) redact(seq uint64, left *store.Change) {
	l.entries[seq-1] = &store.Entry{Seq: seq, Change: left, Digest: l.entries[seq-1].Digest}
}

// Node implements [ledger.Source].
func (l *sealed) Node(level int, index uint64) (ledger.Hash, error) {
	h, ok := l.nodes[place{level, index}]
	if !ok {
		return h, fmt.Errorf("memstore: node %d of level %d of the log is missing", index, level)
	}
	return h, nil
}

// Leaves implements [ledger.Source].
func (l *sealed) Leaves(from, to uint64) iter.Seq2[ledger.Hash, error] {
	return func(yield func(ledger.Hash, error) bool) {
		var leaf []byte
		for _, e := range l.entries[from:to] {
			leaf = codec.AppendLeaf(leaf[:0], e)
			if !yield(ledger.LeafHash(leaf), nil) {
				return
			}
		}
	}
}

// Changes implements [store.Feed]. An entry that is redacted while it runs comes
// as it is when its turn comes.
func (s *Store) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		head, err := s.Head(ctx)
		for seq := after; err == nil && seq < head.Size; seq++ {
			if err = ctx.Err(); err == nil && !yield(s.entry(seq), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// entry returns a copy of the entry at a place from 0.
func (s *Store) entry(i uint64) *store.Entry {
	s.mu.RLock()
	e := *s.log.entries[i]
	s.mu.RUnlock()
	e.Change = e.Change.Clone()
	return &e
}

// Head implements [store.Feed].
func (s *Store) Head(ctx context.Context) (store.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return store.Head{}, err
	}
	return s.log.tree.Head(), nil
}

// ProveEntry implements [store.Prover].
func (s *Store) ProveEntry(ctx context.Context, size, seq uint64) ([][32]byte, error) {
	return s.prove(ctx, size, func() ([][32]byte, error) { return ledger.ProveInclusion(&s.log, size, seq) })
}

// ProveHead implements [store.Prover].
func (s *Store) ProveHead(ctx context.Context, later, earlier uint64) ([][32]byte, error) {
	return s.prove(ctx, later, func() ([][32]byte, error) { return ledger.ProveConsistency(&s.log, later, earlier) })
}

func (s *Store) prove(ctx context.Context, size uint64, prove func() ([][32]byte, error)) ([][32]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if n := s.log.tree.Size(); size > n {
		return nil, fmt.Errorf("memstore: the log has %d entries, not %d", n, size)
	}
	return prove()
}

// Load implements [store.Loader].
func (s *Store) Load(ctx context.Context, entries iter.Seq2[*store.Entry, error]) error {
	given := uint64(0)
	for e, err := range entries {
		if err == nil {
			err = s.load(ctx, given+1, e)
		}
		if err != nil {
			return err
		}
		given++
	}
	head, err := s.Head(ctx)
	if err == nil && head.Size > given {
		err = &store.EntryError{Seq: given + 1, Reason: "the store has it, and was not given it"}
	}
	return err
}

// load adds one entry, which should have this place, unless it is there already.
func (s *Store) load(ctx context.Context, seq uint64, e *store.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if e.Seq != seq {
		return &store.EntryError{Seq: e.Seq, Reason: fmt.Sprintf("the next one is %d", seq)}
	}
	if seq <= s.log.tree.Size() {
		return s.log.same(e)
	}
	step, err := store.Follow(e, s.last)
	if err != nil {
		return err
	}
	if err := s.log.load(e, step); err != nil {
		return err
	}
	s.moment++
	s.add(step, seq)
	return nil
}

// load adds an entry of another log, whose step is given.
func (l *sealed) load(e *store.Entry, step store.Step) error {
	kept := &store.Entry{Seq: e.Seq, Change: step.Next, Digest: e.Digest}
	if !step.Next.Redacted {
		kept.Salt = e.Salt
		l.buf = codec.Append(l.buf[:0], step.Next)
		if codec.Digest(e.Salt, l.buf) != e.Digest {
			return &store.EntryError{Seq: e.Seq, Key: step.Subject.Key, Reason: "the digest is not that of the content"}
		}
	}
	l.add(kept)
	return nil
}

// same returns an error unless e is the entry that is there.
func (l *sealed) same(e *store.Entry) error {
	if e.Change != nil && e.Change.Token == nil {
		l.buf = codec.AppendLeaf(l.buf[:0], e)
		if bytes.Equal(l.buf, codec.AppendLeaf(nil, l.entries[e.Seq-1])) {
			return nil
		}
	}
	key := l.entries[e.Seq-1].Change.Subject().Key
	return &store.EntryError{Seq: e.Seq, Key: key, Reason: "the store has another one in its place"}
}
