package extract

import (
	"errors"
	"io"
	"sort"
)

const (
	blockSize = 32 << 10 // octets read at a time
	maxKept   = 64 << 20 // octets kept of a file; what maxValue octets may be encoded in
)

var errKept = errors.New("too much of the document says nothing")

// A tape is a file that is read once from front to back. It keeps the octets
// from the last release on, so that spans of the file can be cut out of it.
type tape struct {
	r    io.Reader
	buf  []byte // what is kept, and behind it what has not been handed out
	off  int64  // where in the file buf begins
	head int    // buf[head:] has not been handed out
	keep int64  // what is before has been released
	err  error
}

func newTape(r io.Reader) *tape { return &tape{r: r} }

// pos is where in the file the next octet to be handed out is.
func (t *tape) pos() int64 { return t.off + int64(t.head) }

// fill reads at least one octet more, or reports false at the end and on errors.
func (t *tape) fill() bool {
	if t.err != nil {
		return false
	}
	if cap(t.buf)-len(t.buf) < blockSize {
		if t.makeRoom(); t.err != nil {
			return false
		}
	}
	for range 100 {
		n, err := t.r.Read(t.buf[len(t.buf):cap(t.buf)])
		t.buf, t.err = t.buf[:len(t.buf)+n], err
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	t.err = io.ErrNoProgress
	return false
}

func (t *tape) makeRoom() {
	if n := min(int(t.keep-t.off), t.head); n > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[n:])]
		t.off, t.head = t.off+int64(n), t.head-n
	}
	if len(t.buf) > 2*maxKept {
		t.err = errKept
		return
	}
	if len(t.buf)+blockSize > cap(t.buf) || len(t.buf) > cap(t.buf)/2 { // so that little is moved often
		grown := make([]byte, len(t.buf), 2*len(t.buf)+2*blockSize)
		copy(grown, t.buf)
		t.buf = grown
	}
}

// block hands out what is there, or nothing at the end.
func (t *tape) block() []byte {
	if t.head == len(t.buf) && !t.fill() {
		return nil
	}
	b := t.buf[t.head:]
	t.head = len(t.buf)
	return b
}

// peek returns the next n octets, or fewer at the end, without handing them out.
func (t *tape) peek(n int) []byte {
	for len(t.buf)-t.head < n && t.fill() {
	}
	return t.buf[t.head:min(t.head+n, len(t.buf))]
}

// rest is what has been read and not been handed out, until the next fill.
func (t *tape) rest() []byte { return t.buf[t.head:] }

// skip hands out the first n octets of the rest.
func (t *tape) skip(n int) { t.head += n }

// release lets the octets before a place in the file be forgotten.
func (t *tape) release(to int64) { t.keep = max(t.keep, to) }

// cut returns octets of the file that have been handed out and not released.
func (t *tape) cut(start, end int64) string {
	return string(t.buf[start-t.off : end-t.off])
}

// has reports whether octets of the file are s.
func (t *tape) has(start, end int64, s string) bool {
	return end-start == int64(len(s)) && string(t.buf[start-t.off:end-t.off]) == s
}

// cause is the error that ended the reading, nil at the end of the file.
func (t *tape) cause() error {
	if t.err == io.EOF {
		return nil
	}
	return t.err
}

// A piece is text that was decoded from a file, and where it comes from: each
// group of out octets of the text is carried by in octets of the file. What is
// not encoded has groups of one and one, base64 of four and three; a character
// reference is a single group.
type piece struct {
	text    []byte
	at      int64 // where in the file the first group begins
	in, out int
	skip    int // how many octets of the first group are not in text
}

func literal(text []byte, at int64) piece { return piece{text: text, at: at, in: 1, out: 1} }

// unit is a text that is carried as a whole by the octets from start to end.
func unit(text []byte, start, end int64) piece {
	return piece{text: text, at: start, in: int(end - start), out: len(text)}
}

// A feed hands out the pieces of a text in order; the text of a piece is good
// until the next call. It reports false at the end.
type feed interface {
	next() (piece, bool)
}

// A plainFeed is a file as it is.
type plainFeed struct{ tape *tape }

func (f plainFeed) next() (piece, bool) {
	at := f.tape.pos()
	b := f.tape.block()
	return literal(b, at), len(b) > 0
}

// A run is the relation of a stretch of text to the file, like that of a piece.
type run struct {
	pos     int // where in the text it begins; it ends where the next begins
	at      int64
	in, out int
	skip    int
}

// start is where in the file the octets begin that carry octet i of the text, and
// end where those end that carry what is before octet j.
func (r run) start(i int) int64 { return r.at + int64((i-r.pos+r.skip)/r.out*r.in) }
func (r run) end(j int) int64   { return r.at + int64(((j-1-r.pos+r.skip)/r.out+1)*r.in) }

// A mapped is a text with its relation to the file.
type mapped struct {
	text []byte
	runs []run
	end  int64 // behind what has been dropped
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

// at returns the index of the run that octet i is in.
func (m *mapped) at(i int) int {
	if n := len(m.runs); m.runs[n-1].pos <= i {
		return n - 1
	}
	return sort.Search(len(m.runs), func(k int) bool { return m.runs[k].pos > i }) - 1
}

// span returns the octets of the file that carry text[i:j]. An empty text is at
// the octet that follows it, or else behind the one before.
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

// pieces adds text[i:j] to another text, with its relation to the file.
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

// drop forgets the first n octets.
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

// A mappedFeed is a text that was cut out of a file as the whole of a feed.
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

// A window is the part of a fed text that is looked at.
type window struct {
	mapped
	feed feed
}

// fill adds at least one octet, or reports false at the end.
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
