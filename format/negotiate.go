package format

import (
	"strings"

	"github.com/nomen-project/nomen/internal/accept"
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
// The parameter charset matches the format's own, and utf-8 those that have none.
// Other parameters match nothing of type text; those of other types, such as the
// profile of JSON-LD and of linksets, are ignored.
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

// best returns the index of the most wanted of n offers, if one is acceptable.
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
