package discover

import (
	"cmp"
	"slices"
)

// sortSRV returns records in the order in which to try their servers: by
// priority, and within one priority at random, in proportion to their weights
// (RFC 2782). pick returns a uniformly random number from 0 to n-1.
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

// draw chooses one of the records, which are sorted by weight, and moves it to the front. The
// records that were before it keep their order. So records of weight 0 stay before the others. In
// this position, each draw chooses them with a small probability, as RFC 2782 demands.
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
