// Package source reads a file and decodes its text. For each octet of decoded text, it records the
// position in the file from which the octet was decoded.
//
// A [Tape] reads the file. A [Feed] is a sequence of pieces of text. A feed that decodes text reads
// another feed. A [Mapped] is a part of a feed in memory.
package source

import (
	"errors"
	"io"
)

const (
	BlockSize = 32 << 10 // octets per read
	MaxKept   = 64 << 20 // octets of a file in memory; enough for maxValue decoded octets
)

var errKept = errors.New("too much of the document decodes to nothing")

// A Tape reads a file from start to end. It keeps the octets that have not been released with
// [Tape.Release], so that [Tape.Cut] can return them.
type Tape struct {
	r    io.Reader
	buf  []byte // octets that are kept, and then octets that have been read but not consumed
	off  int64  // offset of buf in the file
	head int    // buf[head:] is not consumed
	keep int64  // earlier octets have been released
	err  error
}

// NewTape returns a Tape for the file that r reads.
func NewTape(r io.Reader) *Tape { return &Tape{r: r} }

// Pos returns the offset in the file of the next octet to be consumed.
func (t *Tape) Pos() int64 { return t.off + int64(t.head) }

// Fill reads at least one more octet, or returns false at the end of the file or after an error.
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
	if len(t.buf)+BlockSize > cap(t.buf) || len(t.buf) > cap(t.buf)/2 { // a large buffer, so that octets are rarely moved
		grown := make([]byte, len(t.buf), 2*len(t.buf)+2*BlockSize)
		copy(grown, t.buf)
		t.buf = grown
	}
}

func (t *Tape) block() []byte {
	if t.head == len(t.buf) && !t.Fill() {
		return nil
	}
	b := t.buf[t.head:]
	t.head = len(t.buf)
	return b
}

// Peek returns the next n octets without consuming them. It returns fewer at the end of the file.
func (t *Tape) Peek(n int) []byte {
	for len(t.buf)-t.head < n && t.Fill() {
	}
	return t.buf[t.head:min(t.head+n, len(t.buf))]
}

// Rest returns the octets that have been read but not consumed. They are valid until the next call
// of Fill.
func (t *Tape) Rest() []byte { return t.buf[t.head:] }

// Skip consumes n octets of [Tape.Rest].
func (t *Tape) Skip(n int) { t.head += n }

// Release says that the octets before an offset in the file are no longer needed.
func (t *Tape) Release(to int64) { t.keep = max(t.keep, to) }

// Cut returns the octets of the file between start and end. These octets must have been consumed
// and not released.
func (t *Tape) Cut(start, end int64) string {
	return string(t.buf[start-t.off : end-t.off])
}

// Has reports whether the octets between start and end equal s.
func (t *Tape) Has(start, end int64, s string) bool {
	return end-start == int64(len(s)) && string(t.buf[start-t.off:end-t.off]) == s
}

// Held returns the number of octets that have been consumed but not released.
func (t *Tape) Held() int64 { return t.Pos() - t.keep }

// Kept returns all octets in memory.
func (t *Tape) Kept() []byte { return t.buf }

// Unread returns a reader of the part of the file that follows the octets of [Tape.Kept].
func (t *Tape) Unread() io.Reader {
	if t.err != nil {
		return failed{t.err}
	}
	return t.r
}

type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// Cause returns the error that ended the reading, or nil if the whole file was read.
func (t *Tape) Cause() error {
	if t.err == io.EOF {
		return nil
	}
	return t.err
}
