package urn

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// A Namespace is the registration of a URN namespace. It has the fields that the documents require
// (draft of 2012, sections 2.3, 2.5.2, 5, 6 and 8; RFC 8141, section 6.4). Package namespace has
// the rules for the names of a namespace.
type Namespace struct {
	NID        string  `json:"nid"` // lower case
	Kind       NIDKind `json:"kind"`
	Reference  string  `json:"reference"`            // the document that defines the namespace, or the registrant
	Template   string  `json:"template,omitempty"`   // the URL of the registration
	Registered string  `json:"registered,omitempty"` // the date, YYYY-MM-DD
	Security   string  `json:"security"`             // the security considerations, or a reference to them; required (draft of 2012, section 8)

	Special         string       `json:"special,omitempty"`          // characters with a meaning in the namespace
	Equivalence     string       `json:"equivalence,omitempty"`      // rules that make names equivalent beyond the general ones
	Functional      string       `json:"functional,omitempty"`       // guidance on functional equivalence
	FragmentAllowed bool         `json:"fragment_allowed,omitempty"` // references may have fragments (draft of 2012)
	Services        []string     `json:"services,omitempty"`         // the supported services, which are values of the keyword s
	DefaultService  string       `json:"default_service,omitempty"`
	Keywords        []KeywordUse `json:"keywords,omitempty"` // the supported keywords other than s
}

// A KeywordUse is a keyword that a namespace supports.
type KeywordUse struct {
	Keyword string   `json:"keyword"`
	Values  []string `json:"values,omitempty"` // the valid values; empty if all are
}

// NamespaceNote is the note about the NID "urn" in the registry of namespaces (draft of 2012,
// section 9.1).
const NamespaceNote = `The NID "urn" is reserved for ever and cannot be registered.`

// Accepts reports whether n supports a keyword with the given value. Use the method value n.Accepts
// as an argument of [URN.Directives].
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

// Missing returns the names of required fields that are empty. Registrations made before the draft
// of 2012 may be incomplete (section 8 of the draft).
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
		return &EntryError{n.NID, "NID", "must be 2 to 32 letters, digits and inner hyphens"}
	case isURN(n.NID):
		return &EntryError{n.NID, "NID", "is reserved permanently"}
	case n.Security == "":
		return &EntryError{n.NID, "security", "is required"}
	}
	return nil
}

func (n Namespace) policy() *EntryError {
	kind := KindOf(n.NID)
	switch {
	case kind == KindExperimental:
		return &EntryError{n.NID, "NID", "is experimental and cannot be registered"}
	case kind == KindReserved:
		return &EntryError{n.NID, "NID", "has a reserved form (RFC 8141, 5.1)"}
	case n.Kind != kind:
		return &EntryError{n.NID, "kind", "must be " + kind.String()}
	case n.Reference == "" && n.Template == "":
		return &EntryError{n.NID, "reference", "is required"}
	}
	return nil
}

// A NIDKind says whether and how an NID can be registered.
type NIDKind uint8

// The kinds of NIDs.
const (
	KindUnregistered NIDKind = iota // used without a registration
	KindFormal                      // RFC 8141, section 5.1
	KindInformal                    // RFC 8141, section 5.2: urn-7
	KindExperimental                // RFC 3406, section 3.1: x-foo
	KindReserved                    // RFC 8141, section 5.1: urn, de-foo, xn--foo, ab
)

var kindNames = []string{"unregistered", "formal", "informal", "experimental", "reserved"}

func (k NIDKind) String() string { return wordName(k, kindNames) }

// MarshalText implements [encoding.TextMarshaler].
func (k NIDKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *NIDKind) UnmarshalText(text []byte) error { return parseWord(k, kindNames, text) }

// KindOf returns the kind of an NID. It considers only the form of the NID, not the registry, so
// [KindFormal] means that the NID could be registered.
//
//	InformalNamespaceName = "urn-" Number    Number = DigitNonZero 0*Digit
//
// The NID "urn" is reserved, and so are NIDs that begin with "urn-" but are not informal, NIDs of
// two characters, and NIDs that begin with two letters and a hyphen (RFC 8141, section 5.1). The
// last group is reserved for country codes and for forms such as "xn--".
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
	case len(nid) > 2 && nid[2] == '-' && ascii.IsLetter(nid[0]) && ascii.IsLetter(nid[1]):
		return KindReserved
	}
	return KindFormal
}

// isNumber reports whether s consists of digits and does not begin with 0.
func isNumber(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}
