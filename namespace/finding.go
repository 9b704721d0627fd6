package namespace

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// A Code names a kind of finding.
type Code string

// The codes.
const (
	CodeRule       Code = "namespace-rule"   // a rule of the namespace is broken
	CodeCheckDigit Code = "check-digit"      // a check digit or character is wrong
	CodeForm       Code = "namespace-form"   // legal, but not the form that the namespace prefers
	CodeUnassigned Code = "unassigned-value" // legal, but the code or range is not assigned
	CodeComponent  Code = "component"        // a component that the namespace has no use for
)

// A Finding is something about a name that its reader should know. Offsets are
// into the namespace-specific string for the [Rules], into the spelling of the
// URN for [Check].
type Finding struct {
	Code     Code
	Severity uri.Severity
	Offset   int    // of the first byte that it is about
	End      int    // after the last one
	Rule     string // the production or rule, in the document's spelling
	Message  string // what was found, for people
	Right    string // what should stand between Offset and End, "" if unknown
}

// Error says where and what; a Finding of Check is an error.
func (f *Finding) Error() string {
	return fmt.Sprintf("namespace: offset %d: %s: %s", f.Offset, f.Rule, f.Message)
}

// broken is the refusal of the bytes from at to end.
func broken(at, end int, rule, message string) *Finding {
	return &Finding{Code: CodeRule, Severity: uri.SeverityError, Offset: at, End: end, Rule: rule, Message: message}
}

// wrongCheck is the refusal of the check digit or characters at offset at.
func wrongCheck(at int, rule, got, want string) *Finding {
	return &Finding{
		Code: CodeCheckDigit, Severity: uri.SeverityError, Offset: at, End: at + len(got),
		Rule: rule, Message: "is " + got + ", should be " + want, Right: want,
	}
}

// wrongByte is the refusal of the byte at offset at, or of the end.
func wrongByte(s string, at int, rule, want string) *Finding {
	if at >= len(s) {
		return broken(len(s), len(s), rule, "ends too early, expected "+want)
	}
	f := broken(at, at+1, rule, fmt.Sprintf("found %q, expected %s", s[at:at+1], want))
	f.Right = digitLike(s[at])
	return f
}

// remark is a finding that leaves the name valid.
func remark(code Code, at, end int, rule, message string) Finding {
	return Finding{Code: code, Severity: uri.SeverityWarning, Offset: at, End: end, Rule: rule, Message: message}
}

// advice is a remark about what could be written better, and how.
func advice(at, end int, rule, message, right string) Finding {
	return Finding{Code: CodeForm, Severity: uri.SeverityInfo, Offset: at, End: end, Rule: rule, Message: message, Right: right}
}
