package ezid

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
)

// decoder returns an XML decoder that treats text as UTF-8 and ignores the encoding in the XML
// declaration.
func decoder(text string) *xml.Decoder {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d
}

// readXML returns the metadata in an XML document of DataCite or Dublin Core. If the document is
// invalid, readXML returns the metadata before the error.
func readXML(text string) nomen.Metadata {
	m := nomen.Metadata{}
	d := decoder(text)
	var path []string
	field, value := "", strings.Builder{}
	for {
		token, err := d.Token()
		if err != nil {
			return m
		}
		switch t := token.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			field = fieldOfXML(path)
			value.Reset()
			if general := attribute(t, "resourceTypeGeneral"); general != "" {
				value.WriteString(general + "/")
			}
		case xml.CharData:
			value.Write(t)
		case xml.EndElement:
			path = path[:len(path)-1]
			text := strings.Trim(strings.Join(strings.Fields(value.String()), " "), "/")
			if field != "" && known(text) != nil {
				m[field] = append(m[field], text)
			}
			field = ""
		}
	}
}

const maxPath = 4

// fieldOfXML returns the metadata field for an XML element, or "". The last element of the path is
// the name of the element, and the others are the names of the enclosing elements.
func fieldOfXML(path []string) string {
	if path[0] != "resource" {
		if name := path[len(path)-1]; len(path) == 2 && slices.Contains(fields(), name) {
			return name
		}
		return ""
	}
	if len(path) > maxPath {
		return ""
	}
	switch strings.Join(path[1:], "/") {
	case "creators/creator/creatorName":
		return "creator"
	case "titles/title":
		return "title"
	case "publisher":
		return "publisher"
	case "publicationYear":
		return "date"
	case "resourceType":
		return "type"
	}
	return ""
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// errNoResource means that an XML document is not a DataCite record.
var errNoResource = errors.New("not a DataCite record")

func withIdentifier(text, id string) (string, error) {
	d := decoder(text)
	depth, from, to, tag := 0, 0, 0, ""
	for {
		at := int(d.InputOffset())
		token, err := d.Token()
		if err == io.EOF && depth == 0 {
			break
		}
		if err != nil {
			return "", fmt.Errorf("not well-formed XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 && t.Name.Local != "resource" {
				return "", errNoResource
			}
			if depth == 2 && t.Name.Local == "identifier" && from == 0 {
				from, tag = at, tagAt(text[at:])
			}
		case xml.EndElement:
			if depth--; depth == 1 && from > 0 && to == 0 && t.Name.Local == "identifier" {
				to = int(d.InputOffset())
			}
		}
	}
	if to == 0 {
		return "", errNoIdentifier
	}
	return text[:from] + identifierXML(tag, id) + text[to:], nil
}

// errNoIdentifier means that a DataCite record has no identifier.
var errNoIdentifier = errors.New("the element identifier is missing")

// tagAt returns the name of the XML element at the start of s, as it is written.
func tagAt(s string) string {
	s = strings.TrimPrefix(s, "<")
	return s[:strings.IndexAny(s, " \t\r\n/>")]
}

func identifierXML(tag, id string) string {
	label, rest, _ := strings.Cut(id, ":")
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(strings.TrimPrefix(rest, "/"))) // writing to a buffer does not fail
	return fmt.Sprintf(`<%s identifierType="%s">%s</%s>`, tag, strings.ToUpper(label), b.String(), tag)
}
