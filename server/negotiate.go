package server

import (
	"io"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
)

// offersFor returns the formats for a service. The first format is the default: text/urc-0 for
// descriptions (draft of 1995: Y95-45), and text/uri-list for lists and single names (RFC 2169,
// 2.2).
func offersFor(s nomen.Service) []format.Format {
	offers := format.Formats()
	if s == nomen.IisI {
		offers = slices.DeleteFunc(offers, func(f format.Format) bool {
			return f.MediaType == format.TypeText || f.MediaType == format.TypeLinkset || f.MediaType == format.TypeLinksetJSON
		}) // a linkset cannot express false
		return slices.Insert(offers, 0, booleanText)
	}
	if s == nomen.I2C || s == nomen.I2Cs {
		return slices.Insert(offers, len(offers)-1, format.Citations()...)
	}
	i := slices.IndexFunc(offers, func(f format.Format) bool { return f.MediaType == format.TypeURIList })
	list := offers[i]
	return slices.Insert(slices.Delete(offers, i, i+1), 0, list)
}

// booleanText writes the answer to I=I as text (RFC 2483, 4.9).
var booleanText = format.Format{Name: "text", MediaType: format.TypeText, Charset: "utf-8", Write: func(w io.Writer, ans *nomen.Answer) error {
	said := "FALSE\r\n"
	if ans.Same {
		said = "TRUE\r\n"
	}
	_, err := io.WriteString(w, said)
	return err
}}

func media(f *accept.Field, mediaType string) accept.Preference {
	return f.Media(mediaType, "", !strings.HasPrefix(mediaType, "text/"))
}

var descriptions = [...]string{
	format.TypeLinksetJSON, format.TypeLinkset, format.TypeJSONLD, format.TypeSchemaOrg, format.TypeTurtle, format.TypeJSON,
	format.TypeCBOR, format.TypeURIList, format.TypeURC, format.TypeCSL, format.TypeBibTeX, format.TypeRIS,
}

// onlyCitations reports whether a client accepts nothing but formatted citations, which this server
// cannot make.
func onlyCitations(field string) bool {
	if !accept.Mentions(field, "bibliography") {
		return false
	}
	var f accept.Field
	f.ReadMedia(field)
	for i := range f.Len() {
		value, q := f.At(i)
		kind, _, _ := strings.Cut(value, ";")
		if kind = strings.ToLower(strings.TrimSpace(kind)); q > 0 && kind != "text/x-bibliography" && kind != "text/bibliography" {
			return false
		}
	}
	return f.Len() > 0
}

// preferredDescriptions returns the media types of descriptions that the client prefers to HTML and
// */*. Such a client gets the description instead of a redirect.
func preferredDescriptions(field string) []string {
	if strings.IndexByte(field, ',') < 0 && strings.HasPrefix(field, "*/*") {
		return nil // the most common field
	}
	var f accept.Field
	f.ReadMedia(field)
	page := max(media(&f, format.TypeHTML).Q, media(&f, "*/*").Q, 0)
	var wanted []string
	for _, t := range descriptions {
		if p := media(&f, t); p.Named() && p.Q > page {
			wanted = append(wanted, t)
		}
	}
	return wanted
}

func hasType(locations []nomen.Location, types []string) bool {
	return slices.ContainsFunc(locations, func(l nomen.Location) bool {
		mediaType, _, _ := strings.Cut(strings.ToLower(l.Type), ";")
		return slices.Contains(types, strings.TrimSpace(mediaType))
	})
}

func onlyPlain(field string) bool {
	var f accept.Field
	f.ReadMedia(field)
	for i := range f.Len() {
		if value, q := f.At(i); q > 0 && !strings.EqualFold(value, format.TypeText) {
			return false
		}
	}
	return media(&f, format.TypeText).Q > 0
}
