package format

import (
	"io"
	"strings"

	"github.com/nomen-project/nomen"
)

// A Format is a format in which answers are written.
type Format struct {
	Name      string // for command lines and files, such as "urc" and "json"
	MediaType string // without parameters
	Charset   string // the charset parameter of the media type, or ""

	// Write writes an answer to w. If the answer cannot be encoded, Write returns an error without
	// writing anything. All other errors are those of w.
	Write func(w io.Writer, a *nomen.Answer) error

	// Read reads the output of Write, up to maxSize bytes. The parameter asked is the service that
	// was requested, because some formats do not contain it. Read is nil for the formats that nomen
	// only writes, which are html, turtle, text, csl-json, bibtex and ris.
	Read func(r io.Reader, asked nomen.Service) (*nomen.Answer, error)

	// writeOn is like Write, but also writes the links of page p. It is nil if the format has no
	// such links.
	writeOn func(w io.Writer, a *nomen.Answer, p Page) error
}

// On returns a copy of f that also writes the links of p, which is the page about the name.
func (f Format) On(p Page) Format {
	if on := f.writeOn; on != nil {
		f.Write = func(w io.Writer, a *nomen.Answer) error { return on(w, a, p) }
	}
	return f
}

// ContentType returns the value of a Content-Type field.
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

	TypeSchemaOrg = "application/vnd.schemaorg.ld+json" // the same as [TypeJSONLD]; clients for DOIs request it by this name
	TypeCSL       = "application/vnd.citationstyles.csl+json"
	TypeBibTeX    = "application/x-bibtex"
	TypeRIS       = "application/x-research-info-systems"
)

const charsetUTF8 = "utf-8"

// InUnicode returns the variant of f for a client that accepts UTF-8. InUnicode only changes
// text/urc-0, whose parts otherwise have one of the charsets of the draft of 1995 (section 3.4.2).
// If none of these charsets has all characters of a part, then
//
//   - with InUnicode, the part is in UTF-8, and its header has this charset;
//   - without InUnicode, the missing characters become references, such as "&#x4E2D;".
func (f Format) InUnicode() Format {
	if f.MediaType == TypeURC {
		f.Write = func(w io.Writer, a *nomen.Answer) error { return writeURC(w, a, unicode) }
	}
	return f
}

// Formats returns all formats of answers in the order of the server's preference, from text/urc-0
// to text/plain (draft of 1995, sections 3.4.2 and 3.4.4). The caller may modify the slice.
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

// Citations returns the formats for citing a resource: the formats of reference managers, and the
// JSON-LD of schema.org. The server offers these formats only for descriptions. The caller may
// modify the slice.
func Citations() []Format {
	return []Format{
		Format{"csl-json", TypeCSL, "", nil, nil, writeCSL}.On(Page{}),
		Format{"bibtex", TypeBibTeX, charsetUTF8, nil, nil, writeBibTeX}.On(Page{}),
		Format{"ris", TypeRIS, charsetUTF8, nil, nil, writeRIS}.On(Page{}),
		{"schema-org", TypeSchemaOrg, "", writeJSONLD, readJSONLD, nil},
	}
}

// Lookup returns the format with the media type in a Content-Type field. It ignores parameters.
func Lookup(contentType string) (Format, bool) {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.Trim(mediaType, " \t")
	return find(func(f Format) bool { return strings.EqualFold(f.MediaType, mediaType) })
}

// ByName returns the format with the given Name.
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

// aboutNames reports whether a service requests names instead of locations.
func aboutNames(s nomen.Service) bool { return s == nomen.I2N || s == nomen.I2Ns }

// listed returns the names or URLs that formats for lists contain.
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

// spelling returns the name of an answer in the spelling in which it was registered.
func spelling(a *nomen.Answer) string {
	if a.Spelling != "" {
		return a.Spelling
	}
	return a.Name.Key()
}
