package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/accept"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/store"
)

// A choice has the client's preferences, by which locations are ordered.
type choice struct {
	types, languages accept.Field
	country          string

	instead *nomen.Location // the dead location that an archived copy replaces, or nil
}

func (c *choice) read(q *nomen.Question) {
	c.country = q.Country
	c.types.ReadMedia(q.Accept)
	c.languages.ReadTokens(q.Languages)
	c.languages.AddParents(unstated)
}

// fit removes locations that are not allowed. Such locations can come from an old store, from
// another program, or from a rule. The result has the same underlying array.
func (d *decision) fit(all []nomen.Location) []nomen.Location {
	return slices.DeleteFunc(all, func(l nomen.Location) bool {
		err := location.Check(l.URL)
		if err != nil && d.q.Explain {
			d.explain("left out: %s: %s", l.URL, err)
		}
		return err != nil
	})
}

// usable returns the locations to use, in the same underlying array. It returns the first of these
// sets that is not empty. A location is valid if the question is about a time in its period of
// validity:
//
//  1. valid locations of the requested component (draft of 2012, section 2.3);
//  2. valid locations of the whole resource;
//  3. all valid locations.
func (d *decision) usable(all []nomen.Location) []nomen.Location {
	at := d.q.At
	valid := all[:0]
	for i := range all {
		if bounded(&all[i]) {
			d.depends.Unknown()
			if at.IsZero() {
				at = d.o.Now()
			}
			d.validity.note(&all[i], at)
			if !validAt(&all[i], at) {
				continue
			}
		}
		valid = append(valid, all[i])
	}
	for _, wanted := range [...]string{d.q.Component, ""} {
		of := func(l nomen.Location) bool { return l.Component == wanted }
		if slices.ContainsFunc(valid, of) {
			return slices.DeleteFunc(valid, func(l nomen.Location) bool { return !of(l) })
		}
	}
	return valid
}

// ofResource removes the locations of related resources, such as a licence. If no other locations
// exist, it removes nothing.
func ofResource(all []nomen.Location) []nomen.Location {
	beside := func(l nomen.Location) bool { return nomen.RelationOf(l.Rel) == nomen.Beside }
	if !slices.ContainsFunc(all, func(l nomen.Location) bool { return !beside(l) }) {
		return all
	}
	return slices.DeleteFunc(all, beside)
}

func bounded(l *nomen.Location) bool { return l.ValidFrom != "" || l.ValidUntil != "" }

func (d *decision) pick(n int) int {
	d.depends.Unknown()
	return d.o.Pick(n)
}

func validAt(l *nomen.Location, at time.Time) bool {
	if from, ok := instant(l.ValidFrom); ok && at.Before(from) {
		return false
	}
	until, ok := instant(l.ValidUntil)
	return !ok || at.Before(until)
}

// A validity has the times of the last and the next change to the set of valid locations. A time is
// zero if there is no such change.
type validity struct{ last, next time.Time }

// note updates v with the start and the end of a location's validity.
func (v *validity) note(l *nomen.Location, now time.Time) {
	for _, s := range [...]string{l.ValidFrom, l.ValidUntil} {
		t, ok := instant(s)
		switch {
		case !ok:
		case t.After(now):
			if v.next.IsZero() || t.Before(v.next) {
				v.next = t
			}
		case t.After(v.last):
			v.last = t
		}
	}
}

// bound limits the time for which an answer may be cached to the time until the next change.
func (v *validity) bound(a *nomen.Answer, now time.Time) {
	if v.last.After(a.Modified) {
		a.Changed = v.last.UTC()
	}
	if !v.next.IsZero() && a.MaxAge > 0 {
		a.MaxAge = min(a.MaxAge, max(v.next.Sub(now), 1)) // 0 would mean unknown
	}
}

func instant(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, false // Parse would allocate an error
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}

// A rank has the values by which a location is ordered, except its weight.
type rank struct {
	down     bool
	mediaQ   int // quality of the media type, from 0 to 1000
	langQ    int
	priority int
	rel      nomen.Relation
	near     int
}

func (c *choice) rank(l *nomen.Location) rank {
	mediaType, lang, priority := l.Type, l.Lang, orOne(l.Priority)
	if c.instead != nil && !l.Down && IsArchived(l.Rel) {
		mediaType, lang = cmp.Or(mediaType, c.instead.Type), cmp.Or(lang, c.instead.Lang)
		priority = min(priority, orOne(c.instead.Priority))
	}
	return rank{
		down: l.Down, mediaQ: c.mediaQ(mediaType), langQ: c.langQ(lang),
		priority: priority, rel: nomen.RelationOf(l.Rel), near: nearness(l, c.country),
	}
}

// unstated is the quality of a media type or language that the client's preferences do not mention.
// Rejected values have the quality 0, and accepted values have at least the quality unstated. A
// location without a media type matches only "*/*", and a location without a language only "*".
const unstated = 1

func (c *choice) mediaQ(mediaType string) int {
	if c.types.Len() == 0 {
		return accept.Most
	}
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return weightOf(c.types.Media(strings.TrimSpace(mediaType), "*", true))
}

func (c *choice) langQ(tag string) int {
	if c.languages.Len() == 0 {
		return accept.Most
	}
	return weightOf(c.languages.Language(tag))
}

func weightOf(p accept.Preference) int {
	if p.Q == accept.Unmatched {
		return unstated
	}
	return p.Q
}

// compare returns a negative number if a is better than b, and a positive number if b is better.
func (a rank) compare(b rank) int {
	if a.down != b.down {
		if b.down {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.mediaQ, a.mediaQ),
		cmp.Compare(b.langQ, a.langQ),
		cmp.Compare(a.priority, b.priority),
		cmp.Compare(a.rel, b.rel),
		cmp.Compare(b.near, a.near),
	)
}

func (a rank) String() string {
	s := fmt.Sprintf("media type %d/1000, language %d/1000, priority %d, %s", a.mediaQ, a.langQ, a.priority, a.rel)
	if a.near > 0 {
		s += ", in the client's country"
	}
	if a.down {
		s = "down, " + s
	}
	return s
}

func orOne(n int) int { return max(n, 1) }

func nearness(l *nomen.Location, country string) int {
	if country != "" && strings.EqualFold(l.Country, country) {
		return 1
	}
	return 0
}

// order sorts locations, with the best location first. Weights are compared and not drawn at
// random.
func (c *choice) order(locations []nomen.Location) {
	if len(locations) < 2 {
		return
	}
	type ranked struct {
		rank
		at int
	}
	ranks := make([]ranked, len(locations))
	for i := range locations {
		ranks[i] = ranked{c.rank(&locations[i]), i}
	}
	slices.SortFunc(ranks, func(a, b ranked) int {
		return cmp.Or(a.compare(b.rank), cmp.Compare(orOne(locations[b.at].Weight), orOne(locations[a.at].Weight)), cmp.Compare(a.at, b.at))
	})
	sorted := make([]nomen.Location, len(locations))
	for i, r := range ranks {
		sorted[i] = locations[r.at]
	}
	copy(locations, sorted)
}

// best returns the index of the location to use, or -1. It does not allocate.
func (c *choice) best(locations []nomen.Location, how store.Choice, pick func(int) int) int {
	best, total := -1, 0
	var top rank
	for i := range locations {
		r := c.rank(&locations[i])
		order := -1
		if best >= 0 {
			order = r.compare(top)
		}
		weight := orOne(locations[i].Weight)
		switch {
		case order < 0:
			best, top, total = i, r, weight
		case order > 0:
		case how == store.ChoiceFixed:
			if weight > orOne(locations[best].Weight) {
				best = i
			}
		default:
			total += weight
		}
	}
	if best < 0 || how == store.ChoiceFixed || total == orOne(locations[best].Weight) {
		return best
	}
	share := pick(total)
	for i := best; i < len(locations); i++ {
		if c.rank(&locations[i]).compare(top) != 0 {
			continue
		}
		if share -= orOne(locations[i].Weight); share < 0 {
			return i
		}
	}
	return best
}
