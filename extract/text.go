package extract

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/extract/mime"
)

// Text returns an iterator over the identifiers in plain text, in order. If the reader fails, the
// iterator first yields all findings in the text that could be read, and then the error. Text takes
// linear time and constant memory.
//
// The text may be in UTF-16 if it begins with a byte order mark, and otherwise in UTF-8 or another
// superset of ASCII. Text unfolds the lines of calendars and address cards.
func Text(r io.Reader, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		w := newReading(r, o, MaxLength, textWindow)
		charset, folded := "", false
		switch {
		case w.begins("\xff\xfe"):
			charset = "utf-16le"
		case w.begins("\xfe\xff"):
			charset = "utf-16be"
		case w.begins("BEGIN:VCALENDAR"), w.begins("BEGIN:VCARD"):
			folded = true
		default:
			w.all(yield)
			return
		}
		otherText(io.MultiReader(bytes.NewReader(w.b), after{w}), charset, folded, o, yield)
	}
}

// begins reports whether the text begins with mark. It reads no more than necessary.
func (w *reading) begins(mark string) bool {
	for len(w.b) < len(mark) && !w.final && string(w.b) == mark[:len(w.b)] {
		w.fill()
	}
	return bytes.HasPrefix(w.b, []byte(mark))
}

// An after is a reader of the text that w has not yet read.
type after struct{ w *reading }

func (a after) Read(b []byte) (int, error) {
	if a.w.err != nil {
		return 0, a.w.err
	}
	return a.w.r.Read(b)
}

func otherText(r io.Reader, charset string, folded bool, o Options, yield func(Finding, error) bool) {
	t := source.NewTape(r)
	q := newQueue(t, o, yield)
	f, _ := source.InCharset(t.Feed(), charset)
	if folded {
		f = mime.Unfold(f)
	}
	q.stream(f, knownScope(outside(o)), o.OneLine || folded)
	if q.flush(true); !q.stopped && t.Cause() != nil {
		yield(Finding{}, t.Cause())
	}
}

// Bytes returns an iterator over the identifiers in plain text in memory. Start and End are offsets
// in b.
func Bytes(b []byte, o Options) iter.Seq[Finding] {
	return func(yield func(Finding) bool) { scan(b, o, yield) }
}

const textWindow = 4 * MaxLength

// maxEmpty is the number of consecutive empty reads after which reading fails.
const maxEmpty = 100

// A reading is a scanner that reads its text from an [io.Reader].
type reading struct {
	scanner
	r   io.Reader
	err error // the error that ended the reading
}

func newReading(r io.Reader, o Options, limit, size int) *reading {
	w := &reading{scanner: newScanner(o, limit), r: r}
	w.b = make([]byte, 0, size)
	return w
}

func (w *reading) all(yield func(Finding, error) bool) {
	var f Finding
	for {
		for w.next() {
			if w.describe(&f) && !yield(f, nil) {
				return
			}
		}
		if w.final {
			break
		}
		w.fill()
	}
	if w.err != nil && !errors.Is(w.err, io.EOF) {
		yield(Finding{}, w.err)
	}
}

// fill discards text that has been searched, and reads more. If a decision is pending, fill reads
// at least as much text as the decision will examine again. Repeated decisions therefore at most
// double the work.
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
