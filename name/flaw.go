package name

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/uri"
)

// A Flaw is a violation of the rules of the name's namespace or scheme, such as a wrong check
// digit. A name with a flaw may still be in use, because publishers sometimes print wrong numbers.
type Flaw struct {
	Offset  int    // where in the key the violation is, in bytes
	Rule    string // the violated production or rule, as the document spells it
	Message string // what is wrong, for people
}

// Flaw returns the first violation of the rules in n. For a URN these are the rules of the
// namespace, and for an ark, doi, hdl, info or tag name the rules of the scheme. Flaw returns nil
// for a name without a flaw. It also returns nil for names of other schemes, which package scheme
// can check. It does not allocate for a URN without a flaw.
func (n Name) Flaw() *Flaw {
	if nid := n.NID(); nid != "" {
		if nid == "dns" { // the key of a urn:dns name has been made valid
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
	}
	if !pid.Lookup(n.Scheme()).Resolved {
		return nil
	}
	if f := pid.Check(n.URI()); f != nil {
		return &Flaw{f.Offset, f.Rule, f.Message}
	}
	return nil
}

// Suggest returns the names that the user who typed s probably meant, the likeliest first. Use it
// if s is not a valid name, has a flaw, or is unknown. The result has at most
// [namespace.MaxSuggestions] elements, which are all valid names. The work is limited as in
// [namespace.Suggest].
func Suggest(s string) []namespace.Suggestion {
	all := namespace.Suggest(s)
	if m, ok := Interpret(s); ok {
		all = slices.DeleteFunc(all, func(g namespace.Suggestion) bool { return strings.EqualFold(g.Name, m.Spelling) })
		all = append([]namespace.Suggestion{{Name: m.Spelling, Why: m.Why}}, all[:min(len(all), namespace.MaxSuggestions-1)]...)
	}
	return all
}
