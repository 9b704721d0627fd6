package format

import (
	"strings"

	"github.com/nomen-project/nomen/internal/weight"
)

// The bounds of an Accept field. A longer one is as if it were absent; ranges
// beyond the count are not looked at.
const (
	maxAccept = 8 << 10
	maxRanges = 64
)

// Negotiate returns the format that an Accept field (RFC 9110, 12.5.1) wants
// most; several fields are joined with commas before. Of formats equally wanted,
// one that the field names goes before one that falls under "type/*", and that
// before one under "*/*"; else the earlier offer wins, as it does where the field
// is absent, that is "" (1995, 3.4.2).
//
// If nothing offered is acceptable the fallback is taken, or where q=0 excludes
// that one, the first offer that is not excluded. It is not ok only if q=0
// excludes every offer: then the answer is 406.
//
// An element that is malformed is passed over. The parameter charset matches
// the format's own, and utf-8 those that have none; other parameters match
// nothing.
func Negotiate(accept string, offers []Format, fallback Format) (Format, bool) {
	all := make([]media, len(offers))
	for i, f := range offers {
		all[i] = f.media()
	}
	ranges := parseAccept(accept)
	if i, ok := ranges.best(all); ok {
		return offers[i], true
	}
	i, ok := ranges.notExcluded(all)
	switch {
	case !ok:
		return Format{}, false
	case ranges.match(fallback.media()).q == 0:
		return offers[i], true
	}
	return fallback, true
}

// A media is what a media range is compared with.
type media struct{ mediaType, charset string }

func (f Format) media() media { return media{f.MediaType, f.Charset} }

// A mediaRange is one element of an Accept field, in lower case.
type mediaRange struct {
	kind, subtype string // "*" for any
	params        []param
	q             int // in thousandths
}

type param struct{ name, value string }

// A preference is how much something is wanted, and how closely it was named.
type preference struct{ q, specificity int }

// unmatched is the preference of what no range speaks of.
const unmatched = -1

type accepted []mediaRange

// best returns the index of the most wanted offer, if one is acceptable.
func (ranges accepted) best(offers []media) (int, bool) {
	best, index := preference{}, -1
	for i, m := range offers {
		p := preference{q: weight.Most}
		if len(ranges) > 0 {
			p = ranges.match(m)
		}
		if p.q > best.q || p.q == best.q && p.q > 0 && p.specificity > best.specificity {
			best, index = p, i
		}
	}
	return index, index >= 0
}

// notExcluded returns the index of the first offer that q=0 does not exclude.
func (ranges accepted) notExcluded(offers []media) (int, bool) {
	for i, m := range offers {
		if ranges.match(m).q != 0 {
			return i, true
		}
	}
	return 0, false
}

// match returns the preference for m: that of the most specific range that
// applies, the first among equals.
func (ranges accepted) match(m media) preference {
	best := preference{q: unmatched}
	for _, r := range ranges {
		if s := r.specificity(m); s > best.specificity {
			best = preference{r.q, s}
		}
	}
	return best
}

// specificity grows with what the range says of m; it is 0 if r does not apply.
func (r mediaRange) specificity(m media) int {
	kind, subtype, _ := strings.Cut(m.mediaType, "/")
	s := 0
	switch {
	case r.kind == "*":
		s = 1
	case r.kind != kind:
		return 0
	case r.subtype == "*":
		s = 2
	case r.subtype == subtype:
		s = 3
	default:
		return 0
	}
	for _, p := range r.params {
		if p.name != "charset" || !strings.EqualFold(p.value, orUTF8(m.charset)) {
			return 0
		}
	}
	return s*maxAccept + len(r.params) // a field has fewer parameters than bytes
}

func orUTF8(charset string) string {
	if charset == "" {
		return charsetUTF8
	}
	return charset
}

// parseAccept reads Accept = #( media-range [ weight ] ).
func parseAccept(field string) accepted {
	if len(field) > maxAccept {
		return nil
	}
	var ranges accepted
	s := scanner{s: field}
	for !s.atEnd() && len(ranges) < maxRanges {
		s.skip(" \t,")
		start := s.i
		if r, ok := s.mediaRange(); ok && s.atElementEnd() {
			ranges = append(ranges, r)
			continue
		}
		s.i = start
		s.skipElement()
	}
	return ranges
}

// mediaRange reads ( "*/*" / type "/" "*" / type "/" subtype ) parameters, of
// which the one named q is the weight, wherever it stands.
func (s *scanner) mediaRange() (mediaRange, bool) {
	r := mediaRange{q: weight.Most}
	r.kind = strings.ToLower(s.token())
	if !s.accept('/') {
		return r, false
	}
	r.subtype = strings.ToLower(s.token())
	if r.kind == "" || r.subtype == "" || r.kind == "*" && r.subtype != "*" {
		return r, false
	}
	weighted := false
	for s.acceptSpaced(';') {
		if s.atParameterEnd() {
			continue // an empty parameter
		}
		name := strings.ToLower(s.token())
		if name == "" || !s.accept('=') {
			return r, false
		}
		if name == "q" {
			q, ok := weight.Parse(s.token())
			if !ok || weighted {
				return r, false
			}
			r.q, weighted = q, true
			continue
		}
		value, ok := s.value()
		if !ok {
			return r, false
		}
		r.params = append(r.params, param{name, value})
	}
	return r, true
}
