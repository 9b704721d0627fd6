package format

import (
	"strings"

	"github.com/nomen-project/nomen/internal/accept"
)

// Negotiate returns the offer that an Accept field prefers (RFC 9110, 12.5.1). If a request has
// several such fields, join them with commas. Of offers with the same quality (q), those whose
// types are in the field come first, then those that match "type/*", and then those that match
// "*/*". After that, the earlier offer comes first. If the field is "", the first offer is chosen
// (1995, 3.4.2).
//
// If no offer is acceptable, Negotiate returns the fallback, unless the field excludes it by q=0.
// It then returns the first offer that is not excluded. If all are excluded, it returns false, and
// the response must have the status 406.
//
// A charset in the field must be that of the format, and a format without a charset counts as
// utf-8. If the field has any other parameter of a text type, that type does not match. Parameters
// of other types, such as the profile of JSON-LD, are ignored.
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

// notExcluded returns the index of the first of n offers without q=0, and false if all have q=0.
func notExcluded(n int, of func(int) accept.Preference) (int, bool) {
	for i := range n {
		if of(i).Q != 0 {
			return i, true
		}
	}
	return 0, false
}
