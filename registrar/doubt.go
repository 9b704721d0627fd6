package registrar

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
)

// A doubt is a value of a request that is allowed but may be a mistake.
type doubt struct {
	code    string // code of the warning
	field   string // name of the field, such as "successors[0]"
	value   string // the value, an identifier, for the warning
	offset  int    // offset of the mistake in the value
	message string // what may be wrong, with a suggestion
}

// warning converts d to a [Warning] with the field and the value in its message.
func (d *doubt) warning() Warning {
	text := d.value + ": "
	if d.field != nameField {
		text = d.field + ": " + text
	}
	if d.code == WarnDoubtful {
		text += fmt.Sprintf("offset %d: ", d.offset)
	}
	return Warning{d.code, text + d.message}
}

func warningsOf(doubts []doubt) []Warning {
	var all []Warning
	for i := range doubts {
		all = append(all, doubts[i].warning())
	}
	return slices.Clip(all)
}

const nameField = "name"

// doubts returns what may be wrong with the identifiers and dates in a request for the name n. A
// wrong check digit causes only a warning, because some books were printed with a wrong ISBN.
func doubts(n name.Name, req *Request) []doubt {
	all := appendDoubt(nil, nameField, cmp.Or(req.Record.Spelling, n.Key()), n)
	fields := req.meant()
	for _, list := range [...]struct {
		field  string
		meant  bool
		values []string
	}{
		{"same_as", fields.has(FieldSameAs), req.Record.SameAs},
		{"successors", fields.has(FieldSuccessors), req.Record.Successors},
	} {
		for i, s := range list.values {
			if m, err := name.Parse(s); list.meant && err == nil {
				all = appendDoubt(all, fmt.Sprintf("%s[%d]", list.field, i), s, m)
			}
		}
	}
	if fields.has(FieldMetadata) {
		for i, s := range req.Record.Metadata["date"] {
			if message := doubtDate(s); message != "" {
				all = append(all, doubt{code: WarnDate, field: fmt.Sprintf("metadata.date[%d]", i), value: strconv.Quote(s), message: message})
			}
		}
	}
	return all
}

func appendDoubt(all []doubt, field, spelling string, n name.Name) []doubt {
	if f := flawOf(n); f != nil {
		message := f.Rule + ": " + f.Message
		return append(all, doubt{WarnDoubtful, field, n.String(), f.Offset, message + meant(spelling, message)})
	}
	if label := n.Scheme(); label != "http" && label != "https" {
		return all
	}
	if m, ok := name.Interpret(spelling); ok {
		return append(all, doubt{WarnResolver, field, spelling, 0, fmt.Sprintf("is %s, which is a separate name here; the name is %s", m.Why, m.Spelling)})
	}
	return all
}

func flawOf(n name.Name) *name.Flaw {
	label := n.Scheme()
	if pid.Lookup(label).Resolved || label == "http" || label == "https" {
		return n.Flaw()
	}
	for _, f := range extra.Catalogue().Check(n.URI()) {
		if f.Severity == uri.SeverityError {
			return &name.Flaw{Offset: f.Offset, Rule: f.Rule, Message: f.Message}
		}
	}
	return nil
}

func meant(s, message string) string {
	all := name.Suggest(s)
	switch {
	case len(all) == 0:
		return ""
	case strings.Contains(message, all[0].Why):
		return fmt.Sprintf("; did you mean %s?", all[0].Name)
	}
	return fmt.Sprintf("; did you mean %s (%s)?", all[0].Name, all[0].Why)
}

func nameFault(spelling string, err error) fault {
	f := faultOf(err)
	f.message += meant(spelling, f.rule+": "+f.message)
	return f
}

func (q *Request) refuseDoubts(doubts []doubt) error {
	for _, d := range doubts {
		if q.Strict && d.code != WarnDate {
			return refuse(cmp.Or(q.Record.Spelling, q.Record.Name.Key()), d.field, faultf(d.offset, d.code, "%s", d.message))
		}
	}
	return nil
}
