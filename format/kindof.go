package format

import (
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/scheme/extra"
)

// A kind is the namespace of a URN, or the scheme of any other name.
type kind struct {
	scheme    bool   // id is a scheme, not a namespace
	id, title string // of the namespace or scheme; "" if unknown
}

func kindOf(n name.Name) kind {
	if nid := n.NID(); nid != "" {
		if s, ok := namespace.Lookup(nid); ok && s.Name != "" {
			return kind{false, nid, s.Name}
		}
		return kind{}
	}
	if s, ok := extra.Catalogue().Lookup(n.Scheme()); ok && s.Title != "" {
		return kind{true, s.Name, s.Title}
	}
	return kind{}
}

func (k kind) String() string {
	switch {
	case k.id == "":
		return ""
	case k.scheme:
		return "An identifier of the scheme " + k.id + ": " + k.title
	}
	return "A name in the namespace " + k.id + ": " + k.title
}
