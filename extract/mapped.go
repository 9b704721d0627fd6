package extract

import "sort"

// A piece is text decoded from a file, and its mapping to the file: each group
// of out octets of the text comes from in octets of the file. Unencoded text
// has groups of one and one, base64 of four and three; a character reference is
// a single group.
type piece struct {
	text    []byte
	at      int64 // offset of the first group in the file
	in, out int
	skip    int // how many octets of the first group are not in text
}

func literal(text []byte, at int64) piece { return piece{text: text, at: at, in: 1, out: 1} }

// unit returns a text that comes as a whole from the octets from start to end.
func unit(text []byte, start, end int64) piece {
	return piece{text: text, at: start, in: int(end - start), out: len(text)}
}

// A feed returns the pieces of a text in order. The text of a piece is valid
// until the next call. It returns false at the end.
type feed interface {
	next() (piece, bool)
}

// A plainFeed is an unencoded file.
type plainFeed struct{ tape *tape }

func (f plainFeed) next() (piece, bool) {
	at := f.tape.pos()
	b := f.tape.block()
	return literal(b, at), len(b) > 0
}

// A run maps a stretch of text to the file, like a piece.
type run struct {
	pos     int // offset in the text; it ends where the next run begins
	at      int64
	in, out int
	skip    int
}

// start returns the start of the file range for octet i of the text, and end
// the end of the file range for the text before octet j.
func (r run) start(i int) int64 { return r.at + int64((i-r.pos+r.skip)/r.out*r.in) }
func (r run) end(j int) int64   { return r.at + int64(((j-1-r.pos+r.skip)/r.out+1)*r.in) }

// A mapped is a text with its mapping to the file.
type mapped struct {
	text []byte
	runs []run
	end  int64 // after what has been dropped
}

// first returns the offset in the file of the first octet, or false for an
// empty text.
func (m *mapped) first() (int64, bool) {
	if len(m.runs) == 0 {
		return 0, false
	}
	return m.runs[0].start(0), true
}

// add appends a piece.
func (m *mapped) add(p piece) {
	if len(p.text) == 0 {
		return
	}
	pos := len(m.text)
	m.text = append(m.text, p.text...)
	if n := len(m.runs); n > 0 && p.skip == 0 {
		if last := m.runs[n-1]; last.in == p.in && last.out == p.out &&
			(pos-last.pos+last.skip)%last.out == 0 && last.end(pos) == p.at {
			return
		}
	}
	m.runs = append(m.runs, run{pos: pos, at: p.at, in: p.in, out: p.out, skip: p.skip})
}

// at returns the index of the run that contains octet i.
func (m *mapped) at(i int) int {
	if n := len(m.runs); m.runs[n-1].pos <= i {
		return n - 1
	}
	return sort.Search(len(m.runs), func(k int) bool { return m.runs[k].pos > i }) - 1
}

// span returns the range of the file for text[i:j]. An empty text is at the
// octet that follows it, or else after the preceding one.
func (m *mapped) span(i, j int) (start, end int64) {
	switch {
	case len(m.runs) == 0:
		return m.end, m.end
	case i < j:
		return m.runs[m.at(i)].start(i), m.runs[m.at(j-1)].end(j)
	case i < len(m.text):
		start = m.runs[m.at(i)].start(i)
		return start, start
	default:
		end = m.runs[len(m.runs)-1].end(i)
		return end, end
	}
}

// pieces appends text[i:j] with its mapping to another text.
func (m *mapped) pieces(to *mapped, i, j int) {
	if i == j {
		return
	}
	for k := m.at(i); i < j; k++ {
		end := j
		if k+1 < len(m.runs) {
			end = min(j, m.runs[k+1].pos)
		}
		r := m.runs[k]
		to.add(piece{text: m.text[i:end], at: r.start(i), in: r.in, out: r.out, skip: (i - r.pos + r.skip) % r.out})
		i = end
	}
}

// drop discards the first n octets.
func (m *mapped) drop(n int) {
	if n == 0 {
		return
	}
	if n == len(m.text) {
		m.end = m.runs[len(m.runs)-1].end(n)
		m.reset()
		return
	}
	k := m.at(n)
	m.end = m.runs[m.at(n-1)].end(n)
	first := m.runs[k]
	shift := n - first.pos + first.skip
	m.runs = m.runs[:copy(m.runs, m.runs[k:])]
	m.runs[0].at, m.runs[0].skip, m.runs[0].pos = first.at+int64(shift/first.out*first.in), shift%first.out, n
	for i := range m.runs {
		m.runs[i].pos -= n
	}
	m.text = m.text[:copy(m.text, m.text[n:])]
}

// piece returns the text of a run.
func (m *mapped) piece(k int) piece {
	r, end := m.runs[k], len(m.text)
	if k+1 < len(m.runs) {
		end = m.runs[k+1].pos
	}
	return piece{text: m.text[r.pos:end], at: r.at, in: r.in, out: r.out, skip: r.skip}
}

// reset empties the text and keeps its memory.
func (m *mapped) reset() { m.text, m.runs = m.text[:0], m.runs[:0] }

// A mappedFeed is a feed of a text that was cut out of a file.
type mappedFeed struct {
	mapped
	k int
}

func (f *mappedFeed) next() (piece, bool) {
	if f.k == len(f.runs) {
		return piece{}, false
	}
	f.k++
	return f.piece(f.k - 1), true
}

// reset empties the text and keeps its memory.
func (f *mappedFeed) reset() {
	f.mapped.reset()
	f.k = 0
}

// A window is the part of a feed that is being examined.
type window struct {
	mapped
	feed feed
}

// fill adds at least one octet, or returns false at the end.
func (w *window) fill() bool {
	for {
		p, ok := w.feed.next()
		if !ok {
			return false
		}
		if len(p.text) > 0 {
			w.add(p)
			return true
		}
	}
}
