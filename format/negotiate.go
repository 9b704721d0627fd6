package format

import (
	"strings"

	"github.com/nomen-project/nomen/internal/accept"
)

// Negotiate returns the offer that an Accept field prefers (RFC 9110, section 12.5.1). If a request
// has several such fields, join them with commas. If several offers have the same quality (q),
// Negotiate prefers types that are in the field to matches of "type/*", and these to matches of
// "*/*". Of the remaining offers, it chooses the first. If the field is "", it returns the first
// offer (draft of 1995, section 3.4.2).
//
// If no offer is acceptable, Negotiate returns the fallback. If the field excludes the fallback by
// q=0, it returns the first offer that is not excluded. If all offers are excluded, it returns
// false, and the response must have the status 406.
//
// A charset parameter in the field must equal the charset of the format. A format without a charset
// counts as utf-8. A text type with any other parameter does not match. The parameters of other
// types, such as the profile of JSON-LD, are ignored.
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

// notExcluded returns the index of the first of n offers that the field does not exclude by q=0. It
// returns false if all offers are excluded.
func notExcluded(n int, of func(int) accept.Preference) (int, bool) {
	for i := range n {
		if of(i).Q != 0 {
			return i, true
		}
	}
	return 0, false
}
