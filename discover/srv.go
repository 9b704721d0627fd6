package discover

import (
	"cmp"
	"slices"
)

// sortSRV returns records in the order in which to try their servers (RFC 2782). Records are sorted
// by priority. Records of the same priority are in random order, in which greater weights are more
// likely to come first. The function pick returns a random number from 0 to n-1.
func sortSRV(records []SRV, pick func(n int) int) []SRV {
	rest := slices.Clone(records)
	slices.SortStableFunc(rest, func(a, b SRV) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Weight, b.Weight))
	})
	for first := range rest {
		last := first
		for last < len(rest) && rest[last].Priority == rest[first].Priority {
			last++
		}
		draw(rest[first:last], pick)
	}
	return rest
}

// draw chooses one of the records at random by weight, and moves it to the front. The records must
// be sorted by weight. All other records keep their order. As RFC 2782 requires, records of weight
// 0 remain first, so that they have a small chance of being chosen.
func draw(records []SRV, pick func(n int) int) {
	sum := 0
	for _, r := range records {
		sum += int(r.Weight)
	}
	drawn, seen := pick(sum+1), 0
	for i, r := range records {
		if seen += int(r.Weight); seen >= drawn {
			copy(records[1:i+1], records[:i])
			records[0] = r
			return
		}
	}
}
