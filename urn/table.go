package urn

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// A Table is a registry as an immutable value: what changes it returns another
// one. It is ordered by the names of its entries. The zero Table is empty and
// ready for use; those of the documents are [IANANamespaces], [SchemeIDs1995],
// [Keywords2012] and [Services2012].
type Table[E Entry[E]] struct{ entries []E }

// The registries.
type (
	Namespaces = Table[Namespace] // RFC 8141, 6; 2012, 9.1
	SchemeIDs  = Table[SchemeID]  // 1995, 2.1
	Keywords   = Table[Keyword]   // 2012, 9.2.1
	Services   = Table[Service]   // 2012, 9.2.2
)

// An Entry is what a [Table] may hold.
type Entry[E any] interface {
	Namespace | SchemeID | Keyword | Service

	canonical() E // with a canonical name, sharing nothing that can be changed
	name() string
	fault() *EntryError  // what no table takes
	policy() *EntryError // what the document does not let be registered
}

// An EntryError says why a registry does not take an entry.
type EntryError struct {
	Name    string // of the entry
	Field   string // that is wrong
	Message string
}

// Error says the name, the field and the reason.
func (e *EntryError) Error() string {
	return fmt.Sprintf("urn: registry entry %q: %s %s", e.Name, e.Field, e.Message)
}

// Len returns how many entries t has.
func (t Table[E]) Len() int { return len(t.entries) }

// All yields the entries in the order of their names.
func (t Table[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range t.entries {
			if !yield(e.canonical()) {
				return
			}
		}
	}
}

// Lookup returns the entry with a name. The case of NIDs and SchemeIDs does not
// matter, that of keywords and services does.
func (t Table[E]) Lookup(name string) (E, bool) {
	i, ok := t.find(name)
	if !ok {
		var none E
		return none, false
	}
	return t.entries[i].canonical(), true
}

// find returns where the entry with a name is or would be.
func (t Table[E]) find(name string) (int, bool) {
	var e E
	switch any(e).(type) {
	case Namespace, SchemeID:
		name = strings.ToLower(name)
	}
	return slices.BinarySearchFunc(t.entries, name, func(e E, name string) int {
		return strings.Compare(e.name(), name)
	})
}

// With returns t with further entries, which take the place of those with the
// same names. It is for local knowledge: experimental names too, and what is in
// use without being registered. It refuses with an [*EntryError] a bad name and
// a required field that is empty.
func (t Table[E]) With(entries ...E) (Table[E], error) {
	for _, e := range entries {
		if err := e.fault(); err != nil {
			return t, err
		}
	}
	return t.with(entries...), nil
}

// Register returns t with a further entry, if the document that governs the
// registry lets it be registered. The error is an [*EntryError].
func (t Table[E]) Register(e E) (Table[E], error) {
	if err := e.fault(); err != nil {
		return t, err
	}
	if err := e.policy(); err != nil {
		return t, err
	}
	if _, ok := t.find(e.name()); ok {
		return t, &EntryError{e.name(), "name", "is registered already"}
	}
	return t.with(e), nil
}

func (t Table[E]) with(entries ...E) Table[E] {
	t.entries = slices.Clone(t.entries)
	for _, e := range entries {
		e = e.canonical()
		i, ok := t.find(e.name())
		if ok {
			t.entries[i] = e
		} else {
			t.entries = slices.Insert(t.entries, i, e)
		}
	}
	return t
}

// A word is a value of a small set, known by its name.
type word interface{ ~uint8 }

// parseWord sets w to the value with a name.
func parseWord[W word](w *W, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("urn: %q is none of %s", text, strings.Join(names, ", "))
	}
	*w = W(i)
	return nil
}

func wordName[W word](w W, names []string) string {
	if int(w) >= len(names) {
		return "invalid"
	}
	return names[w]
}
