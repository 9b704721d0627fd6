package check

import "testing"

// TestPasses checks that the progress of a verification counts each change once.
func TestPasses(t *testing.T) {
	var last, total uint64
	reports := 0
	p := newPasses(100_000, 3, func(done, of uint64) {
		if done < last || done > of {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last, total = done, of
		reports++
	})
	for pass, units := range []uint64{100_000, 50_000, 0} {
		p.begin(units)
		for range units + 30_000 { // the number of units is an estimate
			p.add(1)
		}
		if want := uint64(pass+1) * 100_000 / 3; last != want || total != 100_000 {
			t.Errorf("after pass %d: %d of %d, want %d of 100000", pass+1, last, total, want)
		}
	}
	p.end()
	if last != 100_000 || reports > 30 {
		t.Errorf("at the end %d after %d reports", last, reports)
	}
	none := newPasses(0, 2, nil)
	none.begin(0)
	none.add(2 * passStep)
	none.end()
}
