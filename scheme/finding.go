package scheme

import (
	"fmt"
	"slices"

	"github.com/nomen-project/nomen/uri"
)

// A Code names a kind of finding.
type Code = uri.FindingCode

// The codes.
const (
	CodeSyntax      Code = "scheme-syntax"     // the syntax of the scheme is broken
	CodeValue       Code = "scheme-value"      // a value that has the right form and cannot be
	CodeForm        Code = "scheme-form"       // right, but not as the scheme prefers it
	CodeFragment    Code = "scheme-fragment"   // a fragment where the scheme gives it no meaning
	CodeCredentials Code = "credentials"       // a secret that everybody can read
	CodeInjection   Code = "injection"         // would end a line or a field of the protocol
	CodeDanger      Code = "dangerous"         // following it may do more than fetch
	CodeHidden      Code = "hidden-characters" // characters that are not seen, or turn the order
	CodeInteractive Code = "interactive"       // a session, not an object
	CodeUndefined   Code = "undefined-mapping" // no document says what it means
	CodeNested      Code = "nested"            // another URI inside, which has findings of its own
	CodeObsolete    Code = "obsolete"          // historical, or replaced
)

// A Finding is something about a URI that its reader should know by the rules of
// its scheme. Offsets are into the spelling.
type Finding struct {
	Code     Code
	Severity uri.Severity
	Offset   int    // of the first byte that it is about
	End      int    // after the last one
	Rule     string // document, section, production: "RFC 4266, 2.1: selector"
	Message  string // what was found, for people
	Right    string // what should stand between Offset and End, "" if unknown
}

// Error says where and what.
func (f Finding) Error() string {
	return fmt.Sprintf("scheme: offset %d: %s (%s)", f.Offset, f.Message, f.Rule)
}

// HasError reports whether one of the findings is an error.
func HasError(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == uri.SeverityError })
}

// FirstError returns the first finding that is an error, or nil.
func FirstError(found []Finding) error {
	for _, f := range found {
		if f.Severity == uri.SeverityError {
			return f
		}
	}
	return nil
}

// broken is the refusal of the bytes between two offsets.
func broken(from, to int, rule, message string) Finding {
	return Finding{Code: CodeSyntax, Severity: uri.SeverityError, Offset: from, End: to, Rule: rule, Message: message}
}

// refuse is the only finding of a Check.
func refuse(from, to int, rule, message string) []Finding {
	return []Finding{broken(from, to, rule, message)}
}

// warn is about what may deceive or harm.
func warn(code Code, from, to int, rule, message string) Finding {
	return Finding{Code: code, Severity: uri.SeverityWarning, Offset: from, End: to, Rule: rule, Message: message}
}

// remark is about what could be better.
func remark(code Code, from, to int, rule, message string) Finding {
	return Finding{Code: code, Severity: uri.SeverityInfo, Offset: from, End: to, Rule: rule, Message: message}
}

// instead returns f with what should stand there.
func (f Finding) instead(right string) Finding {
	f.Right = right
	return f
}
