package name

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/uri"
)

// A Flaw is a violation of a rule of the name's namespace or scheme, such as a wrong check
// digit. The name may still be the intended one, because wrong numbers do get printed.
type Flaw struct {
	Offset  int    // the offset of the violation in the key, in bytes
	Rule    string // the production or rule, in the document's spelling
	Message string // what is wrong, in words
}

// Flaw returns the first violation by n of a rule: of its namespace for a URN, of its scheme for
// ark, doi, hdl, info and tag. It returns nil if n violates no rule, and also for other schemes,
// which package scheme checks. It does not allocate for a URN without a flaw.
func (n Name) Flaw() *Flaw {
	if nid := n.NID(); nid != "" {
		if nid == "dns" { // the key of a urn:dns name always satisfies the rules
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

// Suggest returns the names that s probably means. Use it if s is not a valid name, has a flaw
// or is unknown. The likeliest suggestion comes first; there are at most
// [namespace.MaxSuggestions]. All are valid names. It costs as much as [namespace.Suggest].
func Suggest(s string) []namespace.Suggestion {
	all := namespace.Suggest(s)
	if m, ok := Interpret(s); ok {
		all = slices.DeleteFunc(all, func(g namespace.Suggestion) bool { return strings.EqualFold(g.Name, m.Spelling) })
		all = append([]namespace.Suggestion{{Name: m.Spelling, Why: m.Why}}, all[:min(len(all), namespace.MaxSuggestions-1)]...)
	}
	return all
}
