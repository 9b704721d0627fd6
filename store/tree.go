package store

import (
	"context"
	"iter"
)

// A TreeReader is a Prover whose whole log can be published. The methods Leaves and Nodes return
// the content of the Merkle tree.
type TreeReader interface {
	// Leaves yields the leaves of the sealed entries whose Seq is greater than the parameter after
	// and at most end, in the order of Seq. A leaf is valid until Leaves yields the next leaf. If
	// the log has fewer entries, Leaves yields an error after the last leaf.
	Leaves(ctx context.Context, after, end uint64) iter.Seq2[[]byte, error]

	// Nodes returns the roots of the complete subtrees with 2^level leaves, for the subtrees first
	// <= i < end from left to right. The leftmost subtree has the number 0. The level must be at
	// least 8, because stores do not keep nodes of lower levels.
	Nodes(ctx context.Context, level int, first, end uint64) ([][32]byte, error)

	// EntryOf returns the entry in the log for a revision of a subject. If the revision does not
	// exist, or is not sealed yet, the error is ErrNotFound.
	EntryOf(ctx context.Context, s Subject, revision uint64) (*Entry, error)
}

// A LeafScanner is a TreeReader that can read all leaves in a faster order than that of the log.
type LeafScanner interface {
	// ScanLeaves calls f with the Seq and the leaf hash of each entry in the log at the given size,
	// in any order. It stops when f returns false.
	ScanLeaves(ctx context.Context, size uint64, f func(seq uint64, hash [32]byte) bool) error
}
