package extract

import "unsafe"

// texts keeps the texts of findings together, so that there is one allocation
// for many of them.
type texts struct {
	block   []byte // what is behind its length is in no text that is kept
	count   int
	scratch []byte
}

const (
	textBlock = 4096
	textAlone = 4 // findings whose texts are allocated alone

	shortDraft = 128 // octets that most identifiers have room in
	longDraft  = 512
)

// add returns b as a text that is kept.
func (t *texts) add(b []byte) string {
	t.count++
	if t.count <= textAlone || len(b) > textBlock/4 {
		return string(b)
	}
	n := t.room(len(b))
	t.block = append(t.block, b...)
	return view(t.block[n:])
}

// draft returns what b begins with, size octets or all, as a text that is good
// until the next comes, except for what is kept of it. It is empty as long as
// texts are allocated alone.
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

// room sees to it that n octets fit in the block, and returns where they begin.
func (t *texts) room(n int) int {
	if cap(t.block)-len(t.block) < n {
		t.block = make([]byte, 0, textBlock)
	}
	return len(t.block)
}

// view returns b as a string, without a copy. Nobody may write to b any more as
// long as the string is read.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
