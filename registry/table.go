package registry

import (
	"cmp"
	"slices"
	"strings"
)

// A Table has the entries of a registry.
type Table struct {
	Name      string   // name in paths and in XML, such as "namespaces"
	Entry     string   // the term for an entry, such as "namespace"
	Title     string   // for people
	Reference string   // the document that defines the registry
	Note      string   // for readers; may be ""
	Columns   []string // names of the fields in a list
	Entries   []Entry  // in the order of the registry

	fold    bool                     // names ignore case
	unknown func(name string) string // describes a name that is not in the registry; may be nil
}

// An Entry is an entry of a registry.
type Entry struct {
	Name   string
	Fields []Field
	Value  any // the value that represents the entry in JSON
}

// A Field is a property of an entry. A field without values is only shown if Missing is not "".
type Field struct {
	Name    string // in lower case, with underscores; also the name of the JSON member and the XML element
	Values  []string
	Missing string // the reason why the field has no values, such as "not stated"
}

// Lookup returns the entry with the given name, and reports whether the table has such an entry. It
// ignores case in the names of namespaces and schemes, but not in the names of services.
func (t Table) Lookup(name string) (Entry, bool) {
	i := slices.IndexFunc(t.Entries, func(e Entry) bool {
		return e.Name == name || t.fold && strings.EqualFold(e.Name, name)
	})
	if i < 0 {
		return Entry{}, false
	}
	return t.Entries[i], true
}

// Unknown describes a name that is not in the registry, for example as an experimental name. It
// returns "" if the form of the name does not have a meaning.
func (t Table) Unknown(name string) string {
	if t.unknown == nil {
		return ""
	}
	return t.unknown(name)
}

// Filter returns a copy of the table with the entries for which accept returns true.
func (t Table) Filter(accept func(Entry) bool) Table {
	t.Entries = slices.DeleteFunc(slices.Clone(t.Entries), func(e Entry) bool { return !accept(e) })
	return t
}

func (t Table) Names() []string {
	names := make([]string, len(t.Entries))
	for i, e := range t.Entries {
		names[i] = e.Name
	}
	return names
}

// Cells returns the values that a list shows for an entry, in the order of [Table.Columns]. A
// missing value is "-".
func (t Table) Cells(e Entry) []string {
	cells := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = cmp.Or(e.Get(c), "-")
	}
	return cells
}

// Get returns the values of a field, separated by commas, or "".
func (e Entry) Get(name string) string {
	for _, f := range e.Fields {
		if f.Name == name {
			return strings.Join(f.Values, ", ")
		}
	}
	return ""
}

// Shown returns the fields to display. It omits fields that have neither values nor a reason in
// Missing.
func (e Entry) Shown() []Field {
	return slices.DeleteFunc(slices.Clone(e.Fields), func(f Field) bool { return len(f.Values) == 0 && f.Missing == "" })
}

// Label returns the name of the field for people.
func (f Field) Label() string { return label(f.Name) }

func label(name string) string { return strings.ReplaceAll(name, "_", " ") }

func field(name string, values ...string) Field {
	return Field{Name: name, Values: slices.DeleteFunc(values, func(v string) bool { return v == "" })}
}

// orMissing returns f. If f has no values, the reason is set as Missing in the result.
func (f Field) orMissing(reason string) Field {
	if len(f.Values) == 0 {
		f.Missing = reason
	}
	return f
}

// ruled returns the field "rules", which shows whether names of the namespace or scheme are
// checked.
func ruled(known bool) Field {
	if known {
		return field("rules", "checked")
	}
	return Field{Name: "rules", Missing: "only the general syntax is checked"}
}
