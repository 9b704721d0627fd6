package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// A Use states whether a component of a URN has a meaning in a namespace.
type Use uint8

// The possible meanings of a component.
const (
	UseUnstated Use = iota // the registration does not state whether it has a meaning
	UseAllowed
	UseNone // the component has no meaning
)

// A Part is a part of a name, such as the publisher in an ISBN.
type Part struct{ Name, Value string }

// A Namespace describes a URN namespace.
type Namespace struct {
	NID         string // in lower case
	Name        string // for people
	Kind        urn.NIDKind
	Reference   string // the registration or the standard
	Example     string // a valid URN
	Note        string // for users: peculiarities, and rules that are not checked
	Security    string // security considerations; required
	Equivalence string // describes what Rules.Canonical considers equivalent
	Functional  string // describes functional equivalence, which comparison ignores
	Delimiters  string // characters that separate parts, and are escaped inside parts

	Services       []string // the services that the namespace supports
	DefaultService string
	Keywords       []urn.KeywordUse
	Fragment       Use // whether the f-component has a meaning

	// Stated names the sections of documents that were read for Delimiters, Functional, Services,
	// DefaultService and Keywords. If one of these fields is empty, the sections do not state its
	// value. If Stated is empty, the document was not available.
	Stated string

	Rules Rules
}

// Rules are the functions that implement the rules of a namespace. Each function may be nil. The
// argument is a namespace-specific string that is valid by the general syntax. All functions except
// Check and Mend are only called with a string that Check accepts.
type Rules struct {
	Check     func(nss string) *Finding
	Lint      func(nss string) []Finding
	Parts     func(nss string) []Part
	Canonical func(nss string) string
	Display   func(nss string) string

	// Always is true if Canonical also applies to strings that Check rejects.
	Always bool

	// Mend tries to correct a string that Check rejects, for [Suggest]. The argument has no white
	// space. Mend returns a corrected string, which may still be invalid, and describes the change.
	Mend func(nss string) (meant, why string)
}

// Check returns the first error in nss, or nil if nss is valid or the namespace has no rules. It
// does not allocate if nss is valid.
func (n Namespace) Check(nss string) *Finding {
	if n.Rules.Check == nil {
		return nil
	}
	return n.Rules.Check(nss)
}

// Lint returns findings about nss, which must be valid.
func (n Namespace) Lint(nss string) []Finding {
	if n.Rules.Lint == nil || n.Check(nss) != nil {
		return nil
	}
	return n.Rules.Lint(nss)
}

// Parts splits nss, which must be valid, into its parts.
func (n Namespace) Parts(nss string) []Part {
	if n.Rules.Parts == nil || n.Check(nss) != nil {
		return nil
	}
	return n.Rules.Parts(nss)
}

// Canonical returns the canonical spelling of nss, which is the same for all names that the
// namespace considers equivalent. The argument must have the canonical spelling of the general
// syntax. If Check rejects nss, Canonical returns it unchanged, unless [Rules].Always is true.
func (n Namespace) Canonical(nss string) string {
	if n.Rules.Canonical == nil || !n.Rules.Always && n.Check(nss) != nil {
		return nss
	}
	return n.Rules.Canonical(nss)
}

// Display returns nss as people write it, such as an ISBN with hyphens. If the namespace has no
// such form, Display returns the canonical spelling. Different names have different results.
func (n Namespace) Display(nss string) string {
	if n.Rules.Display == nil || n.Check(nss) != nil {
		return n.Canonical(nss)
	}
	return n.Rules.Display(nss)
}

// Join joins the parts of a namespace-specific string with a delimiter. So that the string can be
// split again, Join percent-encodes the delimiters of the namespace inside the parts. It also
// percent-encodes characters that a URN cannot contain.
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

// Missing returns the names of the required fields that are empty.
func (n Namespace) Missing() []string {
	var missing []string
	for _, f := range [...]Part{{"NID", n.NID}, {"name", n.Name}, {"reference", n.Reference}, {"security considerations", n.Security}} {
		if f.Value == "" {
			missing = append(missing, f.Name)
		}
	}
	return missing
}

// Record returns n as an entry of a registry of package urn, with the information in IANA's
// registry.
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
