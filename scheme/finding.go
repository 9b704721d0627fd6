package scheme

import (
	"slices"

	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// A Code identifies the kind of a finding, for programs.
type Code = uri.FindingCode

// The kinds of findings of this package.
const (
	CodeSyntax      Code = uri.FindingScheme    // violates the syntax of the scheme
	CodeValue       Code = "scheme-value"       // follows the syntax, but has an invalid value
	CodeForm        Code = "scheme-form"        // valid, but not in the recommended form
	CodeFragment    Code = "scheme-fragment"    // a fragment in a scheme that does not define one
	CodeCredentials Code = "credentials"        // contains a secret in readable form
	CodeInjection   Code = layout.CodeInjection // a decoded character would end a line or field of the protocol
	CodeDanger      Code = "dangerous"          // a client that follows the URI can do more than fetch a resource
	CodeHidden      Code = "hidden-characters"  // invisible characters, or characters that change the text direction
	CodeInteractive Code = "interactive"        // opens a session instead of retrieving an object
	CodeUndefined   Code = "undefined-mapping"  // no document defines the meaning of the URI
	CodeNested      Code = "nested"             // contains another URI, which has its own findings
	CodeObsolete    Code = "obsolete"           // historical, or replaced
)

// A Finding is a violation of the rules of a scheme, or a warning about a valid URI. Its offsets
// are in bytes.
type Finding = uri.Finding

// HasError reports whether any of the findings has the severity error.
func HasError(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == uri.SeverityError })
}

// FirstError returns the first finding with the severity error, as a [*Finding], or nil if there is
// none.
func FirstError(found []Finding) error {
	for _, f := range found {
		if f.Severity == uri.SeverityError {
			return &f
		}
	}
	return nil
}
