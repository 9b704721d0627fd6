package registry

import (
	"cmp"
	"slices"
	"strings"
)

// A Table is one registry.
type Table struct {
	Name      string   // the name in paths and the identifier in the XML: "namespaces"
	Entry     string   // what an entry is called: "namespace"
	Title     string   // the title for people
	Reference string   // the document that defines the registry
	Note      string   // a note for readers; "" for none
	Columns   []string // the fields shown in a list
	Entries   []Entry  // in the order of the registry

	fold    bool                     // names are compared ignoring case
	unknown func(name string) string // describes a name that is not registered; may be nil
}

// An Entry is one entry of a registry.
type Entry struct {
	Name   string
	Fields []Field
	Value  any // the entry as encoding/json encodes it
}

// A Field is a property of an entry. A field without values is shown only if Missing is set.
type Field struct {
	Name    string // in lower case, with underscores: the name of the JSON member and the XML element
	Values  []string
	Missing string // why there are no values: "not stated" by the documents, or "not examined"
}

// Lookup returns the entry with a name. Case is ignored for namespaces and schemes, but not for
// services.
func (t Table) Lookup(name string) (Entry, bool) {
	i := slices.IndexFunc(t.Entries, func(e Entry) bool {
		return e.Name == name || t.fold && strings.EqualFold(e.Name, name)
	})
	if i < 0 {
		return Entry{}, false
	}
	return t.Entries[i], true
}

// Unknown describes a name that is not in the registry, by its form; "" if its form says
// nothing.
func (t Table) Unknown(name string) string {
	if t.unknown == nil {
		return ""
	}
	return t.unknown(name)
}

// Filter returns the table with only the entries for which accept returns true.
func (t Table) Filter(accept func(Entry) bool) Table {
	t.Entries = slices.DeleteFunc(slices.Clone(t.Entries), func(e Entry) bool { return !accept(e) })
	return t
}

// Names returns the names of the entries.
func (t Table) Names() []string {
	names := make([]string, len(t.Entries))
	for i, e := range t.Entries {
		names[i] = e.Name
	}
	return names
}

// Cells returns the values of an entry shown in a list, in the order of [Table.Columns]; "-"
// for a missing value.
func (t Table) Cells(e Entry) []string {
	cells := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = cmp.Or(e.Get(c), "-")
	}
	return cells
}

// Get returns the values of a field, separated by commas; "" if there are none.
func (e Entry) Get(name string) string {
	for _, f := range e.Fields {
		if f.Name == name {
			return strings.Join(f.Values, ", ")
		}
	}
	return ""
}

// Shown returns the fields with values, or with a reason why there are none.
func (e Entry) Shown() []Field {
	return slices.DeleteFunc(slices.Clone(e.Fields), func(f Field) bool { return len(f.Values) == 0 && f.Missing == "" })
}

// Label returns the name of a field for people.
func (f Field) Label() string { return label(f.Name) }

func label(name string) string { return strings.ReplaceAll(name, "_", " ") }

// field returns a field with the values that are not empty.
func field(name string, values ...string) Field {
	return Field{Name: name, Values: slices.DeleteFunc(values, func(v string) bool { return v == "" })}
}

// orMissing returns f. If f has no values, the result has this reason.
func (f Field) orMissing(reason string) Field {
	if len(f.Values) == 0 {
		f.Missing = reason
	}
	return f
}

// ruled returns the field that says whether package namespace or scheme has rules for the
// entry.
func ruled(known bool) Field {
	if known {
		return field("rules", "checked")
	}
	return Field{Name: "rules", Missing: "only the general syntax is checked"}
}
