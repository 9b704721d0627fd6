package answercache

import "math"

// A shared is a table of values that several entries share. An entry refers to a value by its
// number.
type shared[T any] struct {
	rows []row[T]
	free []uint16 // numbers of unused rows
}

// A row is a shared value with its reference count.
type row[T any] struct {
	of      T
	entries int
}

func (t *shared[T]) of(number uint16) T { return t.rows[number].of }

// add adds a value with the reference count 0, and returns the number of the value. It returns
// false if all numbers are in use.
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

// release decrements the reference count of a value. When the count is 0, the number becomes free.
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
