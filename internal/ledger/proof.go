package ledger

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/nomen-project/nomen/store"
)

const maxNodes = 1 << 16

// ErrProof says that a proof is invalid.
var ErrProof = errors.New("ledger: invalid proof")

// A reader reads the hashes of a log for package tlog.
type reader struct {
	src    Source
	size   uint64
	window uint64 // index of the window whose leaves are cached
	leaves []Hash // hashes of the leaves in that window; nil if no window is cached
}

// Reader returns a reader for the hashes of a log at the given size. It caches 256 leaves, and must
// not be used concurrently.
func Reader(src Source, size uint64) tlog.HashReader { return &reader{src: src, size: size} }

func (r *reader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		h, err := r.node(level, uint64(n))
		if err != nil {
			return nil, err
		}
		hashes[i] = h
	}
	return hashes, nil
}

func (r *reader) node(level int, n uint64) (Hash, error) {
	if level >= MinLevel {
		return r.src.Node(level, n)
	}
	first := n << level
	if err := r.load(first / window); err != nil {
		return Hash{}, err
	}
	first %= window
	if last := first + 1<<level; last > uint64(len(r.leaves)) {
		return Hash{}, fmt.Errorf("ledger: entry %[2]d is beyond the %[1]d entries of the log", r.size, r.window*window+last)
	}
	return root(r.leaves[first : first+1<<level]), nil
}

func (r *reader) load(n uint64) error {
	if r.leaves != nil && r.window == n {
		return nil
	}
	leaves := make([]Hash, 0, window)
	for h, err := range r.src.Leaves(n*window, min((n+1)*window, r.size)) {
		if err != nil {
			return err
		}
		leaves = append(leaves, h)
	}
	r.window, r.leaves = n, leaves
	return nil
}

// root returns the root of the tree over the leaves. The number of leaves must be a power of two.
func root(leaves []Hash) Hash {
	level := append([]Hash(nil), leaves...)
	for len(level) > 1 {
		half := level[:len(level)/2]
		for i := range half {
			half[i] = tlog.NodeHash(level[2*i], level[2*i+1])
		}
		level = half
	}
	return level[0]
}

// Nodes returns the hashes of the nodes first <= i < end of a level, in a log of the given size.
// The level must be at least [MinLevel].
func Nodes(src Source, size uint64, level int, first, end uint64) ([]Hash, error) {
	if level < MinLevel || level > 63 || first > end || end > size>>level || end-first > maxNodes {
		return nil, fmt.Errorf("ledger: a log of %d entries does not have the nodes %d to %d of level %d", size, first, end, level)
	}
	hashes := make([]Hash, 0, end-first)
	for n := first; n < end; n++ {
		h, err := src.Node(level, n)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, h)
	}
	return hashes, nil
}

// ProveInclusion returns the proof that the log of the given size contains the entry number seq
// (RFC 6962, section 2.1.1). The proof has at most 63 hashes.
func ProveInclusion(src Source, size, seq uint64) ([]Hash, error) {
	if size > math.MaxInt64 || seq == 0 || seq > size {
		return nil, fmt.Errorf("ledger: entry %d is not in a log of %d", seq, size)
	}
	p, err := tlog.ProveRecord(int64(size), int64(seq-1), Reader(src, size))
	return ours(p), err
}

// CheckInclusion checks the proof that the log with the head h contains the leaf as entry number
// seq. If the proof is invalid, CheckInclusion returns [ErrProof].
func CheckInclusion(p []Hash, h store.Head, seq uint64, leaf []byte) error {
	if h.Size > math.MaxInt64 || seq == 0 || seq > h.Size {
		return ErrProof
	}
	if tlog.CheckRecord(theirs(p), int64(h.Size), h.Hash, int64(seq-1), LeafHash(leaf)) != nil {
		return ErrProof
	}
	return nil
}

// ProveConsistency returns the proof that the log with newSize entries begins with the log with
// oldSize entries (RFC 6962, section 2.1.2).
func ProveConsistency(src Source, newSize, oldSize uint64) ([]Hash, error) {
	if newSize > math.MaxInt64 || oldSize > newSize {
		return nil, fmt.Errorf("ledger: a log of %d entries cannot be the beginning of one of %d", oldSize, newSize)
	}
	if oldSize == 0 {
		return nil, nil // every log begins with the empty log
	}
	p, err := tlog.ProveTree(int64(newSize), int64(oldSize), Reader(src, newSize))
	return ours(p), err
}

// CheckConsistency checks the proof that the log of newHead begins with the log of oldHead. If the
// proof is invalid, CheckConsistency returns [ErrProof].
func CheckConsistency(p []Hash, newHead, oldHead store.Head) error {
	switch {
	case newHead.Size > math.MaxInt64 || oldHead.Size > newHead.Size:
		return ErrProof
	case oldHead.Size == 0:
		if len(p) > 0 || oldHead != (store.Head{}) {
			return ErrProof
		}
		return nil
	}
	if tlog.CheckTree(theirs(p), int64(newHead.Size), newHead.Hash, int64(oldHead.Size), oldHead.Hash) != nil {
		return ErrProof
	}
	return nil
}

func ours[P ~[]tlog.Hash](p P) []Hash {
	if len(p) == 0 {
		return nil
	}
	hashes := make([]Hash, len(p))
	for i := range p {
		hashes[i] = p[i]
	}
	return hashes
}

func theirs(p []Hash) []tlog.Hash {
	hashes := make([]tlog.Hash, len(p))
	for i := range p {
		hashes[i] = p[i]
	}
	return hashes
}
