package resolve

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
)

// choose returns the locations that q can use, the best first. It leaves out
// those of another component and those not valid at the time asked about, and
// orders the rest by how well they fit the types and languages wanted, by
// priority, by weight, and else as registered. The order is the same for the
// same question.
func (e *Engine) choose(all []nomen.Location, q nomen.Question) []nomen.Location {
	at := q.At
	if at.IsZero() {
		at = e.now()
	}
	types, languages := parseRanges(q.Accept), parseRanges(q.Languages)
	ranked := make([]rank, 0, len(all))
	for _, l := range usable(all, q.Component, at) {
		ranked = append(ranked, rank{l, types.quality(l.Type, matchType), languages.quality(l.Lang, matchLanguage), nearness(l, q.Country)})
	}
	slices.SortStableFunc(ranked, rank.compare)
	out := make([]nomen.Location, len(ranked))
	for i, r := range ranked {
		out[i] = r.location
	}
	return out
}

// usable returns the locations of the component that are valid at the time. A
// component that no location has is as if none were asked for (2012, 2.3).
func usable(all []nomen.Location, component string, at time.Time) []nomen.Location {
	valid := slices.DeleteFunc(slices.Clone(all), func(l nomen.Location) bool { return !validAt(l, at) })
	of := func(l nomen.Location) bool { return l.Component == component }
	if !slices.ContainsFunc(valid, of) {
		of = func(l nomen.Location) bool { return l.Component == "" }
	}
	if !slices.ContainsFunc(valid, of) {
		return valid
	}
	return slices.DeleteFunc(valid, func(l nomen.Location) bool { return !of(l) })
}

func validAt(l nomen.Location, at time.Time) bool {
	if from, err := time.Parse(time.RFC3339, l.ValidFrom); err == nil && at.Before(from) {
		return false
	}
	until, err := time.Parse(time.RFC3339, l.ValidUntil)
	return err != nil || at.Before(until)
}

// nearness is 1 for a location in the asker's country, 0 otherwise.
func nearness(l nomen.Location, country string) int {
	if country != "" && strings.EqualFold(l.Country, country) {
		return 1
	}
	return 0
}

type rank struct {
	location nomen.Location
	mediaQ   int // 0 to 1000
	langQ    int
	near     int
}

func (a rank) compare(b rank) int {
	return cmp.Or(
		cmp.Compare(b.mediaQ, a.mediaQ),
		cmp.Compare(b.langQ, a.langQ),
		cmp.Compare(orOne(a.location.Priority), orOne(b.location.Priority)),
		cmp.Compare(b.near, a.near),
		cmp.Compare(orOne(b.location.Weight), orOne(a.location.Weight)),
	)
}

func orOne(n int) int { return max(n, 1) }
