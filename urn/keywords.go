package urn

import (
	"slices"
	"strings"
	"sync"
)

// A Keyword is an entry of the registry of URN query keywords (2012, 9.2.1).
type Keyword struct {
	Keyword     string    `json:"keyword"` // case matters
	Purpose     string    `json:"purpose"`
	Scope       Scope     `json:"scope"`
	Reference   string    `json:"reference"`
	SupportedBy []Support `json:"supported_by"`
}

// A Support says that a namespace supports a keyword.
type Support struct {
	NID       string `json:"nid"`
	Reference string `json:"reference"`
}

// Keywords2012 returns the registry as the draft begins it.
func Keywords2012() Keywords { return keywords2012() }

var keywords2012 = sync.OnceValue(func() Keywords {
	const draft = "draft-ietf-urnbis-rfc2141bis-urn-03, "
	return Keywords{}.with(
		Keyword{Keyword: "s", Purpose: "intended URN resolution service", Reference: draft + "2.3.1"},
		Keyword{Keyword: "c", Purpose: "component of structured resource", Reference: draft + "2.3.2"},
	)
})

// WithSupport returns k supported by one more namespace. That is no substantive
// change: with [Table.With] it needs nobody's review.
func (k Keyword) WithSupport(s Support) Keyword {
	k.SupportedBy = append(slices.Clone(k.SupportedBy), s)
	return k
}

func (k Keyword) name() string { return k.Keyword }

// canonical leaves an empty list, which JSON has as [] and not as null.
func (k Keyword) canonical() Keyword {
	k.SupportedBy = append([]Support{}, k.SupportedBy...)
	return k
}

func (k Keyword) fault() *EntryError {
	switch {
	case Draft2012.CheckRule("keywd", k.Keyword) != nil:
		return &EntryError{k.Keyword, "keyword", "is not a letter, then letters and digits with single hyphens between"}
	case k.Purpose == "":
		return &EntryError{k.Keyword, "purpose", "is required"}
	case int(k.Scope) >= len(scopeNames):
		return &EntryError{k.Keyword, "scope", "is neither global nor specific"}
	}
	return nil
}

func (k Keyword) policy() *EntryError {
	switch {
	case k.Reference == "":
		return &EntryError{k.Keyword, "reference", "is required"}
	case k.Scope == ScopeGlobal && !strings.Contains(k.Reference, "RFC "):
		return &EntryError{k.Keyword, "reference", "of a global keyword must be an RFC: IETF Review"}
	case k.Scope == ScopeSpecific && len(k.SupportedBy) == 0:
		return &EntryError{k.Keyword, "supported by", "must name the namespaces of a specific keyword"}
	}
	return nil
}

// A Scope says for which namespaces a keyword is meant (2012, 9.2.1).
type Scope uint8

// The scopes.
const (
	ScopeGlobal   Scope = iota // for all
	ScopeSpecific              // for those that support it
)

var scopeNames = []string{"global", "specific"}

// String returns the name of the scope: global or specific.
func (s Scope) String() string { return wordName(s, scopeNames) }

// MarshalText implements [encoding.TextMarshaler].
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Scope) UnmarshalText(text []byte) error { return parseWord(s, scopeNames, text) }

// Policy returns by what procedure a keyword of the scope is registered.
func (s Scope) Policy() string {
	if s == ScopeGlobal {
		return "IETF Review"
	}
	return "namespace registration"
}

// ChangeController returns who decides about changes.
func (s Scope) ChangeController() string {
	if s == ScopeGlobal {
		return "IESG"
	}
	return "stakeholders of the namespace"
}
