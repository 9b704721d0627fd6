package extract

import "unsafe"

// texts stores the texts of findings together, so that many of them share an
// allocation.
type texts struct {
	block   []byte // up to its length, texts that are kept; the capacity after it is free
	count   int
	scratch []byte
}

const (
	textBlock = 4096
	textAlone = 4 // findings whose texts are allocated separately

	shortDraft = 128 // octets, enough for most identifiers
	longDraft  = 512
)

// add returns a copy of b that is kept.
func (t *texts) add(b []byte) string {
	t.count++
	if t.count <= textAlone || len(b) > textBlock/4 {
		return string(b)
	}
	n := t.room(len(b))
	t.block = append(t.block, b...)
	return view(t.block[n:])
}

// draft returns the first size octets of b, or all of them if b is shorter. The
// text is valid until the next call of add or draft; the part that [texts.keep]
// keeps stays valid. draft returns "" as long as texts are allocated separately.
func (t *texts) draft(b []byte, size int) string {
	if t.count < textAlone {
		return ""
	}
	n := t.room(size)
	room := t.block[n : n+size]
	if size == shortDraft && len(b) >= shortDraft { // a copy of known length takes no time
		copy(room[:shortDraft], b[:shortDraft])
		return view(room)
	}
	return view(room[:copy(room, b)])
}

// keep keeps the first n octets of the last draft.
func (t *texts) keep(n int) { t.block = t.block[:len(t.block)+n] }

// room ensures that n octets fit in the block, and returns the offset at which
// they begin.
func (t *texts) room(n int) int {
	if cap(t.block)-len(t.block) < n {
		t.block = make([]byte, 0, textBlock)
	}
	return len(t.block)
}

// view returns b as a string without copying. b must not be modified while the
// string is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
