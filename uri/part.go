package uri

import (
	"strings"
	"unicode/utf8"
)

// FindingScheme means that a URI violates the syntax of its scheme. Package scheme returns such
// findings.
const FindingScheme FindingCode = "scheme-syntax"

// A Part is a piece of a URI for which the scheme defines a name and a meaning, such as the
// directory of an FTP URL. Package scheme splits URIs into parts.
type Part struct {
	Name string // the term of the defining document, in lower case with "_" for spaces
	// Group is "" if the specification of the scheme defines Name. Otherwise Name comes from a
	// name=value pair in the URI, and Group is the term of the specification for such pairs:
	// "parameter", "header", "attribute", "option", "key" or "field".
	Group string
	Value string // as spelled, or implied by the scheme
	// Offset is the offset of Value in the spelling, or -1 if the scheme implies the value.
	Offset int
	// Escaped is true if Value must be decoded before use; see [Part.Data].
	Escaped bool
}

// Label returns the name of the part. If the part has a group, the label begins with the group and
// "_". For example, a parameter called "user" has the label "parameter_user", so it cannot be
// mistaken for the user.
func (p Part) Label() string {
	if p.Group == "" {
		return p.Name
	}
	return p.Group + "_" + p.Name
}

// HasLabel reports whether the part has the given label, without allocating.
func (p Part) HasLabel(label string) bool {
	if p.Group == "" {
		return label == p.Name
	}
	group, name, ok := strings.Cut(label, "_")
	return ok && group == p.Group && name == p.Name
}

// Data returns the value of the part as octets. It decodes the value if Escaped is true.
func (p Part) Data() Data {
	if !p.Escaped {
		return Data(p.Value)
	}
	data, err := Decode(p.Value)
	if err != nil {
		return Data(p.Value) // Value was not set by a parser and is not valid escaped text
	}
	return data
}

// Text returns the value of the part as characters. The octets are read as ISO Latin-1 in the draft
// of 1993 and as UTF-8 in the other dialects. Text returns false if the octets are not valid in
// this charset.
func (p Part) Text(d Dialect) (string, bool) {
	data := string(p.Data())
	if d != Draft1993 {
		return data, utf8.ValidString(data)
	}
	text, err := DecodeLatin1(p.Value)
	if !p.Escaped || err != nil {
		return data, utf8.ValidString(data)
	}
	return text, true
}
