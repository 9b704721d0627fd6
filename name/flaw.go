package name

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// A Flaw is a rule of its scheme or namespace that a name breaks, such as a wrong
// check digit. Such a name may be meant so: things are printed with wrong numbers.
type Flaw struct {
	Offset  int    // of the first byte that it is about, into the key
	Rule    string // the production or rule, in the document's spelling
	Message string // what was found, in words
}

// Flaw returns the first rule of its scheme or namespace that n breaks, nil if it
// breaks none that is known. A URN without a flaw costs no allocation.
func (n Name) Flaw() *Flaw {
	label := n.Scheme()
	switch label {
	case "urn":
		nid := n.NID()
		if nid == "dns" { // a key of theirs keeps the rules
			return nil
		}
		ns, _ := namespace.Lookup(nid)
		begin := len("urn:") + len(nid) + len(":")
		if begin > len(n.key) {
			return nil
		}
		if f := ns.Check(n.key[begin:]); f != nil && f.Severity == uri.SeverityError {
			return &Flaw{begin + f.Offset, f.Rule, f.Message}
		}
		return nil
	case "http", "https": // a key of theirs keeps the rules
		return nil
	}
	if !scheme.Known(label) {
		return nil
	}
	for _, f := range scheme.Check(n.URI()) {
		if f.Severity == uri.SeverityError {
			return &Flaw{f.Offset, f.Rule, f.Message}
		}
	}
	return nil
}

// Suggest returns what s probably means, which is the spelling of no name, of one
// with a flaw or of one that is not known; the likeliest first, at most
// [namespace.MaxSuggestions]. All are valid names. It costs what
// [namespace.Suggest] does.
func Suggest(s string) []namespace.Suggestion {
	all := namespace.Suggest(s)
	if m, ok := Meant(s); ok {
		all = slices.DeleteFunc(all, func(g namespace.Suggestion) bool { return strings.EqualFold(g.Name, m.Spelling) })
		all = append([]namespace.Suggestion{{Name: m.Spelling, Why: m.Why}}, all[:min(len(all), namespace.MaxSuggestions-1)]...)
	}
	return all
}
