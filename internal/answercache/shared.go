package answercache

import "math"

// A shared has values that several entries share, by number.
type shared[T any] struct {
	rows []row[T]
	free []uint16 // numbers of unused rows
}

// A row is a shared value, and how many entries share it.
type row[T any] struct {
	of      T
	entries int
}

func (t *shared[T]) of(number uint16) T { return t.rows[number].of }

// add adds a value without entries, and returns its number. It returns false if no number is free.
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

// release removes an entry from a row. If it was the last, the row becomes unused.
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
