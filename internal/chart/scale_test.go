package chart

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

func TestTicks(t *testing.T) {
	const e = 1_000_000_000_000_000_000
	for _, tt := range []struct {
		largest uint64
		want    []uint64
	}{
		{0, []uint64{0, 1}},
		{1, []uint64{0, 1}},
		{2, []uint64{0, 1, 2}},
		{5, []uint64{0, 1, 2, 3, 4, 5}},
		{6, []uint64{0, 2, 4, 6}},
		{7, []uint64{0, 2, 4, 6, 8}},
		{10, []uint64{0, 2, 4, 6, 8, 10}},
		{11, []uint64{0, 5, 10, 15}},
		{25, []uint64{0, 5, 10, 15, 20, 25}},
		{26, []uint64{0, 10, 20, 30}},
		{999, []uint64{0, 200, 400, 600, 800, 1000}},
		{1001, []uint64{0, 500, 1000, 1500}},
		{9 * e, []uint64{0, 2 * e, 4 * e, 6 * e, 8 * e, 10 * e}},
		{math.MaxUint64, []uint64{0, 5 * e, 10 * e, 15 * e}}, // 20 * e needs 65 bits
	} {
		if got := ticks(tt.largest); !slices.Equal(got, tt.want) {
			t.Errorf("ticks(%d) = %d, want %d", tt.largest, got, tt.want)
		}
	}
}

// FuzzScale compares scale with arbitrary precision.
func FuzzScale(f *testing.F) {
	for _, v := range []uint64{0, 1, 2, 3, 7, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64} {
		f.Add(v, v)
		f.Add(v/2, v)
		f.Add(v/3, v)
		f.Add(uint64(1), v)
	}
	f.Fuzz(func(t *testing.T, value, top uint64) {
		if value > top || top == 0 {
			return
		}
		const length = 1600
		n := new(big.Int).SetUint64(value)
		n.Mul(n, big.NewInt(2*length)).Add(n, new(big.Int).SetUint64(top))
		n.Div(n, new(big.Int).Mul(new(big.Int).SetUint64(top), big.NewInt(2)))
		if got := scale(value, top, length); int64(got) != n.Int64() {
			t.Errorf("scale(%d, %d, %d) = %d, want %v", value, top, length, got, n)
		}
	})
}
