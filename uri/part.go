package uri

import (
	"strings"
	"unicode/utf8"
)

// FindingScheme is the code of a finding about text that violates the syntax of
// the scheme of the URI; see package scheme.
const FindingScheme FindingCode = "scheme-syntax"

// A Part is a named piece of a URI, by the rules of its scheme. Package scheme
// returns parts.
type Part struct {
	Name string // in lower case with "_" for spaces, as in the defining document
	// Group is "" if the defining document names the part. Otherwise the name comes from a
	// name=value pair in the URI, and Group says what the document calls such pairs:
	// "parameter", "header", "attribute", "option", "key" or "field".
	Group string
	Value string // as spelled, or the value that the scheme implies
	// Offset is the offset of Value in the spelling, or -1 if the scheme
	// implies the value.
	Offset int
	// Escaped means that Value must be decoded before use; see [Part.Data]. Other values are
	// used as spelled.
	Escaped bool
}

// Label returns the name of the part, after its group and "_" if it has one. A
// parameter called "user" has the label "parameter_user", so that it cannot be
// mistaken for the user.
func (p Part) Label() string {
	if p.Group == "" {
		return p.Name
	}
	return p.Group + "_" + p.Name
}

// HasLabel reports whether the part has the given label. It does not allocate.
func (p Part) HasLabel(label string) bool {
	if p.Group == "" {
		return label == p.Name
	}
	group, name, ok := strings.Cut(label, "_")
	return ok && group == p.Group && name == p.Name
}

// Data returns the octets that the part stands for: Value, decoded if Escaped
// is set.
func (p Part) Data() Data {
	if !p.Escaped {
		return Data(p.Value)
	}
	data, err := Decode(p.Value)
	if err != nil {
		return Data(p.Value) // not from a parser: use it unchanged
	}
	return data
}

// Text returns the characters that the part stands for. The octets are ISO Latin-1 in the draft of
// 1993, and UTF-8 in the other dialects. If they are not valid, Text returns false.
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
