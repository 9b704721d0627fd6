package extra

import (
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
)

// A field is a name=value pair in a list of such pairs.
type field struct {
	name, nameEnd int
	value         int // -1 if there is no equals sign
	end           int
}

// fields yields the fields of s[i:j]. It yields no field if i is negative
// or greater than j, and one empty field if i equals j.
func fields(s string, i, j int, sep byte) iter.Seq[field] {
	return func(yield func(field) bool) {
		for at := i; at >= 0 && at <= j; {
			f := fieldAt(s, at, j, sep)
			if !yield(f) {
				return
			}
			at = f.end + 1
		}
	}
}

// queryFields yields the fields of the query, and no field if the query is
// undefined.
func queryFields(l *layout.Layout, sep byte) iter.Seq[field] {
	return fields(l.Text, l.Query, l.QueryEnd, sep)
}

// fieldAt returns the field that begins at the given offset.
func fieldAt(s string, at, to int, sep byte) field {
	end := ascii.Until(s, at, to, sep)
	equals := ascii.Until(s, at, end, '=')
	if equals == end {
		return field{at, end, -1, end}
	}
	return field{at, equals, equals + 1, end}
}

// is reports whether the name of the field is name, ignoring case.
func (f field) is(s, name string) bool { return ascii.EqualFold(s[f.name:f.nameEnd], name) }

// empty reports whether the value is empty or absent.
func (f field) empty() bool { return f.value < 0 || f.value == f.end }

// A fieldGrammar is the grammar of the fields of a list.
type fieldGrammar struct {
	rule, form  string // the rule, and the message if a field is not name=value
	alone       bool   // a field may also be a name alone, and a value must not be empty
	name, value charset
}

// A charset is the set of characters that a component allows, with the rule and
// the message for a character outside it.
type charset struct {
	allows        func(byte) bool // nil for any character
	rule, message string
}

// check returns an error about the first character of s[from:to] that is outside
// the charset.
func (c *charset) check(s string, from, to int) []scheme.Finding {
	if c.allows != nil {
		if i := firstNot(s, from, to, c.allows); i >= 0 {
			return layout.Refuse(i, i+1, c.rule, c.message)
		}
	}
	return nil
}

// check checks the form of a field, its name and its value, in this order.
func (g *fieldGrammar) check(s string, f field) []scheme.Finding {
	if f.name == f.nameEnd || f.value < 0 && !g.alone || f.value == f.end && g.alone {
		return layout.Refuse(f.name, f.end, g.rule, g.form)
	}
	if bad := g.name.check(s, f.name, f.nameEnd); bad != nil || f.value < 0 {
		return bad
	}
	return g.value.check(s, f.value, f.end)
}

// appendFields adds a part for each field of s[from:to]. A field whose name is in known becomes a
// part without a group, because the grammar names it. Any other field becomes a part of the given
// group.
func appendFields(t *layout.Taker, group string, from, to int, sep byte, known ...string) {
	for f := range fields(t.Text, from, to, sep) {
		value := max(f.value, min(f.nameEnd+1, f.end))
		if i := slices.IndexFunc(known, func(name string) bool { return f.is(t.Text, name) }); i >= 0 {
			t.Data(known[i], value, f.end)
		} else {
			t.Pair(group, t.Text[f.name:f.nameEnd], value, f.end)
		}
	}
}

// fewFields is the maximum number of fields for which repeatedField compares all pairs.
const fewFields = 16

// repeatedField returns the first field that has the same name as an earlier field, ignoring case.
// If no name is repeated, ok is false.
func repeatedField(s string, from, to int, sep byte) (again field, ok bool) {
	var few [fewFields]field
	var seen map[string]bool
	n := 0
	for f := range fields(s, from, to, sep) {
		if n < fewFields {
			for _, before := range few[:n] {
				if before.is(s, s[f.name:f.nameEnd]) {
					return f, true
				}
			}
			few[n] = f
			n++
			continue
		}
		if seen == nil {
			seen = make(map[string]bool)
			for _, before := range few {
				seen[strings.ToLower(s[before.name:before.nameEnd])] = true
			}
		}
		name := strings.ToLower(s[f.name:f.nameEnd])
		if seen[name] {
			return f, true
		}
		seen[name] = true
	}
	return field{}, false
}

// sortedFields returns the fields of s[from:to] as text, sorted by name. The function write appends
// the text of a field.
func sortedFields(s string, from, to int, sep byte, write func(b []byte, f field) []byte) []string {
	var list []string
	for f := range fields(s, from, to, sep) {
		list = append(list, string(write(nil, f)))
	}
	slices.SortStableFunc(list, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	return list
}
