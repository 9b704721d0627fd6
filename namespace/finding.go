package namespace

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// A Code is the kind of a finding.
type Code = uri.FindingCode

// The kinds of findings.
const (
	CodeRule       Code = "namespace-rule"   // violates a rule of the namespace
	CodeCheckDigit Code = "check-digit"      // a check digit or character is wrong
	CodeForm       Code = "namespace-form"   // legal, but not the form that the namespace prefers
	CodeUnassigned Code = "unassigned-value" // legal, but the code or range is not assigned
	CodeComponent  Code = "component"        // a component without a use in the namespace
)

// A Finding is something about a name that a user should know. Offsets refer to
// the namespace-specific string in [Rules], and to the spelling of the URN in
// [Check].
type Finding = uri.Finding

// broken returns an error for the bytes between the offsets start and end.
func broken(start, end int, rule, message string) *Finding {
	return &Finding{Code: CodeRule, Severity: uri.SeverityError, Offset: start, End: end, Rule: rule, Message: message}
}

// wrongCheck returns an error for the check digit or characters that begin at offset.
func wrongCheck(offset int, rule, got, want string) *Finding {
	return &Finding{
		Code: CodeCheckDigit, Severity: uri.SeverityError, Offset: offset, End: offset + len(got),
		Rule: rule, Message: "is " + got + ", should be " + want, Right: want,
	}
}

// wrongByte returns an error for the byte of s at offset, or, if s ends there, for the end of s.
func wrongByte(s string, offset int, rule, want string) *Finding {
	if offset >= len(s) {
		return broken(len(s), len(s), rule, "unexpected end, expected "+want)
	}
	f := broken(offset, offset+1, rule, fmt.Sprintf("found %q, expected %s", s[offset:offset+1], want))
	f.Right = digitLike(s[offset])
	return f
}

// remark returns a finding about a valid name.
func remark(code Code, start, end int, rule, message string) Finding {
	return Finding{Code: code, Severity: uri.SeverityWarning, Offset: start, End: end, Rule: rule, Message: message}
}

// advice returns a remark with the preferred form.
func advice(start, end int, rule, message, right string) Finding {
	return Finding{Code: CodeForm, Severity: uri.SeverityInfo, Offset: start, End: end, Rule: rule, Message: message, Right: right}
}
