package urn

import (
	"slices"
	"strings"
)

// A Namespace is the record of a URN namespace, with what the documents want a
// registration to say (2012, 2.3, 2.5.2, 5, 6, 8; RFC 8141, 6.4). What a
// namespace checks in its names is code and stands elsewhere.
type Namespace struct {
	NID        string  `json:"nid"` // lower case
	Kind       NIDKind `json:"kind"`
	Reference  string  `json:"reference"`            // the document, or who registered it
	Template   string  `json:"template,omitempty"`   // where the registration is
	Registered string  `json:"registered,omitempty"` // when, YYYY-MM-DD
	Security   string  `json:"security"`             // its considerations, or where they are; required (2012, 8)

	Special         string       `json:"special,omitempty"`          // the characters with a meaning of their own
	Equivalence     string       `json:"equivalence,omitempty"`      // what it adds to lexical equivalence
	Functional      string       `json:"functional,omitempty"`       // guidance on functional equivalence
	FragmentAllowed bool         `json:"fragment_allowed,omitempty"` // in references of 2012
	Services        []string     `json:"services,omitempty"`         // values of the keyword s
	DefaultService  string       `json:"default_service,omitempty"`
	Keywords        []KeywordUse `json:"keywords,omitempty"` // that it supports, apart from s
}

// A KeywordUse is a keyword that a namespace supports.
type KeywordUse struct {
	Keyword string   `json:"keyword"`
	Values  []string `json:"values,omitempty"` // those that are valid; none: any
}

// NamespaceNote is what the registry of namespaces says of one NID (2012, 9.1).
const NamespaceNote = `The NID "urn" is reserved for ever and cannot be registered.`

// Accepts reports whether n supports a keyword with a value, for
// [URN.Directives].
func (n Namespace) Accepts(keyword, value string) bool {
	if keyword == "s" {
		return slices.Contains(n.Services, value)
	}
	for _, use := range n.Keywords {
		if use.Keyword == keyword {
			return len(use.Values) == 0 || slices.Contains(use.Values, value)
		}
	}
	return false
}

// Missing returns the names of required fields that are empty: a record that the
// registry took over from earlier rules may be incomplete (2012, 8).
func (n Namespace) Missing() []string {
	var missing []string
	if n.Reference == "" && n.Template == "" {
		missing = append(missing, "reference")
	}
	if n.Security == "" {
		missing = append(missing, "security")
	}
	return missing
}

func (n Namespace) name() string { return strings.ToLower(n.NID) }

func (n Namespace) canonical() Namespace {
	n.NID = n.name()
	n.Services = slices.Clone(n.Services)
	n.Keywords = slices.Clone(n.Keywords)
	for i, use := range n.Keywords {
		n.Keywords[i].Values = slices.Clone(use.Values)
	}
	return n
}

func (n Namespace) fault() *EntryError {
	switch {
	case Latest.CheckRule("NID", n.NID) != nil:
		return &EntryError{n.NID, "NID", "is not of 2 to 32 letters, digits and inner hyphens"}
	case isURN(n.NID):
		return &EntryError{n.NID, "NID", "is reserved for ever"}
	case n.Security == "":
		return &EntryError{n.NID, "security", "is required"}
	}
	return nil
}

func (n Namespace) policy() *EntryError {
	kind := KindOf(n.NID)
	switch {
	case kind == KindExperimental:
		return &EntryError{n.NID, "NID", "is experimental: such names are never registered"}
	case kind == KindReserved:
		return &EntryError{n.NID, "NID", "has a form that is reserved (RFC 8141, 5.1)"}
	case n.Kind != kind:
		return &EntryError{n.NID, "kind", "must be " + kind.String()}
	case n.Reference == "" && n.Template == "":
		return &EntryError{n.NID, "reference", "is required"}
	}
	return nil
}

// A NIDKind is what an NID is by its registration, or can be by its form.
type NIDKind uint8

// The kinds.
const (
	KindUnregistered NIDKind = iota // in use without registration
	KindFormal                      // RFC 8141, 5.1
	KindInformal                    // RFC 8141, 5.2: urn-7
	KindExperimental                // RFC 3406, 3.1: x-foo
	KindReserved                    // RFC 8141, 5.1: urn, de-foo, xn--foo, ab
)

var kindNames = []string{"unregistered", "formal", "informal", "experimental", "reserved"}

// String returns the name of the kind.
func (k NIDKind) String() string { return wordName(k, kindNames) }

// MarshalText implements [encoding.TextMarshaler].
func (k NIDKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *NIDKind) UnmarshalText(text []byte) error { return parseWord(k, kindNames, text) }

// KindOf returns the kind that an NID has by its form: [KindFormal] says that it
// might be registered, not that it is.
//
//	InformalNamespaceName = "urn-" Number    Number = DigitNonZero 0*Digit
//
// Reserved are the NID "urn", others that begin with "urn-", those of two
// characters, and those that begin with two letters and a hyphen, for countries
// and for what looks like xn-- (RFC 8141, 5.1).
func KindOf(nid string) NIDKind {
	nid = strings.ToLower(nid)
	number, informal := strings.CutPrefix(nid, "urn-")
	switch {
	case informal && isNumber(number):
		return KindInformal
	case informal, nid == "urn", len(nid) == 2:
		return KindReserved
	case strings.HasPrefix(nid, "x-"):
		return KindExperimental
	case len(nid) > 2 && nid[2] == '-' && isAlpha(nid[0]) && isAlpha(nid[1]):
		return KindReserved
	}
	return KindFormal
}

// isNumber reports whether s is digits without a leading zero.
func isNumber(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}
