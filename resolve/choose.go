package resolve

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
)

// choose returns the locations that q can use, the best first: those that are
// valid at the time asked about, of the component asked for, in the order of how
// well they fit the types and languages wanted, of priority, the country of the
// asker, weight, and else as registered. The order is the same for the same
// question.
func (e *Engine) choose(all []nomen.Location, q nomen.Question) []nomen.Location {
	at := q.At
	if at.IsZero() {
		at = e.now()
	}
	valid := slices.DeleteFunc(slices.Clone(all), func(l nomen.Location) bool { return !validAt(l, at) })
	usable := ofComponent(valid, q.Component)
	types, languages := parseRanges(q.Accept), parseRanges(q.Languages).withParents()
	ranked := make([]rank, 0, len(usable))
	for _, l := range usable {
		ranked = append(ranked, rank{
			location: l, mediaQ: types.quality(l.Type, matchType), langQ: languages.quality(l.Lang, matchLanguage),
			near: nearness(l, q.Country),
		})
	}
	slices.SortStableFunc(ranked, rank.compare)
	out := make([]nomen.Location, len(ranked))
	for i, r := range ranked {
		out[i] = r.location
	}
	return out
}

// ofComponent returns the locations of a component. One that no location has is
// as if none were asked for (2012, 2.3), which means the whole; where that has no
// location either, all are left.
func ofComponent(valid []nomen.Location, component string) []nomen.Location {
	for _, wanted := range []string{component, ""} {
		other := func(l nomen.Location) bool { return l.Component != wanted }
		if of := slices.DeleteFunc(slices.Clone(valid), other); len(of) > 0 {
			return of
		}
	}
	return valid
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

// A rank is what a location is ordered by.
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
