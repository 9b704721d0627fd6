package extract

import (
	"errors"
	"io"
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

// held returns how many octets have been consumed and not released.
func (t *tape) held() int64 { return t.pos() - t.keep }

// kept returns what has been read and not discarded.
func (t *tape) kept() []byte { return t.buf }

// unread returns a reader of what follows [Tape.Kept].
func (t *tape) unread() io.Reader {
	if t.err != nil {
		return failed{t.err}
	}
	return t.r
}

// A failed is a reader that has ended with an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// cause returns the error that ended the reading, nil at the end of the file.
func (t *tape) cause() error {
	if t.err == io.EOF {
		return nil
	}
	return t.err
}
