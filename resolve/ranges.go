package resolve

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/weight"
)

// maxRanges bounds how many ranges of one header field are looked at.
const maxRanges = 64

// A ranges is the list of an Accept or Accept-Language field (RFC 9110, 12.4.2).
type ranges []weighted

type weighted struct {
	value string // in lower case, without parameters
	q     int    // in thousandths
}

// parseRanges reads a field leniently: an element that cannot be read is passed
// over.
func parseRanges(field string) ranges {
	var out ranges
	for element := range strings.SplitSeq(field, ",") {
		value, params, _ := strings.Cut(element, ";")
		value = strings.ToLower(strings.Trim(value, " \t"))
		q, ok := quality(params)
		if value == "" || !ok {
			continue
		}
		if out = append(out, weighted{value, q}); len(out) == maxRanges {
			break
		}
	}
	return out
}

// withParents adds to language ranges those that they begin with, just below
// them: who asks for de-AT reads de, unless the field says how much (RFC 4647,
// 3.4).
func (r ranges) withParents() ranges {
	all := slices.Clone(r)
	for _, w := range r {
		for w.cut() && w.q > unstated {
			if !slices.ContainsFunc(all, func(o weighted) bool { return o.value == w.value }) {
				all = append(all, w)
			}
		}
	}
	return all
}

// cut takes the last subtag from a language range, and a little of its weight.
func (w *weighted) cut() bool {
	i := strings.LastIndexByte(w.value, '-')
	if i <= 0 {
		return false
	}
	w.value, w.q = w.value[:i], w.q-1
	return true
}

// quality returns the q parameter in thousandths, the most if there is none.
func quality(params string) (int, bool) {
	for p := range strings.SplitSeq(params, ";") {
		name, value, ok := strings.Cut(strings.Trim(p, " \t"), "=")
		if ok && strings.EqualFold(name, "q") {
			return weight.Parse(value)
		}
	}
	return weight.Most, true
}

// unstated ranks what says nothing about itself, or what is not asked for, above
// what is refused and below what is wanted.
const unstated = 1

// quality returns how much a value is wanted: the q of the most specific range
// that matches, the most if nothing was asked for.
func (r ranges) quality(value string, match func(value, pattern string) int) int {
	if len(r) == 0 {
		return weight.Most
	}
	value, _, _ = strings.Cut(strings.ToLower(value), ";")
	best, q := 0, unstated
	for _, w := range r {
		if m := match(strings.TrimSpace(value), w.value); m > best {
			best, q = m, w.q
		}
	}
	return q
}

// matchType returns how specific a match of a media range is, 0 for none.
func matchType(value, pattern string) int {
	kind, isAny := strings.CutSuffix(pattern, "/*")
	switch {
	case pattern == "*/*":
		return 1
	case value == "":
		return 0
	case isAny && strings.HasPrefix(value, kind+"/"):
		return 2
	case value == pattern:
		return 3
	}
	return 0
}

// matchLanguage is basic filtering of RFC 4647: the length of the range that is
// a prefix of the tag, plus one; 1 for "*".
func matchLanguage(value, pattern string) int {
	switch {
	case pattern == "*":
		return 1
	case value == pattern, strings.HasPrefix(value, pattern+"-"):
		return len(pattern) + 1
	}
	return 0
}
