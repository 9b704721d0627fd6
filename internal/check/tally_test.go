package check

import (
	"math/rand/v2"
	"testing"
)

// TestTally checks that exactly the differences of two multisets are found, even if all elements
// differ, and if they are compared in several parts.
func TestTally(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, 2*maxHeld)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	each := func(list []uint64) each[uint64] {
		return func(f func(uint64)) error {
			for _, h := range list {
				f(h)
			}
			return nil
		}
	}
	differ := func(want, got []uint64) (missing, extra []uint64) {
		var c tally
		for _, h := range want {
			c.add(wanted, h)
		}
		for _, h := range got {
			c.add(present, h)
		}
		if c.count(wanted) != uint64(len(want)) {
			t.Errorf("%d elements, want %d", c.count(wanted), len(want))
		}
		err := compare(&c, func(h uint64) uint64 { return h }, each(want), each(got), func(h uint64) { missing = append(missing, h) }, func(h uint64) { extra = append(extra, h) })
		if err != nil {
			t.Error(err)
		}
		return missing, extra
	}
	if missing, extra := differ(hashes[:100], append([]uint64{hashes[5]}, hashes[1:101]...)); len(missing) != 1 || missing[0] != hashes[0] || len(extra) != 2 {
		t.Errorf("missing %v, extra %v", missing, extra)
	}
	if missing, extra := differ(hashes, hashes); len(missing)+len(extra) > 0 {
		t.Errorf("%d missing, %d extra of equal multisets", len(missing), len(extra))
	}
	if missing, extra := differ(hashes, nil); len(missing) != len(hashes) || len(extra) > 0 {
		t.Errorf("%d missing, %d extra, want all missing", len(missing), len(extra))
	}
}
