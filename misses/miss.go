package misses

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// A Miss is an unknown name and the number of requests for it.
type Miss struct {
	Name        string    `json:"name"`
	Count       uint64    `json:"count"`                 // number of requests since First
	First       time.Time `json:"first"`                 // hour of the first request, UTC
	Last        time.Time `json:"last"`                  // hour of the last request, UTC
	Suggestions []string  `json:"suggestions,omitempty"` // similar names that exist, as of the last request with suggestions
	Hidden      bool      `json:"hidden,omitempty"`      // a user has hidden the name
	Bots        uint64    `json:"bots,omitempty"`        // number of requests from robots, included in Count
	Months      uint16    `json:"months,omitempty"`      // bit i is set if there were requests i months before the month of Last; 0 if unknown
}

// MonthsSeen returns the number of the last 12 months in which the name was requested. It is a
// minimum if the months are not known completely.
func (m Miss) MonthsSeen(now time.Time) int {
	return bits.OnesCount16(shifted(m.Months|1, monthOf(now)-monthOf(m.Last)) & (1<<12 - 1))
}

// SeenIn reports whether the name is known to have been requested in the month of a time.
func (m Miss) SeenIn(month time.Time) bool {
	back := monthOf(m.Last) - monthOf(month)
	return back >= 0 && back < 16 && (m.Months|1)>>back&1 == 1
}

// IsRare reports whether the name probably needs no remedy: it was requested only once and is not
// similar to an existing name. Most such names are typing errors, or guesses of programs that
// search for vulnerabilities.
func (m Miss) IsRare() bool { return m.Count == 1 && len(m.Suggestions) == 0 }

func monthOf(t time.Time) int { return t.UTC().Year()*12 + int(t.UTC().Month()) }

// shifted returns the bits of months as seen n months later. If n is negative, this is earlier.
func shifted(months uint16, n int) uint16 {
	if n < 0 {
		return months >> min(-n, 16)
	}
	return months << min(n, 16)
}

// see records a request in the given hour, which may be before Last if the clock was set back.
func (m *Miss) see(hour time.Time) {
	n := monthOf(hour) - monthOf(m.Last)
	if n >= 0 {
		m.Months = shifted(m.Months, n) | 1
	} else {
		m.Months |= 1 << min(-n, 15)
	}
	if hour.After(m.Last) {
		m.Last = hour
	}
}

// Totals are the numbers of all failed lookups.
type Totals struct {
	Since time.Time `json:"since"` // the hour in which counting started, UTC
	Asked uint64    `json:"asked"` // requests for unknown names
	Other uint64    `json:"other"` // requests that are not in a Count, because the name was removed or never added
}

// byCount compares misses by count, the most frequent first, then by the latest request, and then
// by name.
func byCount(a, b Miss) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), strings.Compare(a.Name, b.Name))
}

// Merge adds up the lists of several servers, and sorts the result by count. For each name it keeps
// the latest suggestions.
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

// with returns the sum of two misses of the same name.
func (m Miss) with(other Miss) Miss {
	m.Count += other.Count
	m.Hidden = m.Hidden && other.Hidden
	m.Bots += other.Bots
	if n := monthOf(other.Last) - monthOf(m.Last); n >= 0 {
		m.Months = shifted(m.Months, n) | other.Months
	} else {
		m.Months |= shifted(other.Months, -n)
	}
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

// Join returns the sum of the totals of two servers.
func (t Totals) Join(other Totals) Totals {
	if t.Since.IsZero() || !other.Since.IsZero() && other.Since.Before(t.Since) {
		t.Since = other.Since
	}
	t.Asked += other.Asked
	t.Other += other.Other
	return t
}
