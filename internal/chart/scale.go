package chart

import (
	"math"
	"math/bits"
)

const maxSteps = 5

// ticks returns the marks of an axis, which range from 0 to at least the largest value. They are
// multiples of 1, 2 or 5 times a power of ten. If the last mark does not fit into 64 bits, it is
// omitted.
func ticks(largest uint64) []uint64 {
	step := tickStep(max(largest, 1))
	all := []uint64{0}
	for v := uint64(0); v < max(largest, 1) && v <= math.MaxUint64-step; {
		v += step
		all = append(all, v)
	}
	return all
}

func tickStep(largest uint64) uint64 {
	for power := uint64(1); ; power *= 10 {
		for _, digit := range []uint64{1, 2, 5} {
			if step := digit * power; (largest-1)/step < maxSteps {
				return step
			}
		}
	}
}

// scale returns value*length/top, rounded. The value must be at most top.
func scale(value, top uint64, length int) int {
	if value >= top {
		return length
	}
	high, low := bits.Mul64(value, uint64(length))
	q, r := bits.Div64(high, low, top)
	if r >= top-r {
		q++
	}
	return int(q)
}
