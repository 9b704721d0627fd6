package discover

import (
	"cmp"
	"slices"
)

// sortSRV returns records in the order in which to try their servers (RFC 2782). Records are sorted
// by priority. Records of the same priority are in random order, with probabilities in proportion
// to their weights. The function pick returns a random number from 0 to n-1.
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

// draw moves one of the records, chosen at random by weight, to the front. The records must be
// sorted by weight. The records before the chosen one keep their order, so that records of weight 0
// come first, where RFC 2782 gives them a small chance.
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
