package extract

import (
	"errors"
	"io"
	"iter"
)

// Text returns an iterator over the identifiers of a running text, in the order
// of their place. It reads as it goes, in constant memory and linear time. An
// error of the reader is the last thing that it yields, after what was found in
// all that could be read.
func Text(r io.Reader, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		w := reading{scanner: newScanner(o, MaxLength), r: r, size: textWindow}
		w.all(yield)
	}
}

// Bytes returns an iterator over the identifiers of a running text that is in
// memory. Its offsets are into b.
func Bytes(b []byte, o Options) iter.Seq[Finding] {
	return func(yield func(Finding) bool) { scan(b, o, yield) }
}

// textWindow is how much of a text is held: enough for an identifier of
// MaxLength and what is around it, however it lies.
const textWindow = 4 * MaxLength

// maxEmpty is how often in a row a reader may return nothing.
const maxEmpty = 100

// A reading moves a scanner over what a reader gives.
type reading struct {
	scanner
	r    io.Reader
	size int
	err  error // what ended the reading
}

func (w *reading) all(yield func(Finding, error) bool) {
	w.b = make([]byte, 0, w.size)
	var f Finding
	for {
		w.fill()
		for w.next() {
			if w.describe(&f) && !yield(f, nil) {
				return
			}
		}
		if w.final {
			break
		}
	}
	if w.err != nil && !errors.Is(w.err, io.EOF) {
		yield(Finding{}, w.err)
	}
}

// fill forgets what has been decided and reads on. For a decision that is open
// it reads as much as there is to be looked at again, so that many short reads
// do not make the work more than twice as much.
func (w *reading) fill() {
	if n := w.pos - maxBehind; n > 0 && len(w.b) == cap(w.b) {
		w.b = w.b[:copy(w.b, w.b[n:])]
		w.slide(n)
	}
	enough := len(w.b) + 1
	if w.short {
		enough = min(2*len(w.b)-w.pos, cap(w.b))
	}
	for empty := 0; len(w.b) < enough; {
		n, err := w.r.Read(w.b[len(w.b):cap(w.b)])
		w.b = w.b[:len(w.b)+n]
		if n > 0 {
			empty = 0
		} else if empty++; err == nil && empty == maxEmpty {
			err = io.ErrNoProgress
		}
		if err != nil {
			w.err, w.final = err, true
			return
		}
	}
}
