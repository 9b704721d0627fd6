package resolve

import (
	"strings"

	"github.com/nomen-project/nomen/internal/weight"
)

// maxRanges bounds how many ranges of one header field are looked at.
const maxRanges = 32

// A ranges is the list of an Accept or Accept-Language field (RFC 9110, 12.4.2).
type ranges struct {
	n    int
	list [maxRanges]weighted
}

type weighted struct {
	value  string // in any case, without parameters
	q      int32  // in thousandths
	narrow bool   // it has parameters: one of the same value without is nearer
}

// all returns the ranges that are there.
func (r *ranges) all() []weighted { return r.list[:r.n] }

func (r *ranges) add(w weighted) {
	if r.n < maxRanges {
		r.list[r.n] = w
		r.n++
	}
}

// read reads a field leniently: an element that cannot be read is passed over.
func (r *ranges) read(field string) {
	quotes := strings.IndexByte(field, '"') >= 0
	for field != "" && r.n < maxRanges {
		var element string
		element, field = cutOutside(field, ',', quotes)
		value, params := cutOutside(element, ';', quotes)
		value = strings.Trim(value, " \t")
		if q, narrow, ok := quality(params, quotes); value != "" && ok {
			r.add(weighted{value, int32(q), narrow})
		}
	}
}

// cutOutside cuts s at the first separator that is not in a quoted-string, of which
// there may be some if quotes says so.
func cutOutside(s string, separator byte, quotes bool) (before, after string) {
	i := strings.IndexByte(s, separator)
	if i >= 0 && quotes {
		i = indexOutside(s, separator)
	}
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}

func indexOutside(s string, separator byte) int {
	inside := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			inside = !inside
		case inside && c == '\\':
			i++
		case !inside && c == separator:
			return i
		}
	}
	return -1
}

// addParents adds to language ranges those that they begin with, just below them:
// who asks for de-AT reads de, unless the field says how much (RFC 4647, 3.4).
func (r *ranges) addParents() {
	for _, w := range r.list[:r.n] {
		for w.cut() && w.q > unstated {
			if !r.has(w.value) {
				r.add(w)
			}
		}
	}
}

func (r *ranges) has(value string) bool {
	for i := range r.all() {
		if strings.EqualFold(r.list[i].value, value) {
			return true
		}
	}
	return false
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

// quality returns the q parameter in thousandths, the most if there is none, and
// whether there are others.
func quality(params string, quotes bool) (q int, narrow, ok bool) {
	q = weight.Most
	for params != "" {
		var p string
		p, params = cutOutside(params, ';', quotes)
		name, value, isParam := strings.Cut(strings.Trim(p, " \t"), "=")
		if isParam && strings.EqualFold(name, "q") {
			q, ok = weight.Parse(value)
			return q, narrow, ok
		}
		narrow = narrow || isParam
	}
	return q, narrow, true
}

// unstated ranks what says nothing about itself, or what is not asked for, above
// what is refused and below what is wanted.
const unstated = 1

// quality returns how much a value is wanted: the q of the most specific range
// that matches, the most if nothing was asked for.
func (r *ranges) quality(value string, match func(value, pattern string) int) int {
	if r.n == 0 {
		return weight.Most
	}
	value, _, _ = strings.Cut(value, ";")
	value = strings.TrimSpace(value)
	best, q := 0, unstated
	for i := range r.all() {
		w := &r.list[i]
		m := 2 * match(value, w.value)
		if m > 0 && w.narrow {
			m--
		}
		if m > best {
			best, q = m, int(w.q)
		}
	}
	return q
}

// matchType returns how specific a match of a media range is, 0 for none.
func matchType(value, pattern string) int {
	kind, isAny := strings.CutSuffix(pattern, "*")
	switch {
	case pattern == "*/*":
		return 1
	case value == "":
		return 0
	case isAny && strings.HasSuffix(kind, "/") && beginsWith(value, kind):
		return 2
	case strings.EqualFold(value, pattern):
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
	case beginsWith(value, pattern) && (len(value) == len(pattern) || value[len(pattern)] == '-'):
		return len(pattern) + 1
	}
	return 0
}

// beginsWith reports whether s begins with prefix in any case.
func beginsWith(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
