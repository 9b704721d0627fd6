package registrar

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// doubts returns warnings about the identifiers and dates of a request for n. A name with a
// wrong check digit may be intended: things are printed with wrong numbers.
func doubts(n name.Name, req *Request) []Warning {
	all := appendDoubt(nil, "", 0, cmp.Or(req.Record.Spelling, n.Key()), n)
	fields := req.meant()
	for _, list := range [...]struct {
		field  string
		meant  bool
		values []string
	}{
		{"same_as", fields.Has(FieldSameAs), req.Record.SameAs},
		{"successors", fields.Has(FieldSuccessors), req.Record.Successors},
	} {
		for i, s := range list.values {
			if m, err := name.Parse(s); list.meant && err == nil {
				all = appendDoubt(all, list.field, i, s, m)
			}
		}
	}
	if fields.Has(FieldMetadata) {
		for i, s := range req.Record.Metadata["date"] {
			if message := doubtDate(s); message != "" {
				all = append(all, Warning{WarnDate, fmt.Sprintf("metadata.date[%d]: %q: %s", i, s, message)})
			}
		}
	}
	return slices.Clip(all)
}

// appendDoubt appends the warning about n, if any, whose spelling is given: value i of a
// list, or the name of the record if list is "".
func appendDoubt(all []Warning, list string, i int, spelling string, n name.Name) []Warning {
	field := func() string {
		if list == "" {
			return ""
		}
		return fmt.Sprintf("%s[%d]: ", list, i)
	}
	if f := flawOf(n); f != nil {
		message := fmt.Sprintf("%s%s: offset %d: %s: %s", field(), n, f.Offset, f.Rule, f.Message)
		return append(all, Warning{WarnDoubtful, message + meant(spelling)})
	}
	if label := n.Scheme(); label != "http" && label != "https" {
		return all
	}
	if m, ok := name.Interpret(spelling); ok {
		return append(all, Warning{WarnResolver, fmt.Sprintf("%s%s: is %s, which is a separate name here; the name is %s", field(), spelling, m.Why, m.Spelling)})
	}
	return all
}

// flawOf returns the first violation by n of a rule of its scheme or namespace, or
// nil.
func flawOf(n name.Name) *name.Flaw {
	label := n.Scheme()
	if pid.Lookup(label).Resolved || label == "http" || label == "https" {
		return n.Flaw()
	}
	for _, f := range scheme.Check(n.URI()) {
		if f.Severity == uri.SeverityError {
			return &name.Flaw{Offset: f.Offset, Rule: f.Rule, Message: f.Message}
		}
	}
	return nil
}

// meant returns a suggestion for what s probably means, to be appended to a message; "" if
// there is none.
func meant(s string) string {
	if all := name.Suggest(s); len(all) > 0 {
		return fmt.Sprintf("; did you mean %s (%s)?", all[0].Name, all[0].Why)
	}
	return ""
}

// nameFault returns the fault of an invalid name, with a suggestion.
func nameFault(spelling string, err error) fault {
	f := faultOf(err)
	f.message += meant(spelling)
	return f
}

// refuseDoubts rejects the creation of a doubtful name if q.Strict is set.
func (q *Request) refuseDoubts(doubts []Warning) error {
	for _, w := range doubts {
		if q.Strict && w.Code != WarnDate {
			return refuse(cmp.Or(q.Record.Spelling, q.Record.Name.Key()), "name", faultf(0, w.Code, "%s", w.Message))
		}
	}
	return nil
}
