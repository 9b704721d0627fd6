package misses

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Miss is a name that was asked for and is not known.
type Miss struct {
	Name        string    `json:"name"`
	Count       uint64    `json:"count"`                 // of questions since First
	First       time.Time `json:"first"`                 // the hour of the first of them, UTC
	Last        time.Time `json:"last"`                  // the hour of the last of them, UTC
	Suggestions []string  `json:"suggestions,omitempty"` // what may have been meant, as of the last question that had any
}

// Totals say what a list of misses is part of.
type Totals struct {
	Since time.Time `json:"since"` // the hour in which counting began, UTC
	Asked uint64    `json:"asked"` // questions about names that are not known
	Other uint64    `json:"other"` // those of them that no Count has: the names made room for others, or were never taken in
}

// byCount orders misses: the most frequent first, then the latest, then by name.
func byCount(a, b Miss) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), strings.Compare(a.Name, b.Name))
}

// Merge makes one list of those of several servers, the most frequent first: the
// counts of one name are added, the suggestions are the latest.
func Merge(lists ...[]Miss) []Miss {
	index := map[string]int{}
	var all []Miss
	for _, list := range lists {
		for _, m := range list {
			i, ok := index[m.Name]
			if !ok {
				index[m.Name] = len(all)
				all = append(all, m)
				continue
			}
			all[i] = all[i].with(m)
		}
	}
	slices.SortFunc(all, byCount)
	return all
}

// with returns the miss that two of the same name come to.
func (m Miss) with(other Miss) Miss {
	m.Count += other.Count
	if other.First.Before(m.First) {
		m.First = other.First
	}
	if len(m.Suggestions) == 0 || len(other.Suggestions) > 0 && other.Last.After(m.Last) {
		m.Suggestions = other.Suggestions
	}
	if other.Last.After(m.Last) {
		m.Last = other.Last
	}
	return m
}

// Join returns the totals of two servers together.
func (t Totals) Join(other Totals) Totals {
	if t.Since.IsZero() || !other.Since.IsZero() && other.Since.Before(t.Since) {
		t.Since = other.Since
	}
	t.Asked += other.Asked
	t.Other += other.Other
	return t
}
