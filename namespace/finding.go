package namespace

import (
	"fmt"

	"github.com/nomen-project/nomen/uri"
)

// A Code identifies the kind of a finding, for programs.
type Code = uri.FindingCode

// The kinds of findings.
const (
	CodeRule       Code = "namespace-rule"   // violates a rule of the namespace
	CodeCheckDigit Code = "check-digit"      // a check digit or character is wrong
	CodeForm       Code = "namespace-form"   // valid, but not in the preferred form
	CodeUnassigned Code = "unassigned-value" // valid, but its code or range is not assigned
	CodeComponent  Code = "component"        // the component has no meaning in the namespace
)

// A Finding is a violation of the rules of a namespace, or a warning about a valid name. In
// findings of [Rules], offsets refer to the namespace-specific string. In findings of [Check],
// offsets refer to the whole URN.
type Finding = uri.Finding

func broken(start, end int, rule, message string) *Finding {
	return &Finding{Code: CodeRule, Severity: uri.SeverityError, Offset: start, End: end, Rule: rule, Message: message}
}

func wrongCheck(offset int, rule, got, want string) *Finding {
	return &Finding{
		Code: CodeCheckDigit, Severity: uri.SeverityError, Offset: offset, End: offset + len(got),
		Rule: rule, Message: "is " + got + ", should be " + want, Right: want,
	}
}

func wrongByte(s string, offset int, rule, want string) *Finding {
	if offset >= len(s) {
		return broken(len(s), len(s), rule, "unexpected end, expected "+want)
	}
	f := broken(offset, offset+1, rule, fmt.Sprintf("found %q, expected %s", s[offset:offset+1], want))
	f.Right = digitLike(s[offset])
	return f
}

func remark(code Code, start, end int, rule, message string) Finding {
	return Finding{Code: code, Severity: uri.SeverityWarning, Offset: start, End: end, Rule: rule, Message: message}
}

// advice returns a finding that suggests the preferred form of the text between two offsets.
func advice(start, end int, rule, message, right string) Finding {
	return Finding{Code: CodeForm, Severity: uri.SeverityInfo, Offset: start, End: end, Rule: rule, Message: message, Right: right}
}
