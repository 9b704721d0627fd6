package urn

import (
	"strings"
	"sync"
)

// A SchemeID is an entry in the registry of SchemeIDs (draft of 1995, section 2.1).
type SchemeID struct {
	ID          string `json:"scheme_id"` // lower case
	Description string `json:"description"`
	Reference   string `json:"reference"` // the documents that define its AuthorityIDs
}

// SchemeIDs1995 returns the initial registry of SchemeIDs, as the draft of 1995 defines it.
func SchemeIDs1995() SchemeIDs { return schemeIDs1995() }

var schemeIDs1995 = sync.OnceValue(func() SchemeIDs {
	return SchemeIDs{}.with(SchemeID{"dns", "Domain Name System", "RFC 952 and RFC 1123"})
})

func (s SchemeID) name() string { return strings.ToLower(s.ID) }

func (s SchemeID) canonical() SchemeID {
	s.ID = s.name()
	return s
}

func (s SchemeID) fault() *EntryError {
	if _, message := checkSchemeID(s.ID); message != "" {
		return &EntryError{s.ID, "SchemeID", message}
	}
	return nil
}

func (s SchemeID) policy() *EntryError {
	switch {
	case strings.HasPrefix(s.name(), "x-"):
		return &EntryError{s.ID, "SchemeID", "is experimental and cannot be registered"}
	case s.Reference == "":
		return &EntryError{s.ID, "reference", "is required"}
	}
	return nil
}
