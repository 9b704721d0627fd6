package extra

import (
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
)

// A field holds the offsets of a name=value pair.
type field struct {
	name, nameEnd int
	value         int // start of the value; -1 if there is no equals sign
	end           int
}

// fields returns an iterator over the fields of s[i:j]. If i is negative or greater than j, the
// iterator yields nothing. If i equals j, it yields one empty field.
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

func queryFields(l *layout.Layout, sep byte) iter.Seq[field] {
	return fields(l.Text, l.Query, l.QueryEnd, sep)
}

func fieldAt(s string, at, to int, sep byte) field {
	end := ascii.Until(s, at, to, sep)
	equals := ascii.Until(s, at, end, '=')
	if equals == end {
		return field{at, end, -1, end}
	}
	return field{at, equals, equals + 1, end}
}

func (f field) is(s, name string) bool { return ascii.EqualFold(s[f.name:f.nameEnd], name) }

func (f field) empty() bool { return f.value < 0 || f.value == f.end }

// A fieldGrammar defines the names and values that the fields of a list may have.
type fieldGrammar struct {
	rule, form  string // the rule and the message for a field without a value
	alone       bool   // a field may consist of a name, and a value must not be empty
	name, value charset
}

// A charset is a set of characters. Its rule and message describe an error about any other
// character.
type charset struct {
	allows        func(byte) bool // nil allows any character
	rule, message string
}

// check returns an error about the first character of s[from:to] that the charset does not allow.
func (c *charset) check(s string, from, to int) []scheme.Finding {
	if c.allows != nil {
		if i := firstNot(s, from, to, c.allows); i >= 0 {
			return layout.Refuse(i, i+1, c.rule, c.message)
		}
	}
	return nil
}

// check checks the form of a field, then its name and its value.
func (g *fieldGrammar) check(s string, f field) []scheme.Finding {
	if f.name == f.nameEnd || f.value < 0 && !g.alone || f.value == f.end && g.alone {
		return layout.Refuse(f.name, f.end, g.rule, g.form)
	}
	if bad := g.name.check(s, f.name, f.nameEnd); bad != nil || f.value < 0 {
		return bad
	}
	return g.value.check(s, f.value, f.end)
}

// appendFields adds a part for each field of s[from:to]. The parts of fields with known names have
// no group. All other parts have the given group.
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

const fewFields = 16

// repeatedField returns the first field that has the same name as an earlier field, ignoring case.
// It reports whether there is such a field.
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
