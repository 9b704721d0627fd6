package server

import (
	"io"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
)

// offersFor returns the formats of an answer to a service, the preferred one
// first: text/urc-0 for descriptions (1995, Y95-45), text/uri-list for lists and
// single names (RFC 2169, 2.2).
func offersFor(s nomen.Service) []format.Format {
	offers := format.Formats()
	if s == nomen.IisI {
		offers = slices.DeleteFunc(offers, func(f format.Format) bool {
			return f.MediaType == format.TypeText || f.MediaType == format.TypeLinkset || f.MediaType == format.TypeLinksetJSON
		}) // links cannot say no
		return slices.Insert(offers, 0, truth)
	}
	if s == nomen.I2C || s == nomen.I2Cs {
		return offers
	}
	i := slices.IndexFunc(offers, func(f format.Format) bool { return f.MediaType == format.TypeURIList })
	list := offers[i]
	return slices.Insert(slices.Delete(offers, i, i+1), 0, list)
}

// truth is the answer to I=I as text (RFC 2483, 4.9).
var truth = format.Format{Name: "text", MediaType: format.TypeText, Charset: "utf-8", Write: func(w io.Writer, ans *nomen.Answer) error {
	said := "FALSE\r\n"
	if ans.Same {
		said = "TRUE\r\n"
	}
	_, err := io.WriteString(w, said)
	return err
}}

// The bounds of an Accept field; what is beyond them is not looked at.
const (
	maxAccept = 8 << 10
	maxRanges = 64
)

// A mediaRange is one element of an Accept field.
type mediaRange struct {
	value string // "type/subtype" in lower case
	q     int    // in thousandths
}

// mediaRanges reads an Accept field. Parameters other than q are passed over:
// they do not matter where only the kind of client is to be told.
func mediaRanges(accept string) []mediaRange {
	if len(accept) > maxAccept {
		return nil
	}
	var all []mediaRange
	for element := range strings.SplitSeq(accept, ",") {
		value, params, _ := strings.Cut(element, ";")
		value = strings.ToLower(strings.Trim(value, " \t"))
		if !strings.Contains(value, "/") {
			continue
		}
		if all = append(all, mediaRange{value, weight(params)}); len(all) == maxRanges {
			break
		}
	}
	return all
}

// weight returns the parameter q in thousandths, 1000 if there is none, 0 if it
// cannot be read.
func weight(params string) int {
	for param := range strings.SplitSeq(params, ";") {
		key, value, ok := strings.Cut(strings.Trim(param, " \t"), "=")
		if ok && strings.EqualFold(key, "q") {
			return thousandths(value)
		}
	}
	return 1000
}

// thousandths reads ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] ).
func thousandths(s string) int {
	whole, fraction, _ := strings.Cut(s, ".")
	if whole != "0" && whole != "1" || len(fraction) > 3 {
		return 0
	}
	n := int(whole[0] - '0')
	for _, c := range []byte((fraction + "000")[:3]) {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return min(n, 1000)
}

// descriptive returns the media types that say about a name what a location does
// not, and that a client who names them prefers over a page and over anything:
// such a client wants the description and no redirection.
func descriptive(accept string) []string {
	ranges := mediaRanges(accept)
	page := max(weightOf(ranges, format.TypeHTML, "text/*", "*/*"), weightOf(ranges, "*/*"))
	var wanted []string
	for _, t := range []string{format.TypeLinksetJSON, format.TypeLinkset, format.TypeJSONLD, format.TypeJSON, format.TypeURIList, format.TypeURC} {
		if weightOf(ranges, t) > page {
			wanted = append(wanted, t)
		}
	}
	return wanted
}

// weightOf returns the weight of the first of the names that a range has.
func weightOf(ranges []mediaRange, names ...string) int {
	for _, name := range names {
		for _, r := range ranges {
			if r.value == name {
				return r.q
			}
		}
	}
	return 0
}

// carried reports whether a location is of one of the types.
func carried(locations []nomen.Location, types []string) bool {
	return slices.ContainsFunc(locations, func(l nomen.Location) bool {
		mediaType, _, _ := strings.Cut(strings.ToLower(l.Type), ";")
		return slices.Contains(types, strings.TrimSpace(mediaType))
	})
}

// readsPages reports whether a client that takes plain text takes a page for people
// as gladly: text/html is named, with a weight no smaller than that of text/plain. A
// browser for terminals, such as lynx, names both.
func readsPages(accept string) bool {
	if !mentions(accept, "html") {
		return false
	}
	ranges := mediaRanges(accept)
	page := weightOf(ranges, format.TypeHTML)
	return page > 0 && page >= weightOf(ranges, format.TypeText, "text/*", "*/*")
}

// problemForm returns the form of a problem: that of [format.ProblemFormat], but a
// page where plain text is wanted no more than that.
func problemForm(accept string) format.ProblemForm {
	f := format.ProblemFormat(accept)
	if f.MediaType == format.TypeText && readsPages(accept) {
		return format.ProblemFormat(format.TypeHTML)
	}
	return f
}

// onlyPlain reports whether a client accepts text/plain and nothing else.
func onlyPlain(accept string) bool {
	ranges := mediaRanges(accept)
	for _, r := range ranges {
		if r.q > 0 && r.value != format.TypeText {
			return false
		}
	}
	return weightOf(ranges, format.TypeText) > 0
}
