package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// A Use says whether a component has a meaning in a namespace.
type Use uint8

// The values of Use.
const (
	UseUnstated Use = iota // the registration does not say
	UseAllowed
	UseNone // the component has no meaning in the namespace
)

// A Part is a named part of a name.
type Part struct{ Name, Value string }

// A Namespace is a record of the catalogue.
type Namespace struct {
	NID         string // in lower case
	Name        string // the name of the namespace, for people
	Kind        urn.NIDKind
	Reference   string // the registration or standard
	Example     string // a complete, valid URN
	Note        string // what users should know; what is not checked, and why
	Security    string // security considerations; required
	Equivalence string // equivalences beyond the general syntax, as implemented by Rules.Canonical
	Functional  string // guidance on functional equivalence, which comparison ignores
	Delimiters  string // characters that separate parts and are escaped inside them

	Services       []string // designators of services known to be supported
	DefaultService string
	Keywords       []urn.KeywordUse
	Fragment       Use // whether the f-component has a meaning

	// Stated names the sections that were read for Delimiters, Functional, Services,
	// DefaultService and Keywords. If one of these fields is empty, the sections state nothing
	// about it. If Stated is empty, the document was not available. The standard catalogue
	// takes these fields from one table.
	Stated string

	Rules Rules
}

// Rules are the functions of a namespace. Each may be nil. Their argument is a namespace-specific
// string that is valid by the general syntax. For all functions except Check and Mend, the
// string must also be accepted by Check.
type Rules struct {
	Check     func(nss string) *Finding
	Lint      func(nss string) []Finding
	Parts     func(nss string) []Part
	Canonical func(nss string) string
	Display   func(nss string) string

	// Always says that Canonical also accepts strings that Check rejects, because equivalence
	// in this namespace does not depend on the other rules.
	Always bool

	// Mend returns what was probably meant by a string that Check rejects, and
	// why, for [Suggest]. The string has no white space. The result need not be
	// valid.
	Mend func(nss string) (meant, why string)
}

// Check returns the first error in nss, or nil. A namespace without a rule
// accepts everything. Check does not allocate for valid input.
func (n Namespace) Check(nss string) *Finding {
	if n.Rules.Check == nil {
		return nil
	}
	return n.Rules.Check(nss)
}

// Lint returns remarks about a valid nss.
func (n Namespace) Lint(nss string) []Finding {
	if n.Rules.Lint == nil || n.Check(nss) != nil {
		return nil
	}
	return n.Rules.Lint(nss)
}

// Parts splits a valid nss into its parts.
func (n Namespace) Parts(nss string) []Part {
	if n.Rules.Parts == nil || n.Check(nss) != nil {
		return nil
	}
	return n.Rules.Parts(nss)
}

// Canonical returns the spelling shared by all names that the namespace considers equivalent to
// nss. nss must have the canonical spelling of the general syntax. If Check rejects nss,
// Canonical returns it unchanged, because it is equivalent only to itself. If [Rules].Always is
// set, Canonical converts it nevertheless.
func (n Namespace) Canonical(nss string) string {
	if n.Rules.Canonical == nil || !n.Rules.Always && n.Check(nss) != nil {
		return nss
	}
	return n.Rules.Canonical(nss)
}

// Display returns nss in the form that people write, such as an ISBN with its
// hyphens. If the namespace has no such form, Display returns the canonical
// spelling. The result is the name without "urn:". Two different names never look
// the same.
func (n Namespace) Display(nss string) string {
	if n.Rules.Display == nil || n.Check(nss) != nil {
		return n.Canonical(nss)
	}
	return n.Rules.Display(nss)
}

// Join joins parts to a namespace-specific string with a delimiter. Inside the
// parts it escapes everything that cannot appear in a URN, and every delimiter of
// the namespace, so that the string can be split again.
func (n Namespace) Join(delimiter byte, parts ...string) string {
	b := make([]byte, 0, 64)
	for i, p := range parts {
		if i > 0 {
			b = append(b, delimiter)
		}
		for j := range len(p) {
			if c := p[j]; ascii.IsPchar(c) && c != delimiter && strings.IndexByte(n.Delimiters, c) < 0 {
				b = append(b, c)
			} else {
				b = append(b, ascii.Escape(c)...)
			}
		}
	}
	return string(b)
}

// Missing returns the names of required fields of a registration that are empty.
func (n Namespace) Missing() []string {
	var missing []string
	for _, f := range [...]Part{{"NID", n.NID}, {"name", n.Name}, {"reference", n.Reference}, {"security considerations", n.Security}} {
		if f.Value == "" {
			missing = append(missing, f.Name)
		}
	}
	return missing
}

// Record returns the entry for a registry of package urn, including the data of
// IANA's registry.
func (n Namespace) Record() urn.Namespace { return n.record(urn.IANANamespaces()) }

func (n Namespace) record(iana urn.Namespaces) urn.Namespace {
	r, ok := iana.Lookup(n.NID)
	if !ok {
		r = urn.Namespace{NID: n.NID, Kind: n.Kind, Reference: n.Reference}
	}
	r.Security = n.Security
	r.Special = n.Delimiters
	r.Equivalence = n.Equivalence
	r.Functional = n.Functional
	r.FragmentAllowed = n.Fragment == UseAllowed
	r.Services = n.Services
	r.DefaultService = n.DefaultService
	r.Keywords = n.Keywords
	return r
}
