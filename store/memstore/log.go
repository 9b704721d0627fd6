package memstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/store"
)

// A sealedLog is the log of changes. Entries are never modified; a redaction replaces them.
type sealedLog struct {
	entries []*store.Entry
	tree    ledger.Log
	nodes   map[place]ledger.Hash
	buf     []byte
}

// A place is the position of a node in the tree.
type place struct {
	level int
	index uint64
}

func (l *sealedLog) seal(c *store.Change) uint64 {
	e := &store.Entry{Seq: uint64(len(l.entries)) + 1, Change: c}
	_, _ = rand.Read(e.Salt[:]) // Read never fails
	l.buf = codec.Append(l.buf[:0], c)
	e.Digest = codec.Digest(e.Salt, l.buf)
	l.add(e)
	return e.Seq
}

func (l *sealedLog) add(e *store.Entry) {
	l.entries = append(l.entries, e)
	l.buf = codec.AppendLeaf(l.buf[:0], e)
	for _, n := range l.tree.Append(nil, l.buf) {
		l.nodes[place{n.Level, n.Index}] = n.Hash
	}
}

func (l *sealedLog) redact(seq uint64, left *store.Change) {
	l.entries[seq-1] = &store.Entry{Seq: seq, Change: left, Digest: l.entries[seq-1].Digest}
}

func (l *sealedLog) Node(level int, index uint64) (ledger.Hash, error) {
	h, ok := l.nodes[place{level, index}]
	if !ok {
		return h, fmt.Errorf("memstore: node %d of level %d of the log is missing", index, level)
	}
	return h, nil
}

func (l *sealedLog) Leaves(from, to uint64) iter.Seq2[ledger.Hash, error] {
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

// Changes implements [store.Feed]. If an entry is redacted during the loop, it may be yielded with
// or without its content.
func (s *Store) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return reading.Seq(func(yield func(*store.Entry, error) bool) error {
		head, err := s.Head(ctx)
		for seq := after; err == nil && seq < head.Size; seq++ {
			if err = ctx.Err(); err == nil && !yield(s.entry(seq), nil) {
				return nil
			}
		}
		return err
	})
}

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
		return nil, fmt.Errorf("memstore: the log has %d entries, fewer than %d", n, size)
	}
	return prove()
}

// Leaves implements [store.TreeReader].
func (s *Store) Leaves(ctx context.Context, after, end uint64) iter.Seq2[[]byte, error] {
	return reading.Seq(func(yield func([]byte, error) bool) error {
		var leaf []byte
		seq := after
		for e, err := range s.Changes(ctx, after) {
			if err != nil {
				return err
			}
			if e.Seq > end {
				break
			}
			leaf, seq = codec.AppendLeaf(leaf[:0], e), e.Seq
			if !yield(leaf, nil) {
				return nil
			}
		}
		if seq < end {
			return fmt.Errorf("memstore: the log has %d entries, fewer than %d", seq, end)
		}
		return nil
	})
}

// Nodes implements [store.TreeReader].
func (s *Store) Nodes(ctx context.Context, level int, first, end uint64) ([][32]byte, error) {
	return s.prove(ctx, 0, func() ([][32]byte, error) { return ledger.Nodes(&s.log, s.log.tree.Size(), level, first, end) })
}

// EntryOf implements [store.TreeReader].
func (s *Store) EntryOf(ctx context.Context, subject store.Subject, revision uint64) (*store.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if subject.Kind == store.KindToken || s.tables[subject.Kind] == nil {
		return nil, store.ErrNotFound
	}
	versions := s.tables[subject.Kind].versions[subject.Key]
	if revision == 0 || revision > uint64(len(versions)) {
		return nil, store.ErrNotFound
	}
	e := *s.log.entries[versions[revision-1].seq-1]
	e.Change = e.Change.Clone()
	return &e, nil
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
		err = &store.EntryError{Seq: given + 1, Reason: "the store has more changes than were given"}
	}
	return err
}

// load adds the entry e, whose number must be seq. If the log already has an entry with this
// number, load compares the two entries.
func (s *Store) load(ctx context.Context, seq uint64, e *store.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if e.Seq != seq {
		return &store.EntryError{Seq: e.Seq, Reason: fmt.Sprintf("expected change %d", seq)}
	}
	if seq <= s.log.tree.Size() {
		return codec.CheckSame(e, s.log.entries[seq-1])
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

func (l *sealedLog) load(e *store.Entry, step store.Step) error {
	kept := &store.Entry{Seq: e.Seq, Change: step.Next, Digest: e.Digest}
	if !step.Next.Redacted {
		kept.Salt = e.Salt
	}
	var err error
	if l.buf, err = codec.CheckDigest(l.buf, e, step.Next); err == nil {
		l.add(kept)
	}
	return err
}
