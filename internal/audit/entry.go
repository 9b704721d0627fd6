package audit

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// A Proof proves that an entry is in the log that has a certain head (RFC 6962, section 2.1.1).
type Proof struct {
	Entry  *store.Entry
	Head   store.Head
	Hashes [][32]byte
}

// Check returns an error if the hashes do not prove that the log contains the entry, or if the
// digest of the entry does not match its content. The content of a redacted entry cannot be
// checked. The error is a [*store.EntryError] if the content does not match, and otherwise
// [ledger.ErrProof].
func (p Proof) Check() error {
	if err := ledger.CheckInclusion(p.Hashes, p.Head, p.Entry.Seq, codec.AppendLeaf(nil, p.Entry)); err != nil {
		return err
	}
	_, err := codec.CheckDigest(nil, p.Entry, p.Entry.Change)
	return err
}

// Prove returns the proof that the log of a store, when it had the given size, contained the entry
// with the number seq. The log must have at least this size now.
func Prove(ctx context.Context, s Source, size, seq uint64) (Proof, error) {
	hashes, err := s.ProveEntry(ctx, size, seq)
	if err != nil {
		return Proof{}, err
	}
	head, err := HeadOf(ctx, s, size)
	if err != nil {
		return Proof{}, err
	}
	e, err := entry(ctx, s, seq)
	if err == nil && e == nil {
		err = missing(seq)
	}
	return Proof{e, head, hashes}, err
}

// HeadOf returns the head that the log of a store had when it had the given size. The log must have
// at least this size now.
func HeadOf(ctx context.Context, s Source, size uint64) (store.Head, error) {
	end, err := s.Head(ctx)
	switch {
	case err != nil || size == end.Size:
		return end, err
	case size > end.Size:
		return store.Head{}, fmt.Errorf("the log has only %d changes", end.Size)
	case size == 0:
		return store.Head{}, nil
	}
	a := &auditor{Source: s, end: end}
	log, err := a.logOf(ctx, size)
	if err != nil {
		return store.Head{}, err
	}
	return log.Head(), nil
}

// SizeAt returns the number of changes that the log of a store had at a time. It reads only a few
// entries. If several servers write to the store, the accuracy depends on their clocks.
func SizeAt(ctx context.Context, f store.Feed, at time.Time) (uint64, error) {
	end, err := f.Head(ctx)
	if err != nil {
		return 0, err
	}
	var failed error
	later := func(i int) bool { // whether the entry with the number i+1 is later
		if failed != nil {
			return true
		}
		e, err := entry(ctx, f, uint64(i)+1)
		if err == nil && e == nil {
			err = missing(uint64(i) + 1)
		}
		if err != nil {
			failed = err
			return true
		}
		return e.Change.Time.After(at)
	}
	n := sort.Search(int(end.Size), later)
	return uint64(n), failed
}

func entry(ctx context.Context, f store.Feed, seq uint64) (*store.Entry, error) {
	if seq == 0 {
		return nil, errors.New("the first change has the number 1")
	}
	for e, err := range f.Changes(ctx, seq-1) {
		if err == nil && e.Seq != seq {
			err = missing(seq)
		}
		return e, err
	}
	return nil, nil
}

func missing(seq uint64) error {
	return &codec.CorruptError{Key: "log", Reason: fmt.Sprintf("change %d is missing", seq)}
}
