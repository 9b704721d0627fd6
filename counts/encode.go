package counts

import (
	"encoding/binary"
	"errors"
	"math"
)

const maxCells = 32 << 6

var errCells = errors.New("counts: invalid cells")

// AppendCells appends the stored form of cells, which must be sorted. For each cell, it appends the
// difference between its code and the previous code, and then the count, both as variable-length
// integers.
func AppendCells(b []byte, cells []Cell) []byte {
	last := uint64(0)
	for _, c := range cells {
		b = binary.AppendUvarint(b, c.code()-last)
		b = binary.AppendUvarint(b, c.N)
		last = c.code()
	}
	return b
}

// ReadCells parses the result of AppendCells.
func ReadCells(b []byte) ([]Cell, error) {
	var cells []Cell
	last := uint64(0)
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		if n <= 0 || step > maxCells || step == 0 && len(cells) > 0 {
			return nil, errCells
		}
		b = b[n:]
		count, n := binary.Uvarint(b)
		last += step
		if c := cellOf(last, count); n <= 0 || last >= maxCells || count == 0 || count > math.MaxInt64 || c.What >= whats {
			return nil, errCells
		}
		b = b[n:]
		cells = append(cells, cellOf(last, count))
	}
	return cells, nil
}
