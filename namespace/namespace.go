package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// A Use says whether a component has a meaning in a namespace.
type Use uint8

// The uses.
const (
	UseUnstated Use = iota // the registration does not say
	UseAllowed
	UseNone // it has no use there
)

// A Part is a named piece of a name.
type Part struct{ Name, Value string }

// A Namespace is one record of the catalogue.
type Namespace struct {
	NID         string // in lower case
	Name        string // for people
	Kind        urn.NIDKind
	Reference   string // the registration or standard
	Example     string // a whole URN that is valid
	Note        string // what a user should know; what is not checked and why
	Security    string // considerations of its own; a record without them is incomplete
	Equivalence string // what it holds equivalent beyond the general syntax: what Rules.Canonical does
	Functional  string // guidance on functional equivalence, which the comparison leaves alone
	Delimiters  string // characters that separate parts and are escaped inside of them

	Services       []string // designators that are known to be supported
	DefaultService string
	Keywords       []urn.KeywordUse
	Fragment       Use // of the f-component

	// Stated names the sections that were read for Delimiters, Functional,
	// Services, DefaultService and Keywords: what is empty there, they do not
	// state. If Stated is empty, the document was not at hand. The standard
	// catalogue takes these fields from one table.
	Stated string

	Rules Rules
}

// Rules are the functions of a namespace. Each may be nil. They take a
// namespace-specific string of the general syntax; all but Check and Mend take one
// that Check accepts.
type Rules struct {
	Check     func(nss string) *Finding
	Lint      func(nss string) []Finding
	Parts     func(nss string) []Part
	Canonical func(nss string) string
	Display   func(nss string) string

	// Always says that Canonical takes also what Check refuses: its equivalence
	// does not depend on the other rules.
	Always bool

	// Mend takes a string that Check refuses, without white space, and returns
	// what was probably meant and why, for [Suggest]. That need not be valid.
	Mend func(nss string) (meant, why string)
}

// Check returns the first thing that is wrong with nss, or nil. A namespace
// without a rule accepts all. Valid input costs no allocation.
func (n Namespace) Check(nss string) *Finding {
	if n.Rules.Check == nil {
		return nil
	}
	return n.Rules.Check(nss)
}

// Lint returns what is to be said about a valid nss.
func (n Namespace) Lint(nss string) []Finding {
	if n.Rules.Lint == nil || n.Check(nss) != nil {
		return nil
	}
	return n.Rules.Lint(nss)
}

// Parts takes a valid nss to pieces.
func (n Namespace) Parts(nss string) []Part {
	if n.Rules.Parts == nil || n.Check(nss) != nil {
		return nil
	}
	return n.Rules.Parts(nss)
}

// Canonical returns the spelling that all spellings share which the namespace
// holds equivalent, given the canonical spelling of the general syntax. An nss
// that breaks the rules is left alone, since it is equivalent to nothing else,
// unless the rules of equivalence hold for it too ([Rules].Always).
func (n Namespace) Canonical(nss string) string {
	if n.Rules.Canonical == nil || !n.Rules.Always && n.Check(nss) != nil {
		return nss
	}
	return n.Rules.Canonical(nss)
}

// Display writes nss as people of the trade do, such as an ISBN with its
// hyphens; where they have no way of their own it is the canonical spelling.
// What it shows is the name alone, without "urn:"; two different names never
// look the same.
func (n Namespace) Display(nss string) string {
	if n.Rules.Display == nil || n.Check(nss) != nil {
		return n.Canonical(nss)
	}
	return n.Rules.Display(nss)
}

// Join makes a namespace-specific string of parts with a delimiter between them.
// Inside the parts everything is escaped that cannot stand in a URN, and every
// delimiter of the namespace, so that the parts can be told apart again.
func (n Namespace) Join(delimiter byte, parts ...string) string {
	b := make([]byte, 0, 64)
	for i, p := range parts {
		if i > 0 {
			b = append(b, delimiter)
		}
		for j := range len(p) {
			if c := p[j]; isPchar(c) && c != delimiter && strings.IndexByte(n.Delimiters, c) < 0 {
				b = append(b, c)
			} else {
				b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			}
		}
	}
	return string(b)
}

// Missing names the fields that a registration must fill and this record does
// not.
func (n Namespace) Missing() []string {
	var missing []string
	for _, f := range [...]Part{{"NID", n.NID}, {"name", n.Name}, {"reference", n.Reference}, {"security considerations", n.Security}} {
		if f.Value == "" {
			missing = append(missing, f.Name)
		}
	}
	return missing
}

// Record returns the entry for a registry of package urn: what n says, beside
// what the registry of IANA says of it.
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
