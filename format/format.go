package format

import (
	"io"
	"strings"

	"github.com/nomen-project/nomen"
)

// A Format is a format of answers.
type Format struct {
	Name      string // for command lines and files: "urc", "json" ...
	MediaType string // without parameters
	Charset   string // the parameter of the media type; "" for none

	// Write writes the answer to w. If the answer cannot be encoded, Write returns an error
	// and writes nothing. All other errors are from w.
	Write func(w io.Writer, a *nomen.Answer) error

	// Read reads the output of Write, at most maxSize bytes. The parameter asked is the service
	// of the question. Read is nil for formats that nomen only writes: html, turtle, text,
	// csl-json, bibtex and ris.
	Read func(r io.Reader, asked nomen.Service) (*nomen.Answer, error)

	// writeOn is like Write, but also writes the links of page p. It is nil if the format has no
	// links of a page.
	writeOn func(w io.Writer, a *nomen.Answer, p Page) error
}

// On returns the format with the links of the page p, on which people read the answer.
func (f Format) On(p Page) Format {
	if on := f.writeOn; on != nil {
		f.Write = func(w io.Writer, a *nomen.Answer) error { return on(w, a, p) }
	}
	return f
}

// ContentType returns the media type with its charset parameter.
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

	TypeSchemaOrg = "application/vnd.schemaorg.ld+json" // another name of [TypeJSONLD], which clients for DOIs use
	TypeCSL       = "application/vnd.citationstyles.csl+json"
	TypeBibTeX    = "application/x-bibtex"
	TypeRIS       = "application/x-research-info-systems"
)

const charsetUTF8 = "utf-8"

// InUnicode returns f for a client that accepts UTF-8. It changes only text/urc-0. A part of
// text/urc-0 has one of the charsets of the draft (1995, 3.4.2). If no charset of the draft has
// all characters of a part:
//
//   - with InUnicode, the part is in UTF-8, and its header says so;
//   - without InUnicode, the missing characters become references, such as "&#x4E2D;".
func (f Format) InUnicode() Format {
	if f.MediaType == TypeURC {
		f.Write = func(w io.Writer, a *nomen.Answer) error { return writeURC(w, a, unicode) }
	}
	return f
}

// Formats returns the formats of answers in the server's order of preference: text/urc-0 first
// and text/plain last (1995, 3.4.2 and 3.4.4). The caller owns the slice.
func Formats() []Format {
	return []Format{
		{"urc", TypeURC, "", WriteURC, readURC, nil},
		Format{"html", TypeHTML, charsetUTF8, nil, nil, writeHTML}.On(Page{}),
		{"uri-list", TypeURIList, "", writeURIList, readURIList, nil},
		{"json", TypeJSON, "", WriteJSON, ReadJSON, nil},
		Format{"linkset-json", TypeLinksetJSON, "", nil, readLinksetJSON, writeLinksetJSON}.On(Page{}),
		Format{"linkset", TypeLinkset, "", nil, ReadLinkset, writeLinkset}.On(Page{}),
		{"json-ld", TypeJSONLD, "", writeJSONLD, readJSONLD, nil},
		{"cbor", TypeCBOR, "", writeCBOR, readCBOR, nil},
		{"turtle", TypeTurtle, charsetUTF8, writeTurtle, nil, nil},
		{"text", TypeText, charsetUTF8, WriteText, nil, nil},
	}
}

// Citations returns the formats that contain the citable part of a description: those of reference
// managers, and the JSON-LD of schema.org. The server offers them only for descriptions. The caller
// owns the slice.
func Citations() []Format {
	return []Format{
		Format{"csl-json", TypeCSL, "", nil, nil, writeCSL}.On(Page{}),
		Format{"bibtex", TypeBibTeX, charsetUTF8, nil, nil, writeBibTeX}.On(Page{}),
		Format{"ris", TypeRIS, charsetUTF8, nil, nil, writeRIS}.On(Page{}),
		{"schema-org", TypeSchemaOrg, "", writeJSONLD, readJSONLD, nil},
	}
}

// Lookup returns the format of a body with this Content-Type. Parameters are
// ignored.
func Lookup(contentType string) (Format, bool) {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.Trim(mediaType, " \t")
	return find(func(f Format) bool { return strings.EqualFold(f.MediaType, mediaType) })
}

// ByName returns the format with this name.
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

// aboutNames reports whether a service asks for names rather than locations.
func aboutNames(s nomen.Service) bool { return s == nomen.I2N || s == nomen.I2Ns }

// listed returns the names or URLs that a list format contains for an answer.
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

// spelling returns the name of an answer in its registered spelling.
func spelling(a *nomen.Answer) string {
	if a.Spelling != "" {
		return a.Spelling
	}
	return a.Name.Key()
}
