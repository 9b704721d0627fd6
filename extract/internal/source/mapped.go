package source

import (
	"bytes"
	"sort"
)

// A Piece is decoded text with its position in the file. Each group of Out octets of the text was
// decoded from In octets of the file. For text that is not encoded, In and Out are 1. For base64,
// In is 4 and Out is 3. A character reference is a single group.
type Piece struct {
	Text    []byte
	At      int64 // offset in the file of the first group
	In, Out int
	skip    int // how many octets of the first group precede Text
}

// Literal returns a piece of text that is not encoded. The parameter at is the offset of the text
// in the file.
func Literal(text []byte, at int64) Piece { return Piece{Text: text, At: at, In: 1, Out: 1} }

// Slice returns p.Text[i:j] as a piece. The piece p must not be encoded.
func (p Piece) Slice(i, j int) Piece { return Literal(p.Text[i:j], p.At+int64(i)) }

// Unit returns an indivisible piece that was decoded from the octets of the file between start and
// end.
func Unit(text []byte, start, end int64) Piece {
	return Piece{Text: text, At: start, In: int(end - start), Out: len(text)}
}

// A Feed is a sequence of pieces. Next returns false at the end of the sequence. The text of a
// piece is valid until the next call of Next.
type Feed interface {
	Next() (Piece, bool)
}

// Feed returns the rest of the file as a feed without any decoding.
func (t *Tape) Feed() Feed { return plainFeed{t} }

type plainFeed struct{ tape *Tape }

func (f plainFeed) Next() (Piece, bool) {
	at := f.tape.Pos()
	b := f.tape.block()
	return Literal(b, at), len(b) > 0
}

// A run is the position of a [Piece] in the file, without the text.
type run struct {
	pos     int // offset of the run in the text
	at      int64
	in, out int
	skip    int
}

// start returns the offset in the file at which the group with octet i of the text begins.
func (r run) start(i int) int64 { return r.at + int64((i-r.pos+r.skip)/r.out*r.in) }
func (r run) end(j int) int64   { return r.at + int64(((j-1-r.pos+r.skip)/r.out+1)*r.in) }

// A Mapped is decoded text that records for each octet the position in the file.
type Mapped struct {
	Text []byte
	runs []run
	End  int64 // offset in the file after the dropped text
}

// First returns the offset in the file of the first octet of the text. It returns false for an
// empty text.
func (m *Mapped) First() (int64, bool) {
	if len(m.runs) == 0 {
		return 0, false
	}
	return m.runs[0].start(0), true
}

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

func (m *Mapped) at(i int) int {
	if n := len(m.runs); m.runs[n-1].pos <= i {
		return n - 1
	}
	return sort.Search(len(m.runs), func(k int) bool { return m.runs[k].pos > i }) - 1
}

// Span returns the range of the file from which Text[i:j] was decoded. If i equals j, the range is
// empty. It is before octet i, or at the end of the text.
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

// Pieces appends Text[i:j], with its positions, to another Mapped.
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

// piece returns run k with its text.
func (m *Mapped) piece(k int) Piece {
	r, end := m.runs[k], len(m.Text)
	if k+1 < len(m.runs) {
		end = m.runs[k+1].pos
	}
	return Piece{Text: m.Text[r.pos:end], At: r.at, In: r.in, Out: r.out, skip: r.skip}
}

// Reset makes the text empty. It keeps the memory.
func (m *Mapped) Reset() { m.Text, m.runs = m.Text[:0], m.runs[:0] }

// A MappedFeed is a [Feed] that returns the pieces of a [Mapped].
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

// Reset makes the text empty. It keeps the memory.
func (f *MappedFeed) Reset() {
	f.Mapped.Reset()
	f.k = 0
}

// A Window is the part of a feed that is being examined.
type Window struct {
	Mapped
	Feed Feed
}

// Fill adds at least one octet of the feed, or returns false at the end of the feed.
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

// Line returns the length of the first line, including its line break, or 0 at the end of the feed.
// If the line is longer than limit, the result is at least limit but may not include the whole
// line.
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
