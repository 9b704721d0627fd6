package scheme

import (
	"slices"

	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// A Code is the kind of a finding.
type Code = uri.FindingCode

// The codes of findings.
const (
	CodeSyntax      Code = uri.FindingScheme    // violates the syntax of the scheme
	CodeValue       Code = "scheme-value"       // well-formed, but the value is invalid
	CodeForm        Code = "scheme-form"        // valid, but not the recommended form
	CodeFragment    Code = "scheme-fragment"    // a fragment in a scheme that does not define one
	CodeCredentials Code = "credentials"        // contains a secret in readable form
	CodeInjection   Code = layout.CodeInjection // would end a line or field of the protocol
	CodeDanger      Code = "dangerous"          // following the URI may do more than fetch a resource
	CodeHidden      Code = "hidden-characters"  // invisible characters, or characters that change the text direction
	CodeInteractive Code = "interactive"        // opens a session; does not retrieve an object
	CodeUndefined   Code = "undefined-mapping"  // not defined by any document
	CodeNested      Code = "nested"             // contains another URI, which has its own findings
	CodeObsolete    Code = "obsolete"           // historical, or replaced
)

// A Finding is a problem with a URI, or something a reader should know about it,
// according to the rules of its scheme. Offsets are byte offsets into the URI as
// spelled.
type Finding = uri.Finding

// HasError reports whether any of the findings is an error.
func HasError(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == uri.SeverityError })
}

// FirstError returns the first finding that is an error, as a [*Finding], or nil.
func FirstError(found []Finding) error {
	for _, f := range found {
		if f.Severity == uri.SeverityError {
			return &f
		}
	}
	return nil
}
