package extract

import "unsafe"

// A texts stores the texts of findings in shared blocks, to save allocations.
type texts struct {
	block   []byte // the stored texts; the capacity after them is free
	count   int
	scratch []byte
}

const (
	textBlock = 4096
	textAlone = 4 // the number of texts that are allocated separately before a block is used

	shortDraft = 128 // octets, enough for most identifiers
	longDraft  = 512
)

func (t *texts) add(b []byte) string {
	t.count++
	if t.count <= textAlone || len(b) > textBlock/4 {
		return string(b)
	}
	n := t.room(len(b))
	t.block = append(t.block, b...)
	return view(t.block[n:])
}

// draft stores the first size octets of b temporarily, until the next call of add or draft. To keep
// some of the octets permanently, call [texts.keep]. While texts are still allocated separately,
// draft returns "".
func (t *texts) draft(b []byte, size int) string {
	if t.count < textAlone {
		return ""
	}
	n := t.room(size)
	room := t.block[n : n+size]
	if size == shortDraft && len(b) >= shortDraft { // a copy of constant length is faster
		copy(room[:shortDraft], b[:shortDraft])
		return view(room)
	}
	return view(room[:copy(room, b)])
}

// keep makes the first n octets of the last draft permanent.
func (t *texts) keep(n int) { t.block = t.block[:len(t.block)+n] }

// room ensures that n octets fit into the block, and returns the offset at which they begin.
func (t *texts) room(n int) int {
	if cap(t.block)-len(t.block) < n {
		t.block = make([]byte, 0, textBlock)
	}
	return len(t.block)
}

// view converts b to a string without copying. The caller must not modify b while the string is in
// use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
