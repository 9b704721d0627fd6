package extract

import (
	"errors"
	"io"
	"sort"
)

const (
	blockSize = 32 << 10 // octets per read
	maxKept   = 64 << 20 // octets of a file that are kept; maxValue octets may be encoded in them
)

var errKept = errors.New("too much of the document decodes to nothing")

// A tape reads a file once from front to back. It keeps the octets since the
// last release, so that ranges of the file can be returned.
type tape struct {
	r    io.Reader
	buf  []byte // what is kept, followed by what has not been consumed
	off  int64  // offset of buf in the file
	head int    // buf[head:] has not been consumed
	keep int64  // everything before this offset has been released
	err  error
}

func newTape(r io.Reader) *tape { return &tape{r: r} }

// pos returns the offset in the file of the next octet.
func (t *tape) pos() int64 { return t.off + int64(t.head) }

// fill reads at least one more octet, or returns false at the end or on an
// error.
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

// block consumes and returns what is available, or nothing at the end.
func (t *tape) block() []byte {
	if t.head == len(t.buf) && !t.fill() {
		return nil
	}
	b := t.buf[t.head:]
	t.head = len(t.buf)
	return b
}

// peek returns the next n octets, or fewer at the end, without consuming them.
func (t *tape) peek(n int) []byte {
	for len(t.buf)-t.head < n && t.fill() {
	}
	return t.buf[t.head:min(t.head+n, len(t.buf))]
}

// rest returns what has been read and not consumed. It is valid until the next
// fill.
func (t *tape) rest() []byte { return t.buf[t.head:] }

// skip consumes the first n octets of the rest.
func (t *tape) skip(n int) { t.head += n }

// release allows the octets before an offset of the file to be discarded.
func (t *tape) release(to int64) { t.keep = max(t.keep, to) }

// cut returns octets of the file that have been consumed and not released.
func (t *tape) cut(start, end int64) string {
	return string(t.buf[start-t.off : end-t.off])
}

// has reports whether octets of the file equal s.
func (t *tape) has(start, end int64, s string) bool {
	return end-start == int64(len(s)) && string(t.buf[start-t.off:end-t.off]) == s
}

// cause returns the error that ended the reading, nil at the end of the file.
func (t *tape) cause() error {
	if t.err == io.EOF {
		return nil
	}
	return t.err
}

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
