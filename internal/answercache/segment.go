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

// A segment has entries that were added one after another. What was added never changes, except the
// numbers of uses and the last clients. So an [Answer] can refer to the texts of a segment without a lock, even when the
// shard no longer has the segment. A segment has few pointers, so the garbage collector has little to
// do, however many entries there are.
type segment struct {
	heads []head
	texts []byte
}

// A head is an entry of a segment. Its texts are the validity, the target, the location, the
// length, and the name if that is apart.
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

// apart is a bit of head.what. If it is set, the name is a text of its own. Otherwise the name
// follows the first character of the target.
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

// has reports whether there is room for an entry whose texts have this size.
func (g *segment) has(size int) bool {
	return len(g.heads) < cap(g.heads) && size <= cap(g.texts)-len(g.texts)
}

// add adds an entry and returns its number. There must be room for it.
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
