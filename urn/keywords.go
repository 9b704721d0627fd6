package urn

import (
	"slices"
	"strings"
	"sync"
)

// A Keyword is an entry in the registry of URN query keywords (draft of 2012, section 9.2.1).
type Keyword struct {
	Keyword     string    `json:"keyword"` // case-sensitive
	Purpose     string    `json:"purpose"`
	Scope       Scope     `json:"scope"`
	Reference   string    `json:"reference"`
	SupportedBy []Support `json:"supported_by"`
}

// A Support is an entry for a namespace that supports a keyword.
type Support struct {
	NID       string `json:"nid"`
	Reference string `json:"reference"`
}

// Keywords2012 returns the initial registry of query keywords, as the draft of 2012 defines it.
func Keywords2012() Keywords { return keywords2012() }

var keywords2012 = sync.OnceValue(func() Keywords {
	const draft = "draft-ietf-urnbis-rfc2141bis-urn-03, "
	return Keywords{}.with(
		Keyword{Keyword: "s", Purpose: "intended URN resolution service", Reference: draft + "2.3.1"},
		Keyword{Keyword: "c", Purpose: "component of structured resource", Reference: draft + "2.3.2"},
	)
})

// WithSupport returns a copy of k with another namespace that supports it. Pass the copy to
// [Table.With] to replace the keyword. This change needs no review, because it is not substantive.
func (k Keyword) WithSupport(s Support) Keyword {
	k.SupportedBy = append(slices.Clone(k.SupportedBy), s)
	return k
}

func (k Keyword) name() string { return k.Keyword }

// canonical returns k with an empty list instead of a nil list, because JSON encodes nil as null.
func (k Keyword) canonical() Keyword {
	k.SupportedBy = append([]Support{}, k.SupportedBy...)
	return k
}

func (k Keyword) fault() *EntryError {
	switch {
	case Draft2012.CheckRule("keywd", k.Keyword) != nil:
		return &EntryError{k.Keyword, "keyword", "must be a letter, then letters, digits and single hyphens between them"}
	case k.Purpose == "":
		return &EntryError{k.Keyword, "purpose", "is required"}
	case int(k.Scope) >= len(scopeNames):
		return &EntryError{k.Keyword, "scope", "must be global or specific"}
	}
	return nil
}

func (k Keyword) policy() *EntryError {
	switch {
	case k.Reference == "":
		return &EntryError{k.Keyword, "reference", "is required"}
	case k.Scope == ScopeGlobal && !strings.Contains(k.Reference, "RFC "):
		return &EntryError{k.Keyword, "reference", "of a global keyword must be an RFC (IETF Review)"}
	case k.Scope == ScopeSpecific && len(k.SupportedBy) == 0:
		return &EntryError{k.Keyword, "supported by", "must name the namespaces of a specific keyword"}
	}
	return nil
}

// A Scope says for which namespaces a keyword can be used (draft of 2012, section 9.2.1).
type Scope uint8

// The possible scopes of a keyword.
const (
	ScopeGlobal   Scope = iota // for all namespaces
	ScopeSpecific              // for namespaces that support the keyword
)

var scopeNames = []string{"global", "specific"}

// String returns the name of the scope: global or specific.
func (s Scope) String() string { return wordName(s, scopeNames) }

// MarshalText implements [encoding.TextMarshaler].
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Scope) UnmarshalText(text []byte) error { return parseWord(s, scopeNames, text) }

// Policy returns the procedure for registering keywords of the scope.
func (s Scope) Policy() string {
	if s == ScopeGlobal {
		return "IETF Review"
	}
	return "namespace registration"
}

// ChangeController returns who decides on changes to keywords of the scope.
func (s Scope) ChangeController() string {
	if s == ScopeGlobal {
		return "IESG"
	}
	return "stakeholders of the namespace"
}
