package answercache

import "math"

// A shared has what several entries have in common, by number.
type shared[T any] struct {
	rows []row[T]
	free []uint16 // numbers of unused rows
}

// A row is what several entries have in common, and the number of these entries.
type row[T any] struct {
	of      T
	entries int
}

// of returns what has a number.
func (t *shared[T]) of(number uint16) T { return t.rows[number].of }

// add adds a row without entries, and returns its number. If all numbers are in use, ok is false.
func (t *shared[T]) add(of T) (number uint16, ok bool) {
	n := len(t.free)
	switch {
	case n > 0:
		number, t.free = t.free[n-1], t.free[:n-1]
		t.rows[number].of = of
	case len(t.rows) > math.MaxUint16:
		return 0, false
	default:
		number = uint16(len(t.rows))
		t.rows = append(t.rows, row[T]{of: of})
	}
	return number, true
}

// release removes an entry from a row. If it was the last one, the row becomes unused.
func (t *shared[T]) release(number uint16) (of T, last bool) {
	r := &t.rows[number]
	of = r.of
	if r.entries--; r.entries > 0 {
		return of, false
	}
	*r = row[T]{}
	t.free = append(t.free, number)
	return of, true
}
