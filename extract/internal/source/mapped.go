package source

import (
	"bytes"
	"sort"
)

// A Piece is text decoded from a file, and its mapping to the file: each group
// of Out octets of the text comes from In octets of the file. In unencoded text,
// both are 1. In base64, In is 4 and Out is 3. A character reference is a single
// group.
type Piece struct {
	Text    []byte
	At      int64 // offset of the first group in the file
	In, Out int
	skip    int // how many octets of the first group are not in text
}

// Literal returns a text that is not encoded, from an offset of the file.
func Literal(text []byte, at int64) Piece { return Piece{Text: text, At: at, In: 1, Out: 1} }

// Slice returns part of a piece that is not encoded.
func (p Piece) Slice(i, j int) Piece { return Literal(p.Text[i:j], p.At+int64(i)) }

// Unit returns a text that comes from the octets between start and end, and cannot be divided.
func Unit(text []byte, start, end int64) Piece {
	return Piece{Text: text, At: start, In: int(end - start), Out: len(text)}
}

// A Feed returns the pieces of a text in order. The text of a piece is valid until the next call.
// At the end of the text, Next returns false.
type Feed interface {
	Next() (Piece, bool)
}

// Feed returns the rest of the file as unencoded text.
func (t *Tape) Feed() Feed { return plainFeed{t} }

type plainFeed struct{ tape *Tape }

func (f plainFeed) Next() (Piece, bool) {
	at := f.tape.Pos()
	b := f.tape.block()
	return Literal(b, at), len(b) > 0
}

// A run maps a stretch of text to the file, like a piece.
type run struct {
	pos     int // offset in the text; it ends where the next run begins
	at      int64
	in, out int
	skip    int
}

// start returns the beginning of the range of the file from which octet i of the text comes. The
// method end returns the end of the range from which the text before octet j comes.
func (r run) start(i int) int64 { return r.at + int64((i-r.pos+r.skip)/r.out*r.in) }
func (r run) end(j int) int64   { return r.at + int64(((j-1-r.pos+r.skip)/r.out+1)*r.in) }

// A Mapped is a text with its mapping to the file.
type Mapped struct {
	Text []byte
	runs []run
	End  int64 // after what has been dropped
}

// First returns the offset in the file of the first octet, or false for an
// empty text.
func (m *Mapped) First() (int64, bool) {
	if len(m.runs) == 0 {
		return 0, false
	}
	return m.runs[0].start(0), true
}

// Add appends a piece.
func (m *Mapped) Add(p Piece) {
	if len(p.Text) == 0 {
		return
	}
	pos := len(m.Text)
	m.Text = append(m.Text, p.Text...)
	if n := len(m.runs); n > 0 && p.skip == 0 {
		if last := m.runs[n-1]; last.in == p.In && last.out == p.Out &&
			(pos-last.pos+last.skip)%last.out == 0 && last.end(pos) == p.At {
			return
		}
	}
	m.runs = append(m.runs, run{pos: pos, at: p.At, in: p.In, out: p.Out, skip: p.skip})
}

// at returns the index of the run that contains octet i.
func (m *Mapped) at(i int) int {
	if n := len(m.runs); m.runs[n-1].pos <= i {
		return n - 1
	}
	return sort.Search(len(m.runs), func(k int) bool { return m.runs[k].pos > i }) - 1
}

// Span returns the range of the file for text[i:j]. An empty text has an empty range: at the octet
// that follows the text, or, at the end, after the last octet.
func (m *Mapped) Span(i, j int) (start, end int64) {
	switch {
	case len(m.runs) == 0:
		return m.End, m.End
	case i < j:
		return m.runs[m.at(i)].start(i), m.runs[m.at(j-1)].end(j)
	case i < len(m.Text):
		start = m.runs[m.at(i)].start(i)
		return start, start
	default:
		end = m.runs[len(m.runs)-1].end(i)
		return end, end
	}
}

// Pieces appends text[i:j], with its mapping, to another text.
func (m *Mapped) Pieces(to *Mapped, i, j int) {
	if i == j {
		return
	}
	for k := m.at(i); i < j; k++ {
		end := j
		if k+1 < len(m.runs) {
			end = min(j, m.runs[k+1].pos)
		}
		r := m.runs[k]
		to.Add(Piece{Text: m.Text[i:end], At: r.start(i), In: r.in, Out: r.out, skip: (i - r.pos + r.skip) % r.out})
		i = end
	}
}

// Drop discards the first n octets.
func (m *Mapped) Drop(n int) {
	if n == 0 {
		return
	}
	if n == len(m.Text) {
		m.End = m.runs[len(m.runs)-1].end(n)
		m.Reset()
		return
	}
	k := m.at(n)
	m.End = m.runs[m.at(n-1)].end(n)
	first := m.runs[k]
	shift := n - first.pos + first.skip
	m.runs = m.runs[:copy(m.runs, m.runs[k:])]
	m.runs[0].at, m.runs[0].skip, m.runs[0].pos = first.at+int64(shift/first.out*first.in), shift%first.out, n
	for i := range m.runs {
		m.runs[i].pos -= n
	}
	m.Text = m.Text[:copy(m.Text, m.Text[n:])]
}

// piece returns the text of a run.
func (m *Mapped) piece(k int) Piece {
	r, end := m.runs[k], len(m.Text)
	if k+1 < len(m.runs) {
		end = m.runs[k+1].pos
	}
	return Piece{Text: m.Text[r.pos:end], At: r.at, In: r.in, Out: r.out, skip: r.skip}
}

// Reset empties the text and keeps its memory.
func (m *Mapped) Reset() { m.Text, m.runs = m.Text[:0], m.runs[:0] }

// A MappedFeed is a feed of a text that was cut out of a file.
type MappedFeed struct {
	Mapped
	k int
}

func (f *MappedFeed) Next() (Piece, bool) {
	if f.k == len(f.runs) {
		return Piece{}, false
	}
	f.k++
	return f.piece(f.k - 1), true
}

// Reset empties the text and keeps its memory.
func (f *MappedFeed) Reset() {
	f.Mapped.Reset()
	f.k = 0
}

// A Window is the part of a feed that is being examined.
type Window struct {
	Mapped
	Feed Feed
}

// Fill adds at least one octet, or returns false at the end.
func (w *Window) Fill() bool {
	for {
		p, ok := w.Feed.Next()
		if !ok {
			return false
		}
		if len(p.Text) > 0 {
			w.Add(p)
			return true
		}
	}
}

// Line returns the length of the first line, including its line break. If the line is longer than
// limit, Line returns limit or more. At the end it returns 0.
func (w *Window) Line(limit int) int {
	for from := 0; from < limit; {
		if i := bytes.IndexByte(w.Text[from:], '\n'); i >= 0 {
			return from + i + 1
		}
		if from = len(w.Text); !w.Fill() {
			break
		}
	}
	return len(w.Text)
}
