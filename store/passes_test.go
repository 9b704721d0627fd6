package store

import "testing"

// TestPasses checks that the progress of a verification counts each change once.
func TestPasses(t *testing.T) {
	var last, total uint64
	reports := 0
	p := NewPasses(100_000, 3, func(done, of uint64) {
		if done < last || done > of {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last, total = done, of
		reports++
	})
	for pass, units := range []uint64{100_000, 50_000, 0} {
		p.Begin(units)
		for range units + 30_000 { // the number of units is an estimate
			p.Add(1)
		}
		if want := uint64(pass+1) * 100_000 / 3; last != want || total != 100_000 {
			t.Errorf("after pass %d: %d of %d, want %d of 100000", pass+1, last, total, want)
		}
	}
	p.End()
	if last != 100_000 || reports > 30 {
		t.Errorf("at the end %d after %d reports", last, reports)
	}
	none := NewPasses(0, 2, nil)
	none.Begin(0)
	none.Add(2 * passStep)
	none.End()
}
