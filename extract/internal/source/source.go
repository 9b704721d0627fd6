// Package source reads a file and decodes its text, and keeps for each octet of
// the text the octets of the file that it comes from.
//
// A [Tape] is the file. A [Feed] is a text in pieces, each with its mapping to
// the file; feeds decode other feeds. A [Mapped] is text cut out of a feed.
package source

import (
	"errors"
	"io"
)

const (
	BlockSize = 32 << 10 // octets per read
	MaxKept   = 64 << 20 // octets of a file that are kept; maxValue octets may be encoded in them
)

var errKept = errors.New("too much of the document decodes to nothing")

// A Tape reads a file once from front to back. It keeps the octets since the
// last release, so that ranges of the file can be returned.
type Tape struct {
	r    io.Reader
	buf  []byte // what is kept, followed by what has not been consumed
	off  int64  // offset of buf in the file
	head int    // buf[head:] has not been consumed
	keep int64  // everything before this offset has been released
	err  error
}

// NewTape returns a tape of the file that r reads.
func NewTape(r io.Reader) *Tape { return &Tape{r: r} }

// Pos returns the offset in the file of the next octet.
func (t *Tape) Pos() int64 { return t.off + int64(t.head) }

// Fill reads at least one more octet, or returns false at the end or on an
// error.
func (t *Tape) Fill() bool {
	if t.err != nil {
		return false
	}
	if cap(t.buf)-len(t.buf) < BlockSize {
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

func (t *Tape) makeRoom() {
	if n := min(int(t.keep-t.off), t.head); n > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[n:])]
		t.off, t.head = t.off+int64(n), t.head-n
	}
	if len(t.buf) > 2*MaxKept {
		t.err = errKept
		return
	}
	if len(t.buf)+BlockSize > cap(t.buf) || len(t.buf) > cap(t.buf)/2 { // large buffers, so that octets are rarely moved
		grown := make([]byte, len(t.buf), 2*len(t.buf)+2*BlockSize)
		copy(grown, t.buf)
		t.buf = grown
	}
}

// block consumes and returns what is available, or nothing at the end.
func (t *Tape) block() []byte {
	if t.head == len(t.buf) && !t.Fill() {
		return nil
	}
	b := t.buf[t.head:]
	t.head = len(t.buf)
	return b
}

// Peek returns the next n octets, or fewer at the end, without consuming them.
func (t *Tape) Peek(n int) []byte {
	for len(t.buf)-t.head < n && t.Fill() {
	}
	return t.buf[t.head:min(t.head+n, len(t.buf))]
}

// Rest returns what has been read and not consumed. It is valid until the next
// fill.
func (t *Tape) Rest() []byte { return t.buf[t.head:] }

// Skip consumes the first n octets of the rest.
func (t *Tape) Skip(n int) { t.head += n }

// Release allows the octets before an offset of the file to be discarded.
func (t *Tape) Release(to int64) { t.keep = max(t.keep, to) }

// Cut returns octets of the file that have been consumed and not released.
func (t *Tape) Cut(start, end int64) string {
	return string(t.buf[start-t.off : end-t.off])
}

// Has reports whether octets of the file equal s.
func (t *Tape) Has(start, end int64, s string) bool {
	return end-start == int64(len(s)) && string(t.buf[start-t.off:end-t.off]) == s
}

// Held returns how many octets have been consumed and not released.
func (t *Tape) Held() int64 { return t.Pos() - t.keep }

// Kept returns what has been read and not discarded.
func (t *Tape) Kept() []byte { return t.buf }

// Unread returns a reader of what follows [Tape.Kept].
func (t *Tape) Unread() io.Reader {
	if t.err != nil {
		return failed{t.err}
	}
	return t.r
}

// A failed is a reader that has ended with an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// Cause returns the error that ended the reading, nil at the end of the file.
func (t *Tape) Cause() error {
	if t.err == io.EOF {
		return nil
	}
	return t.err
}
