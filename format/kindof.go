package format

import (
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/scheme/extra"
)

// kindOf describes for people what kind of name n is, by its namespace or scheme; "" if that is
// unknown.
func kindOf(n name.Name) string {
	if nid := n.NID(); nid != "" {
		s, ok := namespace.Lookup(nid)
		if !ok || s.Name == "" {
			return ""
		}
		return "A name in the namespace " + nid + ": " + s.Name
	}
	s, ok := extra.Catalogue().Lookup(n.Scheme())
	if !ok || s.Title == "" {
		return ""
	}
	return "An identifier of the scheme " + s.Name + ": " + s.Title
}
