package store

import (
	"context"
	"iter"
)

// A TreeReader is a Prover from which the whole log can be published. The methods Leaves and Nodes
// return what the Merkle tree consists of.
type TreeReader interface {
	// Leaves yields the leaves of the sealed entries whose Seq is greater than the parameter after
	// and at most end, in the order of Seq. A leaf is valid until Leaves yields the next leaf. If
	// the log has fewer entries, Leaves yields an error after the last leaf.
	Leaves(ctx context.Context, after, end uint64) iter.Seq2[[]byte, error]

	// Nodes returns the roots of the complete subtrees with 2^level leaves whose numbers are at
	// least first and less than end; the leftmost has the number 0. The level must be at least 8,
	// because stores do not keep the nodes below.
	Nodes(ctx context.Context, level int, first, end uint64) ([][32]byte, error)

	// EntryOf returns the entry of a change, with its content and its position in the log. If the
	// change does not exist, or is not sealed yet, the error is ErrNotFound.
	EntryOf(ctx context.Context, s Subject, revision uint64) (*Entry, error)
}

// A LeafScanner is a TreeReader that can read all leaves faster if their order does not matter.
type LeafScanner interface {
	// ScanLeaves calls f with the Seq and the hash of each sealed entry that the log has at the given
	// size, in any order. It stops when f returns false.
	ScanLeaves(ctx context.Context, size uint64, f func(seq uint64, hash [32]byte) bool) error
}
