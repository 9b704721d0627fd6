package format

import (
	"strings"

	"github.com/nomen-project/nomen/internal/accept"
)

// Negotiate returns the offer that an Accept field prefers (RFC 9110, 12.5.1). Several fields
// must be joined with commas first. Among offers of equal quality (q), an offer whose type is in
// the field precedes one that matches "type/*", which precedes one that matches "*/*". Of offers
// that are still equal, the earlier one wins. If the field is "", the first offer wins (1995,
// 3.4.2).
//
// If no offer is acceptable, Negotiate returns the fallback. If q=0 excludes the fallback, it
// returns the first offer that q=0 does not exclude. If q=0 excludes every offer, the result is
// false, and the response must be 406.
//
// A parameter charset in the field must equal the charset of the format; a format without a
// charset counts as utf-8. A text type with any other parameter does not match. For other types,
// such as JSON-LD and linksets, other parameters (for example profile) are ignored.
func Negotiate(field string, offers []Format, fallback Format) (Format, bool) {
	var f accept.Field
	f.ReadMedia(field)
	of := func(i int) accept.Preference { return offers[i].preference(&f) }
	if i, ok := best(&f, len(offers), of); ok {
		return offers[i], true
	}
	i, ok := notExcluded(len(offers), of)
	switch {
	case !ok:
		return Format{}, false
	case fallback.preference(&f).Q == 0:
		return offers[i], true
	}
	return fallback, true
}

func (f Format) preference(field *accept.Field) accept.Preference {
	return preference(field, f.MediaType, f.Charset)
}

func preference(field *accept.Field, mediaType, charset string) accept.Preference {
	return field.Media(mediaType, charset, !strings.HasPrefix(mediaType, "text/"))
}

// best returns the index of the preferred one of n offers, if one is acceptable.
func best(f *accept.Field, n int, of func(int) accept.Preference) (int, bool) {
	top, index := accept.Preference{}, -1
	for i := range n {
		p := accept.Preference{Q: accept.Most}
		if f.Len() > 0 {
			p = of(i)
		}
		if p.Q > top.Q || p.Q == top.Q && p.Q > 0 && p.Specificity > top.Specificity {
			top, index = p, i
		}
	}
	return index, index >= 0
}

// notExcluded returns the index of the first of n offers that q=0 does not exclude.
func notExcluded(n int, of func(int) accept.Preference) (int, bool) {
	for i := range n {
		if of(i).Q != 0 {
			return i, true
		}
	}
	return 0, false
}
