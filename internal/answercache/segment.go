package answercache

import (
	"sync/atomic"

	"github.com/nomen-project/nomen/counts"
)

const (
	headSize = 40 // bytes of a head
	slotSize = 26 // approximate bytes of an entry in the index of a shard

	usualSize  = 168
	usualTexts = usualSize - headSize - slotSize

	maxSegment = 64 << 10 // bytes of the texts of a segment
)

// A segment contains entries in the order in which they were added. Its texts never change; only
// the number of uses and the last client of an entry do. An [Answer] can therefore refer to the
// texts of a segment without a lock, even after the shard has dropped the segment. A segment
// contains few pointers, to reduce the work of the garbage collector.
type segment struct {
	heads []head
	texts []byte
}

// A head is an entry of a segment without its texts. The texts are the validity, the target, the
// location, the length, and sometimes the name (see apart).
type head struct {
	hash             uint64
	last             counts.Last // not of the content
	begin            uint32      // of the texts
	uses             atomic.Uint32
	target, location uint16 // lengths of texts
	scope, pattern   uint16 // numbers in the shard
	status           uint16
	valid, length    uint8 // lengths of texts
	form             uint8
	name             uint16 // length of the name to count
	what             uint8  // [counts.What] of the answer, and the bit apart
}

// apart is a bit of head.what. If the bit is set, the segment stores the name as a separate text.
// Otherwise the name begins at the second character of the target.
const apart = 1 << 7

func (h *head) tail() int {
	if h.what&apart == 0 {
		return 0
	}
	return int(h.name)
}

func newSegment(size int) *segment {
	return &segment{heads: make([]head, 0, size/usualTexts), texts: make([]byte, 0, size)}
}

// has reports whether the segment has room for an entry whose texts have the given size.
func (g *segment) has(size int) bool {
	return len(g.heads) < cap(g.heads) && size <= cap(g.texts)-len(g.texts)
}

// add adds an entry, for which the segment must have room, and returns the number of the entry.
func (g *segment) add(h *head, uses uint32, texts ...[]byte) int {
	n, begin := len(g.heads), uint32(len(g.texts))
	for _, t := range texts {
		g.texts = append(g.texts, t...)
	}
	g.heads = g.heads[:n+1]
	to := &g.heads[n]
	to.hash, to.begin, to.target, to.location = h.hash, begin, h.target, h.location
	to.scope, to.pattern, to.status, to.valid, to.length, to.form = h.scope, h.pattern, h.status, h.valid, h.length, h.form
	to.name, to.what = h.name, h.what
	to.uses.Store(uses)
	return n
}

func (h *head) size() int {
	return int(h.valid) + int(h.target) + int(h.location) + int(h.length) + h.tail()
}

func (g *segment) textsOf(h *head) []byte { return g.texts[h.begin:][:h.size():h.size()] }

func (g *segment) room() int64 {
	return int64(cap(g.texts)) + int64(cap(g.heads))*(headSize+slotSize)
}
