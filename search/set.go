package search

import (
	"encoding/binary"
	"errors"
	"iter"
	"math/bits"
)

// maxNumbers is the maximum number of names in a segment. The names are numbered from 0.
const maxNumbers = 1 << 16

type set [maxNumbers / 64]uint64

func (s *set) add(n uint16) { s[n/64] |= 1 << (n % 64) }

func (s *set) and(o *set) {
	for i := range s {
		s[i] &= o[i]
	}
}

func (s *set) size() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// from returns an iterator over the numbers from first on, in ascending order.
func (s *set) from(first int) iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for i := first / 64; i < len(s); i++ {
			w := s[i]
			if i == first/64 {
				w &= ^uint64(0) << (first % 64)
			}
			for ; w != 0; w &= w - 1 {
				if !yield(uint16(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Forms of a stored set, the first byte of the set.
const (
	formList = 1 // two bytes for each number, in ascending order
	formBits = 2 // one bit for each number, from the lowest bit of the first byte
)

var errForm = errors.New("search: the index is damaged: invalid numbers of a word")

// appendNumbers appends a set of numbers to b in the form that is shorter. The numbers must be in
// ascending order.
func appendNumbers(b []byte, numbers []uint16) []byte {
	size := int(numbers[len(numbers)-1])/8 + 1
	if 2*len(numbers) <= size {
		b = append(b, formList)
		for _, n := range numbers {
			b = binary.BigEndian.AppendUint16(b, n)
		}
		return b
	}
	start := len(b) + 1
	b = append(append(b, formBits), make([]byte, size)...)
	for _, n := range numbers {
		b[start+int(n)/8] |= 1 << (n % 8)
	}
	return b
}

func (s *set) addStored(b []byte) error {
	switch {
	case len(b)%2 == 1 && b[0] == formList:
		for b = b[1:]; len(b) > 0; b = b[2:] {
			s.add(binary.BigEndian.Uint16(b))
		}
		return nil
	case len(b) > 0 && len(b) <= maxNumbers/8+1 && b[0] == formBits:
		for i, bits := range b[1:] {
			s[i/8] |= uint64(bits) << (i % 8 * 8)
		}
		return nil
	}
	return errForm
}
