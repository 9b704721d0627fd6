package ledger

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"math"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/nomen-project/nomen/store"
)

// A Hash is the SHA-256 hash of a leaf or of a node.
type Hash = [sha256.Size]byte

// MinLevel is the lowest level of the nodes that a store saves. The subtree below a node of level l
// has 2^l leaves.
const MinLevel = 8

const window = 1 << MinLevel // number of leaves below a node of that level

// A Node is the root of a complete subtree.
type Node struct {
	Level int
	Index uint64 // number of the node in its level; the leftmost is 0
	Hash  Hash
}

// A Source reads a log from a store.
type Source interface {
	// Node returns the hash of a node that [Log.Append] has returned.
	Node(level int, index uint64) (Hash, error)

	// Leaves yields the hashes ([LeafHash]) of the leaves at the positions from <= i < to. The
	// position of an entry is its Seq minus one.
	Leaves(from, to uint64) iter.Seq2[Hash, error]
}

// A Log is the state of a log to which leaves can be appended. Appending to a copy of a Log does
// not change the original. The zero Log is empty.
type Log struct {
	size uint64
	edge [64]Hash // by level, the root of the complete subtree that has no right neighbour; there is one for each bit of size that is set
}

// Open returns the log of a store at the given size. It reads at most one node for each level, and
// at most 255 leaves.
func Open(size uint64, src Source) (Log, error) {
	if size > math.MaxInt64 {
		return Log{}, fmt.Errorf("ledger: invalid size %d", size)
	}
	l := Log{size: size &^ (window - 1)}
	for level := MinLevel; l.size>>level > 0; level++ {
		if l.size>>level&1 == 1 {
			var err error
			if l.edge[level], err = src.Node(level, l.size>>level-1); err != nil {
				return Log{}, err
			}
		}
	}
	for h, err := range src.Leaves(l.size, size) {
		if err != nil {
			return Log{}, err
		}
		l.AppendHash(nil, h)
	}
	if l.size != size {
		return Log{}, fmt.Errorf("ledger: found %d entries, expected %d", l.size, size)
	}
	return l, nil
}

// Resume returns the log with the given size whose complete subtrees have these roots. The roots
// are sorted by the size of their subtrees, smallest first. They are also the inclusion proof of
// the last entry in the log with one more entry (RFC 6962, section 2.1.1).
func Resume(size uint64, roots []Hash) (Log, error) {
	if size > math.MaxInt64 || bits.OnesCount64(size) != len(roots) {
		return Log{}, fmt.Errorf("ledger: %d hashes do not match %d entries", len(roots), size)
	}
	l := Log{size: size}
	for level := 0; len(roots) > 0; level++ {
		if size>>level&1 == 1 {
			l.edge[level], roots = roots[0], roots[1:]
		}
	}
	return l, nil
}

// Size returns the number of leaves in the log.
func (l *Log) Size() uint64 { return l.size }

// Append appends a leaf to the log. If the leaf completes subtrees of 256 or more leaves, Append
// appends their roots to nodes, and the store must save them. Append does not allocate memory for
// leaves of up to 1 KiB. Only leaves with a very long key are longer.
func (l *Log) Append(nodes []Node, leaf []byte) []Node {
	return l.AppendHash(nodes, LeafHash(leaf))
}

// AppendHash is like [Log.Append], for a leaf whose hash is known.
func (l *Log) AppendHash(nodes []Node, leaf Hash) []Node {
	h, level := leaf, 0
	for ; l.size>>level&1 == 1; level++ {
		h = tlog.NodeHash(l.edge[level], h)
		if level+1 >= MinLevel {
			nodes = append(nodes, Node{level + 1, l.size >> (level + 1), h})
		}
	}
	l.edge[level] = h
	l.size++
	return nodes
}

// Head returns the head of the log, in time proportional to the logarithm of the size.
func (l *Log) Head() store.Head {
	if l.size == 0 {
		return store.Head{}
	}
	level := bits.TrailingZeros64(l.size)
	h := tlog.Hash(l.edge[level])
	for level++; l.size>>level > 0; level++ {
		if l.size>>level&1 == 1 {
			h = tlog.NodeHash(l.edge[level], h)
		}
	}
	return store.Head{Size: l.size, Hash: h}
}

// leafBuffer is the maximum length of a leaf that is hashed without allocating memory.
const leafBuffer = 1024

// LeafHash returns the SHA-256 hash of a zero byte followed by the leaf (RFC 6962, section 2.1).
func LeafHash(leaf []byte) Hash {
	if len(leaf) > leafBuffer {
		return tlog.RecordHash(leaf)
	}
	var buf [1 + leafBuffer]byte
	return sha256.Sum256(buf[:1+copy(buf[1:], leaf)])
}
