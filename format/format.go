package format

import (
	"io"
	"strings"

	"github.com/nomen-project/nomen"
)

// A Format is one way to write an answer as bytes.
type Format struct {
	Name      string // for command lines and files: "urc", "json" ...
	MediaType string // without parameters
	Charset   string // the parameter of the media type; "" for none

	// Write writes a in one piece: nothing if it returns an error that is not
	// of w.
	Write func(w io.Writer, a *nomen.Answer) error

	// Read reads what Write wrote; asked is the service of the question. It reads
	// at most MaxSize bytes. It is nil for formats that have no structure.
	Read func(r io.Reader, asked nomen.Service) (*nomen.Answer, error)

	// writeOn is Write with what is known of where the answer is read; nil where
	// that makes no difference.
	writeOn func(w io.Writer, a *nomen.Answer, p Page) error
}

// On returns the format with links that lead to where the answer is read.
func (f Format) On(p Page) Format {
	if on := f.writeOn; on != nil {
		f.Write = func(w io.Writer, a *nomen.Answer) error { return on(w, a, p) }
	}
	return f
}

// ContentType returns the media type with its parameter.
func (f Format) ContentType() string { return contentType(f.MediaType, f.Charset) }

func contentType(mediaType, charset string) string {
	if charset == "" {
		return mediaType
	}
	return mediaType + "; charset=" + charset
}

// The media types of the formats.
const (
	TypeURC         = "text/urc-0"
	TypeHTML        = "text/html"
	TypeURIList     = "text/uri-list"
	TypeJSON        = "application/json"
	TypeLinksetJSON = "application/linkset+json"
	TypeLinkset     = "application/linkset"
	TypeJSONLD      = "application/ld+json"
	TypeCBOR        = "application/cbor"
	TypeText        = "text/plain"
	TypeTurtle      = "text/turtle"
	TypeProblem     = "application/problem+json"

	TypeSchemaOrg = "application/vnd.schemaorg.ld+json" // [TypeJSONLD], as clients of DOIs call it
	TypeCSL       = "application/vnd.citationstyles.csl+json"
	TypeBibTeX    = "application/x-bibtex"
	TypeRIS       = "application/x-research-info-systems"
)

const charsetUTF8 = "utf-8"

// InUnicode returns f for a client that takes UTF-8. What text/urc-0 writes in
// a script that none of its charsets has is then in UTF-8, and says so in the
// header of its part, instead of in references such as "&#x4E2D;", which no person
// can read. Other formats are UTF-8 anyway.
func (f Format) InUnicode() Format {
	if f.MediaType == TypeURC {
		f.Write = func(w io.Writer, a *nomen.Answer) error { return writeURC(w, a, unicode) }
	}
	return f
}

// Formats returns the formats of answers in the order of preference where the
// client leaves the choice: text/urc-0 first and text/plain last (1995, 3.4.2
// and 3.4.4). The slice belongs to the caller.
func Formats() []Format {
	return []Format{
		{"urc", TypeURC, "", WriteURC, ReadURC, nil},
		{"html", TypeHTML, charsetUTF8, WriteHTML, nil, writeHTML},
		{"uri-list", TypeURIList, "", WriteURIList, ReadURIList, nil},
		{"json", TypeJSON, "", WriteJSON, ReadJSON, nil},
		{"linkset-json", TypeLinksetJSON, "", WriteLinksetJSON, ReadLinksetJSON, writeLinksetJSON},
		{"linkset", TypeLinkset, "", WriteLinkset, ReadLinkset, writeLinkset},
		{"json-ld", TypeJSONLD, "", WriteJSONLD, ReadJSONLD, nil},
		{"cbor", TypeCBOR, "", WriteCBOR, ReadCBOR, nil},
		{"turtle", TypeTurtle, charsetUTF8, WriteTurtle, nil, nil},
		{"text", TypeText, charsetUTF8, WriteText, nil, nil},
	}
}

// Citations returns the formats that reference managers read. They hold what is
// cited of a description and are offered for descriptions alone, after those of
// [Formats]. The slice belongs to the caller.
func Citations() []Format {
	return []Format{
		{"csl-json", TypeCSL, "", WriteCSL, nil, writeCSL},
		{"bibtex", TypeBibTeX, charsetUTF8, WriteBibTeX, nil, writeBibTeX},
		{"ris", TypeRIS, charsetUTF8, WriteRIS, nil, writeRIS},
		{"schema-org", TypeSchemaOrg, "", WriteJSONLD, ReadJSONLD, nil},
	}
}

// Lookup returns the format of a body with this Content-Type. Parameters are
// ignored.
func Lookup(contentType string) (Format, bool) {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.Trim(mediaType, " \t")
	return find(func(f Format) bool { return strings.EqualFold(f.MediaType, mediaType) })
}

// ByName returns the format of this name.
func ByName(name string) (Format, bool) {
	return find(func(f Format) bool { return f.Name == name })
}

func find(is func(Format) bool) (Format, bool) {
	for _, f := range append(Formats(), Citations()...) {
		if is(f) {
			return f, true
		}
	}
	return Format{}, false
}

// aboutNames reports whether a service asks for names and not for locations.
func aboutNames(s nomen.Service) bool { return s == nomen.I2N || s == nomen.I2Ns }

// listed returns what a list that answers is made of.
func listed(a *nomen.Answer) []string {
	if aboutNames(a.Service) {
		return a.Names
	}
	urls := make([]string, len(a.Locations))
	for i, l := range a.Locations {
		urls[i] = l.URL
	}
	return urls
}

// spelling returns the name as registered.
func spelling(a *nomen.Answer) string {
	if a.Spelling != "" {
		return a.Spelling
	}
	return a.Name.Key()
}
